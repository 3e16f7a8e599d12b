#include <dlfcn.h>

#include <filesystem>
#include <map>

#include "core/co_execution.hpp"
#include "core/gemm.hpp"
#include "core/gemm_ways.hpp"
#include "tests/catch.hpp"
#include "tests/core/naive_gemm.hpp"
#include "tests/core/started_units.hpp"
#include "tests/core/unit_matrix.hpp"

namespace steelyard::test_gemm {

using namespace steelyard::tests;

namespace {

/// Threads that this process has now.
int count_threads() {
  int count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) count += task.exists() ? 1 : 0;
  return count;
}

/// How many threads OpenMP would give the calling thread's next parallel region; 0 where the program has no OpenMP.
int openmp_threads() {
  const auto most = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
  return most == nullptr ? 0 : most();
}

/// The number of threads that OpenBLAS has last used for a multiplication by several; 0 with another BLAS.
int openblas_threads() {
  const auto threads = reinterpret_cast<int (*)()>(::dlsym(RTLD_DEFAULT, "openblas_get_num_threads"));
  return threads == nullptr ? 0 : threads();
}

/// Three matrices that fit together, with room between their rows.
template <class Execution, class Scalar>
struct Operands {
  UnitMatrix<Execution, Scalar> a, b, c;

  Operands(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t room = 0)
      : a(m, k, k + room), b(k, n, n + 2 * room), c(m, n, n + 3 * room) {}

  template <class Random>
  void fill(Random& random) const {
    for (const auto* matrix : {&a, &b, &c}) matrix->fill(random);
  }
  void send() const {
    for (const auto* matrix : {&a, &b, &c}) matrix->send();
  }
  void multiply(const Execution& space, Scalar alpha, Scalar beta) const {
    blas::gemm(space, alpha, a.view(), b.view(), beta, c.view());
    space.fence();
  }
  GemmCall<Scalar> call(Scalar alpha, Scalar beta) const {
    const auto whole = [](std::int64_t count) { return static_cast<int>(count); };
    return {whole(c.rows()),    whole(c.columns()), whole(a.columns()), alpha, a.view().data(),
            whole(a.leading()), b.view().data(),    whole(b.leading()), beta,  c.view().data(),
            whole(c.leading())};
  }
  std::vector<Scalar> result() const {
    c.fetch();
    std::vector<Scalar> elements;
    for (std::int64_t i = 0; i < c.rows(); ++i) {
      for (std::int64_t j = 0; j < c.columns(); ++j) elements.push_back(c.at(i, j));
    }
    return elements;
  }
};

/// Multiplies what is in the copies on the host and compares with the naive product of the same.
template <class Execution, class Scalar, class Multiply>
void check_product(const Operands<Execution, Scalar>& x, Scalar alpha, Scalar beta, const Multiply& multiply) {
  const auto expected = naive_gemm(x.c.rows(), x.c.columns(), x.a.columns(), alpha, x.a, x.b, beta, x.c);
  x.send();
  multiply();
  const std::vector<Scalar> found = x.result();
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) wrong += agrees(found[i], expected[i]) ? 0 : 1;
  CAPTURE(x.c.rows(), x.c.columns(), x.a.columns(), alpha, beta);
  CHECK(wrong == 0);
  CHECK(x.c.untouched_between_rows());
}

template <class Execution, class Scalar>
void check_random_products() {
  constexpr Scalar nan = std::numeric_limits<Scalar>::quiet_NaN();
  constexpr Scalar infinity = std::numeric_limits<Scalar>::infinity();
  std::mt19937_64 random(6);
  constexpr std::array<std::int64_t, 16> extents{0, 1, 2, 3, 5, 7, 8, 13, 31, 32, 33, 61, 64, 97, 128, 131};
  constexpr std::array<Scalar, 6> factors{Scalar{0}, Scalar{1}, Scalar{-1}, Scalar(0.3), Scalar(-2.5), nan};
  constexpr std::array<Scalar, 3> specials{nan, infinity, -infinity};
  const auto pick = [&random](const auto& from) {
    return from[std::uniform_int_distribution<std::size_t>(0, from.size() - 1)(random)];
  };
  for (int round = 0; round < 400; ++round) {
    const std::int64_t m = pick(extents), n = pick(extents), k = pick(extents);
    const Operands<Execution, Scalar> x(m, n, k, round % 3 == 0 ? 0 : pick(extents));
    x.fill(random);
    Scalar alpha = pick(factors), beta = pick(factors);
    if (std::isnan(alpha) && (k == 0 || round % 4 != 0)) alpha = Scalar{2};
    if (std::isnan(beta) && round % 4 != 0) beta = Scalar{2};
    // What has a factor of 0 is not read.
    if (alpha == Scalar{0}) {
      x.a.fill_with(nan);
      x.b.fill_with(nan);
    }
    if (beta == Scalar{0}) x.c.fill_with(nan);
    // A NaN or an infinity reaches the elements that depend on it and no others.
    for (const auto* matrix : {&x.a, &x.b, &x.c}) {
      if (round % 2 == 0 || matrix->rows() * matrix->columns() == 0) continue;
      const auto below = [&](std::int64_t extent) {
        return std::uniform_int_distribution<std::int64_t>(0, extent - 1)(random);
      };
      matrix->at(below(matrix->rows()), below(matrix->columns())) = pick(specials);
    }
    const Execution space;
    check_product(x, alpha, beta, [&] { x.multiply(space, alpha, beta); });
    if constexpr (runs_on_host<Execution>) {
      if (m == 0 || n == 0 || k == 0) continue;
      if (std::isnan(alpha) || std::isnan(beta)) alpha = beta = Scalar{2};
      const GemmCall<Scalar> call = x.call(alpha, beta);
      x.fill(random);
      check_product(x, alpha, beta, [&] { sliced_gemm(space, call); });
      x.fill(random);
      const int parts = 1 + round % 20;
      check_product(x, alpha, beta, [&] {
        const OpenMpThreads alone(1);
        for (int number = 0; number < parts; ++number) {
          const GemmCall<Scalar> part = call.part(number, parts);
          if (!part.empty()) host_blas_gemm(part);
        }
      });
#if defined(STEELYARD_HAS_KOKKOS_KERNELS)
      x.fill(random);
      check_product(x, alpha, beta, [&] {
        kernels_gemm<Execution, Scalar>(space, alpha, x.a.view(), x.b.view(), beta, x.c.view());
        space.fence();
      });
#endif
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("products are those of a naive sum, whatever the numbers, and nothing between rows changes", "",
                   HostExecution, CompanionExecution) {
  check_random_products<TestType, double>();
  check_random_products<TestType, float>();
}

TEMPLATE_TEST_CASE("matrices that do not fit together are refused with their extents", "", HostExecution,
                   CompanionExecution) {
  const auto space = TestType();
  const auto sized = [](std::int64_t rows, std::int64_t columns) {
    return matrix_at<TestType, double>(nullptr, rows, columns, columns);
  };
  // Nothing to compute is no reason to accept what does not fit.
  const std::int64_t many = std::int64_t{1} << 31;
  const auto wide = matrix_at<TestType, double>(nullptr, 0, 3, many);
  const struct {
    Matrix<TestType, double> a, b, c;
    const char* words;
  } cases[] = {{sized(3, 4), sized(5, 6), sized(3, 6), "A is 3 x 4, B is 5 x 6"},
               {sized(3, 4), sized(4, 6), sized(2, 6), "A is 3 x 4, B is 4 x 6"},
               {sized(3, 4), sized(4, 6), sized(3, 7), "C is 3 x 7"},
               {sized(0, 4), sized(5, 0), sized(0, 0), "A is 0 x 4"},
               {sized(many, 0), sized(0, 1), sized(many, 1), "A is 2147483648 x 0"},
               {sized(0, 2), sized(2, 3), wide, "C is 0 x 3 with a leading dimension of 2147483648"}};
  for (const auto& [a, b, c, words] : cases) {
    CHECK_THROWS_MATCHES(blas::gemm(space, 1.0, a, b, 0.0, c), InvalidArgument,
                         MessageMatches(StartsWith("gemm: ") && ContainsSubstring(words)));
  }
}

TEST_CASE("both units at once compute the bits that each computes alone") {
  if (!started_units().companion) SKIP("this build or machine has no companion");
  CoExecution co_execution(this_machine(), started_units());
  std::mt19937_64 random(9);
  for (const std::int64_t extent : {1, 40, 129, 400}) {
    const Operands<HostExecution, double> host(extent, extent + 7, extent, 1);
    const Operands<CompanionExecution, double> companion(extent + 3, extent, extent + 1, 2);
    host.fill(random);
    companion.fill(random);
    const auto on_host = [&] { host.multiply(HostExecution(), 1.5, 0.0); };
    const auto on_companion = [&] { companion.multiply(CompanionExecution(), 0.5, 0.0); };
    const auto nothing = [] {};
    host.send();
    companion.send();
    co_execution.run(on_host, nothing);
    co_execution.run(nothing, on_companion);
    const std::vector<double> host_alone = host.result(), companion_alone = companion.result();
    for (int round = 0; round < 10; ++round) {
      host.c.fill_with(7.0);
      companion.c.fill_with(7.0);
      host.send();
      companion.send();
      co_execution.run(on_host, on_companion);
      CHECK(host.result() == host_alone);
      CHECK(companion.result() == companion_alone);
    }
  }
}

TEST_CASE("each unit multiplies with its own threads, all of them and no others") {
  const Operands<HostExecution, double> host(512, 512, 512);
  const Operands<CompanionExecution, double> companion(300, 300, 300);
  std::mt19937_64 random(10);
  host.fill(random);
  host.send();
  const HostExecution space;
  Kokkos::deep_copy(host.c.view(), 1.0);  // all threads of the space have worked
  const int openmp_before = openmp_threads();
  int before = count_threads();
  for (int round = 0; round < 5; ++round) host.multiply(space, 1.0, 1.0);
  sliced_gemm(space, host.call(1.0, 1.0));
  CHECK(count_threads() == before);
  CHECK(openmp_threads() == openmp_before);
  if (host_blas().uses_openmp && space.concurrency() > 1) CHECK(openblas_threads() == space.concurrency());
  if (!started_units().companion || companion_is_device) return;  // a device's threads are its driver's
  companion.fill(random);
  companion.send();
  CoExecution co_execution(this_machine(), started_units());
  before = count_threads();
  int own_before = 0, own_after = 0, during = 0;
  co_execution.run([&] { host.multiply(HostExecution(), 1.0, 0.0); },
                   [&] {
                     own_before = openmp_threads();
                     for (int round = 0; round < 5; ++round) companion.multiply(CompanionExecution(), 1.0, 0.0);
                     during = count_threads();
                     own_after = openmp_threads();
                   });
  CHECK(during == before);
  CHECK(count_threads() == before);
  CHECK(own_before == own_after);
}

TEST_CASE("parts of the largest multiplication are alike") {
  GemmCall<float> largest;
  largest.m = 2147483647;
  largest.n = 5;
  for (int number = 0; number < 7; ++number) {
    CHECK(largest.part(number, 7).m - largest.m / 7 >= 0);
    CHECK(largest.part(number, 7).m - largest.m / 7 <= 1);
  }
}

TEST_CASE("kernels are replaced by wider ones that the processor can run, the widest first, or by none") {
  const std::map<std::string, int> bits{{"Prescott", 128},    {"Nehalem", 128},       {"Barcelona", 128},
                                        {"Sandybridge", 256}, {"Haswell", 256},       {"Zen", 256},
                                        {"EXCAVATOR", 256},   {"SkylakeX", 512},      {"skylakex", 512},
                                        {"Cooperlake", 512},  {"Sapphirerapids", 512}};
  for (const auto& [kernels, own] : bits) {
    for (const int processor : {0, 128, 256, 512}) {
      for (const bool has_bfloat16 : {false, true}) {
        CAPTURE(kernels, processor, has_bfloat16);
        int most = processor;
        const std::vector<std::string> wider = wider_blas_kernels(kernels, processor, has_bfloat16);
        CHECK(wider.empty() == (own >= processor));
        for (const std::string& name : wider) {
          CHECK((bits.at(name) > own && bits.at(name) <= most));
          CHECK((has_bfloat16 || name != "Cooperlake"));
          most = bits.at(name);
        }
      }
    }
  }
}

}  // namespace steelyard::test_gemm
