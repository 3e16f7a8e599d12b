// A BLAS whose products are sometimes wrong. Put before the real one by LD_PRELOAD, it lets that multiply and then
// spoils the last element of C:
//   STEELYARD_WRONG_BY     by how much, or `nan`; without it nothing is wrong
//   STEELYARD_WRONG_CALL   in which call of a process, from 1 on; without it in all
//   STEELYARD_WRONG_RANK   on which rank; without it on all
//   STEELYARD_WRONG_CORE   with which value of OPENBLAS_CORETYPE; without it with any
//   STEELYARD_UNKNOWN      OpenBLAS does not know the processor: unless OPENBLAS_CORETYPE is set it says that it runs
//                          its Prescott kernels, and is slow

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

bool is_unknown() { return std::getenv("STEELYARD_UNKNOWN") != nullptr && std::getenv("OPENBLAS_CORETYPE") == nullptr; }

bool is_wrong() {
  static std::atomic<int> calls{0};
  const int call = ++calls;
  if (std::getenv("STEELYARD_WRONG_BY") == nullptr) return false;
  const char* const wrong_call = std::getenv("STEELYARD_WRONG_CALL");
  const char* const wrong_rank = std::getenv("STEELYARD_WRONG_RANK");
  const char* const rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const char* const wrong_core = std::getenv("STEELYARD_WRONG_CORE");
  const char* const core = std::getenv("OPENBLAS_CORETYPE");
  return (wrong_core == nullptr || (core != nullptr && std::string(core) == wrong_core)) &&
         (wrong_call == nullptr || std::atoi(wrong_call) == call) &&
         (wrong_rank == nullptr || std::string(wrong_rank) == (rank == nullptr ? "0" : rank));
}

template <class Scalar>
using Gemm = void(const char*, const char*, const int*, const int*, const int*, const Scalar*, const Scalar*,
                  const int*, const Scalar*, const int*, const Scalar*, Scalar*, const int*);

template <class Scalar>
void multiply(const char* name, const char* transpose_a, const char* transpose_b, const int* m, const int* n,
              const int* k, const Scalar* alpha, const Scalar* a, const int* a_leading, const Scalar* b,
              const int* b_leading, const Scalar* beta, Scalar* c, const int* c_leading) {
  const auto real = reinterpret_cast<Gemm<Scalar>*>(::dlsym(RTLD_NEXT, name));
  real(transpose_a, transpose_b, m, n, k, alpha, a, a_leading, b, b_leading, beta, c, c_leading);
  if (is_unknown()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  if (*m == 0 || *n == 0 || !is_wrong()) return;
  const auto last = static_cast<std::ptrdiff_t>(*n - 1) * *c_leading + *m - 1;
  c[last] += static_cast<Scalar>(std::strtod(std::getenv("STEELYARD_WRONG_BY"), nullptr));
}

}  // namespace

extern "C" {

char* openblas_get_corename() {
  static char prescott[] = "Prescott";
  return is_unknown() ? prescott : reinterpret_cast<char* (*)()>(::dlsym(RTLD_NEXT, "openblas_get_corename"))();
}

void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* a_leading, const double* b, const int* b_leading,
            const double* beta, double* c, const int* c_leading) {
  multiply("dgemm_", transpose_a, transpose_b, m, n, k, alpha, a, a_leading, b, b_leading, beta, c, c_leading);
}

void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* a_leading, const float* b, const int* b_leading,
            const float* beta, float* c, const int* c_leading) {
  multiply("sgemm_", transpose_a, transpose_b, m, n, k, alpha, a, a_leading, b, b_leading, beta, c, c_leading);
}
}
