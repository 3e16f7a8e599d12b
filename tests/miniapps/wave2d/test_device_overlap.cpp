// On a device halos leave while the interior is computed.

#include "miniapps/wave2d/unit_field.hpp"
#include "tests/catch.hpp"
#include "tests/core/device/schedule.hpp"
#include "tests/miniapps/wave2d/pinned_part.hpp"

namespace steelyard::wave2d::test_device_overlap {

using steelyard::tests::Schedule;
using steelyard::tests::ScheduledWork;

TEST_CASE("A pass has packed its halos before the interior ends, whatever memory they leave from") {
  const Home home = GENERATE(Home::host, Home::unit);
  const int order = GENERATE(2, 4), steps = GENERATE(1, 3);
  const Problem problem{90, 70, 0.5, Boundary::dirichlet, order};
  // Neighbours above, below and on one side.
  const std::vector<partition::Rectangle> rectangles{{0, 0, 30, 40}, {30, 0, 30, 40}, {60, 0, 30, 40}, {0, 40, 90, 30}};
  const std::vector<HaloMessage> messages = halo_messages(problem, rectangles, steps);
  std::vector<HaloBuffer<double>> leaving, arrived;
  std::vector<Kokkos::View<double*, DeviceOf<CompanionExecution>>> own;
  std::vector<tests::PinnedPart<double>> pinned;
  for (const HaloMessage& message : messages) {
    if (message.from != 1 && message.to != 1) continue;
    double* const data = home == Home::unit
                             ? own.emplace_back("halo", static_cast<std::size_t>(message.points())).data()
                             : pinned.emplace_back(message.points()).data();
    (message.from == 1 ? leaving : arrived).push_back({&message, data, home});
  }
  UnitField<CompanionExecution, double> field(CompanionExecution(), problem, rectangles[1], steps, Overlap::full);
  UnitTimes times;
  emulated::recorded_operations();
  field.begin(steps, arrived, leaving, times);
  const Schedule begun(emulated::recorded_operations(),
                       [](const std::string& label) { return label == "steelyard::wave2d::interior" ? 1000.0 : 1.0; });
  field.finish(steps, times);

  const std::vector<ScheduledWork> interior = begun.works("steelyard::wave2d::interior");
  REQUIRE(interior.size() == 1);
  CHECK(begun.fenced_s() > 0.0);
  CHECK(begun.fenced_s() < interior.front().end_s - 900.0);
  // Each message is one copy, whatever its parts' shapes.
  const std::size_t copies = home == Home::host ? leaving.size() : 0;
  CHECK(begun.works(emulated::copy_to_host).size() == copies);
  CHECK(begun.works(emulated::copy_to_device).size() == copies);
}

}  // namespace steelyard::wave2d::test_device_overlap
