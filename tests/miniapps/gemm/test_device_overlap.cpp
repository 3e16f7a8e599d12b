// A device is asked for what virtual engines do, so that it copies while it multiplies as they do.
#include <catch2/catch_test_macros.hpp>
#include <catch2/generators/catch_generators.hpp>
#include <cstdint>
#include <vector>

#include "miniapps/gemm/out_of_core/blocked_gemm.hpp"
#include "miniapps/gemm/out_of_core/device_engines.hpp"
#include "tests/core/device/schedule.hpp"
#include "tests/miniapps/gemm/slice_product.hpp"
#include "tests/miniapps/gemm/virtual_engines.hpp"

namespace steelyard::test_device_overlap {

using namespace steelyard::tests;
using gemm::Blocking;
using gemm::DeviceEngines;
using gemm::Engine;

namespace {

constexpr std::int64_t extent = 32;  ///< of every block in each direction

/// Asks engines for the product.
template <class Engines>
void ask(Engines& engines, const Blocking& blocking, const SliceProduct<double>& product) {
  using Execution = typename Engines::Execution;
  const Kokkos::View<double*, DeviceOf<Execution>> memory("memory",
                                                          static_cast<std::size_t>(blocking.buffer_elements()));
  gemm::BlockedGemm<Engines> blocked(engines, blocking, true, memory.data());
  const auto operands = product.operands();
  blocked.run(1.0, operands.a, operands.b, 1.0, operands.c);
}

}  // namespace

TEST_CASE("A device's queues are asked for what virtual engines do at the same times, whatever is the slowest") {
  const std::int64_t rows = GENERATE(1, 2, 3), columns = GENERATE(1, 2), panels = GENERATE(1, 2);
  const Blocking blocking{{rows * extent, columns * extent, panels * extent, extent, extent, extent}, 2, 2, false};
  gemm::Problem problem{rows * extent, columns * extent, panels * extent};
  problem.beta = 1.0;
  const SliceProduct<double> product(problem, rows * extent, 0, [] { return 1.0; });
  DeviceEngines<double> engines;
  emulated::recorded_operations();
  ask(engines, blocking, product);
  const std::vector<emulated::Order> orders = emulated::recorded_operations();

  for (const auto& [load_s, multiply_s, store_s] :
       {std::array{1.0, 1.0, 1.0}, {1.0, 8.0, 1.0}, {4.0, 1.0, 2.0}, {1.0, 2.0, 8.0}}) {
    constexpr double elements = extent * extent;
    VirtualEngines ideal({load_s / elements, multiply_s / (elements * extent), store_s / elements});
    ask(ideal, blocking, product);
    const Schedule schedule(orders, [&](const std::string& label) {
      return label == emulated::copy_to_device ? load_s : label == emulated::copy_to_host ? store_s : multiply_s;
    });
    const auto compare = [&](const std::vector<ScheduledWork>& works, Engine engine) {
      const std::vector<gemm::EngineOperation> operations = ideal.operations(engine);
      REQUIRE(works.size() == operations.size());
      for (std::size_t i = 0; i < works.size(); ++i) {
        CHECK(works[i].start_s == operations[i].start_s);
        CHECK(works[i].end_s == operations[i].end_s);
      }
    };
    CAPTURE(rows, columns, panels, load_s, multiply_s, store_s);
    compare(schedule.works(emulated::copy_to_device), Engine::loading);
    compare(schedule.works("gemm"), Engine::multiplying);
    compare(schedule.works(emulated::copy_to_host), Engine::storing);
  }
}

}  // namespace steelyard::test_device_overlap
