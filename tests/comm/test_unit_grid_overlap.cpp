// What a device is asked for in sums that read halos.

#include "comm/unit_grid.hpp"
#include "tests/catch.hpp"
#include "tests/comm/shared_units.hpp"
#include "tests/core/device/schedule.hpp"

namespace steelyard::test_unit_grid_overlap {

using namespace steelyard::tests;

namespace {

/// The difference of the cells above and below.
struct AcrossRows {
  RowAccess<1> x;

  KOKKOS_FORCEINLINE_FUNCTION Terms<1> operator()(const std::int64_t j, const Column i) const {
    return {{x(j + 1, i) - x(j - 1, i)}};
  }
};

}  // namespace

TEST_CASE("a device's halos leave before other rows are swept, and sums with halos are two launches and one copy") {
  TestUnits units;
  const auto slots = static_cast<std::int64_t>(units.slots().size());
  SharedGrid shared(units.group(), std::vector<std::int64_t>(units.slots().size(), 8), 20);
  std::vector<emulated::Order> orders;
  units.group().run([&]<class Execution>(const UnitPeer<Execution>& peer) {
    const UnitGrid<Execution> grid(peer, shared);
    auto field = grid.template field<1>();
    if (!runs_on_host<Execution>) emulated::recorded_operations();
    grid.template totals_with_halo<1>(field, "sums", AcrossRows{field.access()});
    if (!runs_on_host<Execution>) orders = emulated::recorded_operations();
  });

  const std::int64_t slot = units.group().slot(ProcessingUnit::Kind::companion);
  const auto neighbours = static_cast<std::size_t>((slot > 0 ? 1 : 0) + (slot + 1 < slots ? 1 : 0));
  std::vector<std::string> expected(neighbours, emulated::copy_to_host);
  expected.push_back("sums");
  expected.insert(expected.end(), neighbours, emulated::copy_to_device);
  expected.insert(expected.end(), {"sums", emulated::copy_to_host});
  std::vector<std::string> asked;
  for (const ScheduledWork& work : Schedule(orders, [](const emulated::Order&) { return 1.0; }).works()) {
    asked.push_back(work.label);
  }
  CHECK(asked == expected);
}

}  // namespace steelyard::test_unit_grid_overlap
