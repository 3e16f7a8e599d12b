#include <catch2/catch_template_test_macros.hpp>
#include <catch2/catch_test_macros.hpp>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "miniapps/gemm/out_of_core/device_engines.hpp"
#include "tests/miniapps/gemm/slice_product.hpp"

namespace steelyard::test_device_engines {

using namespace steelyard::tests;
using gemm::DeviceEngines;
using gemm::Engine;
using gemm::EngineOperation;

namespace {

constexpr std::int64_t extent = 24;

/// Buffers of a device for matrices of `extent` rows and columns.
template <class Scalar>
class Buffers {
 public:
  explicit Buffers(std::size_t count) : memory_("buffers", count * static_cast<std::size_t>(extent * extent)) {}
  Matrix<CompanionExecution, Scalar> operator[](std::int64_t i) const {
    return matrix_at<CompanionExecution>(memory_.data() + i * extent * extent, extent, extent, extent);
  }

 private:
  Kokkos::View<Scalar*, DeviceOf<CompanionExecution>> memory_;
};

template <class Scalar>
SliceProduct<Scalar> any_product(std::mt19937_64& random) {
  gemm::Problem problem{extent, extent, extent};
  problem.beta = 2.0;
  return {problem, extent, 3, [&random] { return std::uniform_int_distribution<int>(-4, 4)(random); }};
}

/// C = A B + 2 C by way of three buffers, from the first of these on.
template <class Scalar>
void ask_for_product(DeviceEngines<Scalar>& engines, const Buffers<Scalar>& buffers, std::int64_t first,
                     const SliceProduct<Scalar>& product) {
  const auto operands = product.operands();
  const auto a = buffers[first], b = buffers[first + 1], c = buffers[first + 2];
  const auto a_there = engines.load(a, operands.a, {});
  const auto b_there = engines.load(b, operands.b, {});
  const auto c_there = engines.load(c, operands.c, {});
  const auto done = engines.multiply(Scalar{1}, a, b, Scalar{2}, c, {a_there, b_there, c_there});
  engines.store(operands.c, c, {done});
}

}  // namespace

TEMPLATE_TEST_CASE("what the engines have been asked for is done when they have finished, also when it is timed", "",
                   double, float) {
  std::mt19937_64 random(1);
  const Buffers<TestType> buffers(6);
  DeviceEngines<TestType> engines;
  for (const bool timed : {false, true, false}) {
    const auto product = any_product<TestType>(random), other = any_product<TestType>(random);
    if (timed) engines.start_timeline();
    ask_for_product(engines, buffers, 0, product);
    ask_for_product(engines, buffers, 3, other);
    engines.finish();
    if (timed) CHECK(engines.take_timeline().size() == 10);
    for (const auto* each : {&product, &other}) {
      CHECK(each->inexact_elements() == 0);
      CHECK(each->untouched_between_rows());
    }
  }
}

TEST_CASE("a timeline has every operation since its start, as asked for, and each waits for its events") {
  std::mt19937_64 random(2);
  const Buffers<double> buffers(3);
  DeviceEngines<double> engines;
  const auto product = any_product<double>(random);
  ask_for_product(engines, buffers, 0, product);
  engines.finish();
  engines.start_timeline();
  CHECK(engines.take_timeline().empty());
  for (int i = 0; i < 2; ++i) {
    engines.start_timeline();
    ask_for_product(engines, buffers, 0, product);
    engines.finish();
    const std::vector<EngineOperation> operations = engines.take_timeline();
    const std::vector<Engine> expected{Engine::loading, Engine::loading, Engine::loading, Engine::multiplying,
                                       Engine::storing};
    REQUIRE(operations.size() == expected.size());
    // A device's clock has the digits of a float.
    const double tick_s = companion_is_device ? 2e-6 : 0.0;
    CHECK(operations.front().start_s == 0.0);
    for (std::size_t j = 0; j < operations.size(); ++j) {
      CHECK(operations[j].engine == expected[j]);
      CHECK(operations[j].end_s >= operations[j].start_s);
      // Loads follow each other on one queue; what else there is waits for them.
      if (j > 0) CHECK(operations[j].end_s >= operations[j - 1].end_s - tick_s);
      if (!companion_is_device && j > 0) CHECK(operations[j].start_s >= operations[j - 1].end_s);
    }
  }
}

}  // namespace steelyard::test_device_engines
