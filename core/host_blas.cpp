#include "core/host_blas.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <sstream>

#include "core/base/errors.hpp"
#include "core/machine.hpp"
#include "core/timing.hpp"

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

/// A function of the running program, or null: users may exchange the BLAS behind its common name.
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

void (*set_openmp_threads())(int) {
  static const auto set_threads = loaded<void(int)>("omp_set_num_threads");
  return set_threads;
}

constexpr const char* kernels_variable = "OPENBLAS_CORETYPE";
/// Set while and after the program looks for kernels: those that the library chose, their FLOP/s, how many were tried.
constexpr const char* search_variable = "STEELYARD_BLAS_KERNELS";
/// A faster one is one by this factor.
constexpr double gain = 1.1;

/// OpenBLAS' kernels for x86-64 with vectors of 512 and of 256 bits; all others have 128.
constexpr std::array kernels_512 = {"Cooperlake", "SkylakeX", "SapphireRapids"};
constexpr std::array kernels_256 = {"Haswell",    "Zen",       "Excavator",  "Steamroller",
                                    "Piledriver", "Bulldozer", "Sandybridge"};

bool same_name(const std::string& a, const std::string& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// State of the search for kernels.
struct Search {
  std::string first;         ///< kernels that the library chose
  double flops_per_s = 0.0;  ///< of these
  std::size_t tried = 0;     ///< of the wider ones

  static Search read(const char* text) {
    Search search;
    std::istringstream words(text);
    words >> search.first >> search.flops_per_s >> search.tried;
    return search;
  }
  void write() const { ::setenv(search_variable, fmt::format("{} {} {}", first, flops_per_s, tried).c_str(), 1); }
};

/// Whether products of extents that fill no block of any kernel are those of three loops.
template <class Scalar>
bool multiplies_right() {
  constexpr std::size_t m = 67, n = 83, k = 71;
  std::vector<Scalar> a(m * k), b(k * n), c(m * n, Scalar{-1});
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<Scalar>(static_cast<int>(i * 7 % 31) - 15);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<Scalar>(static_cast<int>(i * 5 % 29) - 14);
  host_blas_gemm(GemmCall<Scalar>{m, n, k, Scalar{1}, a.data(), k, b.data(), n, Scalar{0}, c.data(), n});
  for (std::size_t i = 0; i < m; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      Scalar sum{};  // of whole numbers, and exact
      for (std::size_t l = 0; l < k; ++l) sum += a[i * k + l] * b[l * n + j];
      if (c[i * n + j] != sum) return false;
    }
  }
  return true;
}

/// FLOP/s of one thread: the fastest of a few products after one that does not count.
double gemm_flops_per_s() {
  constexpr int n = 192, products = 6;
  const std::vector<double> a(std::size_t{n} * n, 1.5), b(a.size(), 0.25);
  std::vector<double> c(a.size());
  double fastest_s = std::numeric_limits<double>::infinity();
  for (int i = 0; i < products; ++i) {
    const double start_s = now_s();
    host_blas_gemm(GemmCall<double>{n, n, n, 1.0, a.data(), n, b.data(), n, 0.0, c.data(), n});
    if (i > 0) fastest_s = std::min(fastest_s, now_s() - start_s);
  }
  return 2.0 * n * n * n / fastest_s;
}

/// Whether the program has been restarted with the kernels of this name and they can be taken.
bool are_good(const std::string& kernels, const Search& search) {
  const OpenMpThreads one(1);
  return same_name(host_blas().kernels, kernels) && multiplies_right<double>() && multiplies_right<float>() &&
         gemm_flops_per_s() > gain * search.flops_per_s;
}

}  // namespace

const HostBlas& host_blas() {
  static const HostBlas blas = find_host_blas();
  return blas;
}

OpenMpThreads::OpenMpThreads(int count) {
  static const auto most_threads = loaded<int()>("omp_get_max_threads");
  if (most_threads == nullptr || set_openmp_threads() == nullptr) return;
  before_ = most_threads();
  set_openmp_threads()(count);
}

OpenMpThreads::~OpenMpThreads() {
  if (before_ > 0) set_openmp_threads()(before_);
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

#if defined(__x86_64__)
int processor_vector_bits() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")) {
    return 512;
  }
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? 256 : 128;
}
bool processor_has_bfloat16() { return __builtin_cpu_supports("avx512bf16") != 0; }
#else
int processor_vector_bits() { return 0; }
bool processor_has_bfloat16() { return false; }
#endif

std::vector<std::string> wider_blas_kernels(const std::string& kernels, int vector_bits, bool has_bfloat16) {
  const auto is_one_of = [&](const auto& names) {
    return std::any_of(names.begin(), names.end(), [&](const char* name) { return same_name(name, kernels); });
  };
  const int own_bits = is_one_of(kernels_512) ? 512 : is_one_of(kernels_256) ? 256 : 128;
  std::vector<std::string> wider;
  if (vector_bits >= 512 && own_bits < 512) {
    if (has_bfloat16) wider.emplace_back("Cooperlake");
    wider.emplace_back("SkylakeX");
  }
  if (vector_bits >= 256 && own_bits < 256) wider.emplace_back("Haswell");
  return wider;
}

void choose_blas_kernels(char** argv) {
  if (host_blas().kernels.empty()) return;
  const char* const begun = std::getenv(search_variable);
  Search search = begun != nullptr ? Search::read(begun) : Search{host_blas().kernels};
  const std::vector<std::string> wider =
      wider_blas_kernels(search.first, processor_vector_bits(), processor_has_bfloat16());
  if (begun == nullptr) {
    const bool is_users_choice = std::getenv(kernels_variable) != nullptr;
    if (is_users_choice || wider.empty()) return;
    const OpenMpThreads one(1);
    search.flops_per_s = gemm_flops_per_s();
  } else {
    const bool all_were_tried = search.tried == 0;
    if (all_were_tried || (search.tried <= wider.size() && are_good(wider[search.tried - 1], search))) return;
  }
  const bool none_left = search.tried >= wider.size();
  ::setenv(kernels_variable, none_left ? search.first.c_str() : wider[search.tried].c_str(), 1);
  search.tried = none_left ? 0 : search.tried + 1;
  search.write();
  try {
    // OpenMP may have bound this thread before main(), which the restarted program would take for the launcher's doing.
    const Machine machine;
    machine.bind_this_thread(machine.bound_cores());
  } catch (const RuntimeFailure&) {
    // Where nothing can be bound, OpenMP has not done so.
  }
  ::execv("/proc/self/exe", argv);
  // Where a program cannot be restarted it goes on as it is.
  ::unsetenv(kernels_variable);
  ::unsetenv(search_variable);
}

std::string blas_kernels_note() {
  const char* const begun = std::getenv(search_variable);
  if (begun == nullptr) return "";
  const Search search = Search::read(begun);
  if (search.tried == 0) return "";
  return fmt::format("{} does not know this processor: {} kernels instead of {}", host_blas().library,
                     host_blas().kernels, search.first);
}

}  // namespace steelyard
