#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace steelyard {

/// The BLAS that this program has been started with, which need not be the one that it was linked with.
struct HostBlas {
  std::string name;          ///< such as `OpenBLAS 0.3.21 (OpenMP, SkylakeX kernels)`; `BLAS` where it does not tell
  std::string library;       ///< library and version, `OpenBLAS 0.3.21`
  std::string kernels;       ///< name of its kernels, `SkylakeX`; empty where it does not tell
  bool uses_openmp = false;  ///< its threads are OpenMP's, as many as the calling thread has set; else it has one
};

/// A BLAS whose threads are its own has a single one from the first call on: they could not be kept to a unit's cores.
const HostBlas& host_blas();

/// Sets the threads of OpenMP's parallel regions that the calling thread opens while this object lives.
class OpenMpThreads {
 public:
  explicit OpenMpThreads(int count);
  ~OpenMpThreads();
  OpenMpThreads(const OpenMpThreads&) = delete;
  OpenMpThreads& operator=(const OpenMpThreads&) = delete;

 private:
  int before_ = 0;
};

/// C = alpha A B + beta C in the terms of a BLAS: C has m rows and n columns, A k columns. All matrices lie row after
/// row; a leading dimension is the distance of two rows.
template <class Scalar>
struct GemmCall {
  int m = 0, n = 0, k = 0;
  Scalar alpha{};
  const Scalar* a = nullptr;
  int a_leading = 1;
  const Scalar* b = nullptr;
  int b_leading = 1;
  Scalar beta{};
  Scalar* c = nullptr;
  int c_leading = 1;

  bool empty() const { return m == 0 || n == 0; }

  /// One of `parts` multiplications that together give C: a range of its rows, or of its columns where these are more.
  GemmCall part(int number, int parts) const {
    GemmCall result = *this;
    const auto bound = [parts](int extent, int i) { return static_cast<int>(std::int64_t{extent} * i / parts); };
    if (m >= n) {
      const int first = bound(m, number);
      result.m = bound(m, number + 1) - first;
      result.a += static_cast<std::ptrdiff_t>(first) * a_leading;
      result.c += static_cast<std::ptrdiff_t>(first) * c_leading;
    } else {
      const int first = bound(n, number);
      result.n = bound(n, number + 1) - first;
      result.b += first;
      result.c += first;
    }
    return result;
  }
};

/// Sets the threads of a BLAS that uses OpenMP to the several that the calling thread has set: some versions of
/// OpenBLAS stay with a single one that the program was started with, or that another thread has set.
void set_blas_threads(int threads);

/// The multiplication by the BLAS, with the threads that the calling thread has set. Needs n, k >= 1.
void host_blas_gemm(const GemmCall<double>& call);
void host_blas_gemm(const GemmCall<float>& call);

/// Bits of the processor's widest vectors: 512 with AVX-512 (F, BW, CD, DQ, VL), 256 with AVX2 and FMA, else 128; 0 for
/// processors other than x86-64.
int processor_vector_bits();

/// Whether the processor has AVX-512's instructions for bfloat16, as Cooper Lake and what came after it.
bool processor_has_bfloat16();

/// Kernels of OpenBLAS that use wider vectors than `kernels` and run on a processor with these vectors, the fastest
/// first. Empty where `kernels` are as wide as the processor's vectors or are not known here.
/// @param kernels of openblas_get_corename(), in any case of letters
/// @param has_bfloat16 whether the processor has AVX-512's instructions for this type, which Cooper Lake brought
std::vector<std::string> wider_blas_kernels(const std::string& kernels, int vector_bits, bool has_bfloat16);

/// Restarts the program with other kernels of its OpenBLAS where the library does not know the processor: sets
/// OPENBLAS_CORETYPE to those of wider_blas_kernels() one by one, until the library has them, their product is right
/// and they are faster. A choice of the user, by that variable, stays. To be called first in main().
void choose_blas_kernels(char** argv);

/// `OpenBLAS 0.3.21 does not know this processor: SkylakeX kernels instead of Prescott` after such a restart, or empty.
std::string blas_kernels_note();

}  // namespace steelyard
