#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <numeric>

#include "core/memory/unit_memory.hpp"
#include "miniapps/app/frame.hpp"
#include "partition/algorithms.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/synthetic_kernel.hpp"
#include "tests/miniapps/app/collective_error.hpp"

namespace steelyard::test_speed_measurement {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

/// A computation unit takes 20 us on host units and twice as long on companions.
class LinearKernel : public SyntheticKernel {
 public:
  LinearKernel() {
    known.app = "synthetic";
    known.computation_unit = "20 us of rest";
    on_run = [](Kind kind, std::int64_t units, int) {
      rest((kind == Kind::host ? 20e-6 : 40e-6) * static_cast<double>(units));
    };
  }
  /// Lets the host unit of a rank hold `units` in core.
  void hold(double units) {
    const double bytes =
        unit_memory_bytes(session().machine(), started_units(), Kind::host, session().nodes().ranks_on_node);
    known.memory_bytes_per_unit = bytes / (units + 0.5);
  }
};

bool memory_is_known() {
  return std::isfinite(
      unit_memory_bytes(session().machine(), started_units(), Kind::host, session().nodes().ranks_on_node));
}

std::vector<Slot> all_slots() { return gather_slots(session(), started_units()); }

SpeedModels measure(const SyntheticKernel& kernel, std::int64_t total) {
  const RunOptions options;
  Frame frame(session(), options, started_units(), "test");
  return measure_speed_models(frame, kernel, total, "geometric");
}

std::vector<double> sizes_of(const models::FpmFile& file) {
  std::vector<double> sizes;
  for (const models::MeasuredPoint& point : file.points) sizes.push_back(point.units);
  return sizes;
}

bool same_models_on_all_ranks(const SpeedModels& models) {
  std::vector<double> values;
  for (const models::FpmFile& file : models.files()) {
    for (const models::MeasuredPoint& point : file.points) values.insert(values.end(), {point.units, point.time_s});
  }
  return same_on_all_ranks(values);
}

}  // namespace

TEST_CASE("every rank gets the same models, of whole sizes from 1 on, and a distribution comes of them for any total") {
  const auto count = static_cast<std::int64_t>(all_slots().size());
  for (const std::int64_t total : {std::int64_t{0}, std::int64_t{1}, count - 1, count, 100 * count + 1}) {
    INFO(total << " computation units for " << count << " slots");
    const LinearKernel kernel;
    const SpeedModels models = measure(kernel, total);
    CHECK(same_models_on_all_ranks(models));
    CHECK(models.files().size() == all_slots().size());
    for (const models::FpmFile& file : models.files()) {
      CHECK(file.app == "synthetic");
      CHECK_FALSE(file.points.empty());
      for (const double size : sizes_of(file)) {
        CHECK(size >= 1.0);
        CHECK(size <= static_cast<double>(std::max<std::int64_t>(1, total)));
        CHECK(size == std::floor(size));
      }
    }
    const auto units = partition::find_algorithm("geometric").distribute(total, models.pointers()).units;
    CHECK(std::accumulate(units.begin(), units.end(), std::int64_t{0}) == total);
    CHECK(kernel.alive() == 0);
  }
}

TEST_CASE(
    "slots are measured at a part of an even share first, and in the end about where the distribution puts them") {
  const auto count = static_cast<std::int64_t>(all_slots().size());
  const std::int64_t total = 200 * count;
  const LinearKernel kernel;
  const SpeedModels models = measure(kernel, total);
  const auto units = partition::find_algorithm("geometric").distribute(total, models.pointers()).units;
  for (std::size_t i = 0; i < units.size(); ++i) {
    const std::vector<double> sizes = sizes_of(models.files()[i]);
    const auto near = [&](double wanted, double share) {
      return std::any_of(sizes.begin(), sizes.end(),
                         [&](double size) { return std::abs(size - wanted) <= share * wanted; });
    };
    CHECK(near(12.0, 0.0));
    // The last measurement moves the distribution a little.
    CHECK(near(static_cast<double>(units[i]), 0.1));
    CHECK(sizes.size() >= 4);
  }
}

TEST_CASE(
    "a total that does not fit all slots together is everyone's error, and none is measured at more than it holds") {
  const auto memory_bytes = [](Kind kind) {
    return unit_memory_bytes(session().machine(), started_units(), kind, session().nodes().ranks_on_node);
  };
  // The unit with the least memory, which may be a device, holds 10.
  double least_bytes = memory_bytes(Kind::host);
  if (started_units().companion) least_bytes = std::min(least_bytes, memory_bytes(Kind::companion));
  LinearKernel kernel;
  kernel.known.memory_bytes_per_unit = -all_max(session().comm(), -least_bytes) / 10.5;
  const auto holds = [&](Kind kind) {
    return unit_limits(session().machine(), started_units(), kind, session().nodes().ranks_on_node, kernel.known)
        .max_units;
  };
  const double mine = holds(Kind::host) + (started_units().companion ? holds(Kind::companion) : 0.0);
  const double all = all_sum(session().comm(), mine);
  // Not so where memory is unknown, or that of a GPU holds too much to measure here.
  if (!(all < 1000.0)) SKIP("slots hold a lot");
  const auto error = collective_error([&] { measure(kernel, 3 * static_cast<std::int64_t>(all)); });
  CHECK(error.has_value());
  if (error) CHECK_THAT(error->what(), ContainsSubstring("do not fit"));
  for (const std::int64_t size : kernel.sizes(Kind::host)) CHECK(static_cast<double>(size) <= holds(Kind::host));
  CHECK_FALSE(kernel.instances().empty());
  const std::int64_t fitting = static_cast<std::int64_t>(all);
  const SpeedModels models = measure(kernel, fitting);
  const auto units = partition::find_algorithm("geometric").distribute(fitting, models.pointers()).units;
  CHECK(std::accumulate(units.begin(), units.end(), std::int64_t{0}) == fitting);
}

TEST_CASE("a slot that does not hold a single computation unit is everyone's error") {
  if (!memory_is_known()) SKIP("this machine does not tell its memory");
  LinearKernel kernel;
  kernel.hold(0.25);
  const auto error = collective_error([&] { measure(kernel, 100); });
  CHECK(error.has_value());
  if (error) {
    CHECK_THAT(error->what(), ContainsSubstring("rank 0 host") && ContainsSubstring("20 us of rest"));
    CHECK(error->code() == ExitCode::wrong_input);
  }
  CHECK(kernel.instances().empty());
}

TEST_CASE("where more is to be done than a unit holds, its model goes on out of core") {
  LinearKernel kernel;
  kernel.known.runs_out_of_core = true;
  kernel.hold(16.0);
  const UnitLimits limits =
      unit_limits(session().machine(), started_units(), Kind::host, session().nodes().ranks_on_node, kernel.known);
  if (!(limits.in_core_units < limits.max_units)) SKIP("here units hold in core all that there is");
  const auto count = static_cast<std::int64_t>(all_slots().size());
  // Even shares are in core; what a fast unit could do is not.
  const SpeedModels models = measure(kernel, 12 * count);
  CHECK(same_models_on_all_ranks(models));
  for (std::size_t i = 0; i < models.files().size(); ++i) {
    const models::FpmFile& file = models.files()[i];
    if (!(file.in_core_units < static_cast<double>(12 * count))) continue;
    CHECK(file.points.front().units <= file.in_core_units);
    CHECK(file.points.back().units > file.in_core_units);
    CHECK(models.pointers()[i]->max_units() > file.in_core_units);
  }
}

}  // namespace steelyard::test_speed_measurement
