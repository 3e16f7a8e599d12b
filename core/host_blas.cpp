#include "core/host_blas.hpp"

#include <dlfcn.h>

#include <array>
#include <sstream>

// Every BLAS has its Fortran interface, not every one that of C.
extern "C" {
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* a_leading, const double* b, const int* b_leading,
            const double* beta, double* c, const int* c_leading);
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* a_leading, const float* b, const int* b_leading,
            const float* beta, float* c, const int* c_leading);
}

namespace steelyard {
namespace {

/// A function of the running program, or null. Asked for at run time because systems let their users exchange the BLAS
/// behind its common name.
template <class Function>
Function* loaded(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_DEFAULT, name));
}

/// The first two words of `OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH …`.
std::string open_blas_name(const char* config) {
  std::istringstream words(config);
  std::string name, version;
  words >> name >> version;
  return name + ' ' + version;
}

HostBlas find_host_blas() {
  const auto config = loaded<char*()>("openblas_get_config");
  const auto parallel = loaded<int()>("openblas_get_parallel");
  if (config == nullptr || parallel == nullptr) return {"BLAS", "BLAS", "", false};
  HostBlas blas;
  blas.library = open_blas_name(config());
  if (const auto kernels = loaded<char*()>("openblas_get_corename")) blas.kernels = kernels();
  constexpr std::array threads = {"single-threaded", "pthreads", "OpenMP"};  // as openblas_get_parallel() counts them
  const int kind = parallel();
  blas.uses_openmp = kind == 2;
  if (const auto set_threads = loaded<void(int)>("openblas_set_num_threads"); kind == 1 && set_threads != nullptr) {
    set_threads(1);
  }
  blas.name = blas.library + " (" + threads.at(static_cast<std::size_t>(kind)) +
              (blas.kernels.empty() ? "" : ", " + blas.kernels + " kernels") + ")";
  return blas;
}

struct OpenMp {
  int (*most_threads)() = loaded<int()>("omp_get_max_threads");
  void (*set_threads)(int) = loaded<void(int)>("omp_set_num_threads");
};

const OpenMp& open_mp() {
  static const OpenMp functions;
  return functions;
}

}  // namespace

const HostBlas& host_blas() {
  static const HostBlas blas = find_host_blas();
  return blas;
}

OpenMpThreads::OpenMpThreads(int count) {
  if (open_mp().most_threads == nullptr || open_mp().set_threads == nullptr) return;
  before_ = open_mp().most_threads();
  open_mp().set_threads(count);
}

OpenMpThreads::~OpenMpThreads() {
  if (before_ > 0) open_mp().set_threads(before_);
}

void set_blas_threads(int threads) {
  static const auto threads_now = loaded<int()>("openblas_get_num_threads");
  static const auto set_threads = loaded<void(int)>("openblas_set_num_threads");
  if (threads_now != nullptr && set_threads != nullptr && threads_now() != threads) set_threads(threads);
}

// A BLAS reads matrices column after column, which makes each of ours its transpose: C' = alpha B' A' + beta C'.
void host_blas_gemm(const GemmCall<double>& x) {
  dgemm_("N", "N", &x.n, &x.m, &x.k, &x.alpha, x.b, &x.b_leading, x.a, &x.a_leading, &x.beta, x.c, &x.c_leading);
}
void host_blas_gemm(const GemmCall<float>& x) {
  sgemm_("N", "N", &x.n, &x.m, &x.k, &x.alpha, x.b, &x.b_leading, x.a, &x.a_leading, &x.beta, x.c, &x.c_leading);
}

}  // namespace steelyard
