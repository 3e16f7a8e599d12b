#include <numeric>

#include "comm/collective.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/app/frame.hpp"
#include "partition/algorithms.hpp"
#include "tests/catch.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/synthetic_kernel.hpp"
#include "tests/miniapps/app/collective_error.hpp"
#include "tests/miniapps/app/shared_folder.hpp"

namespace steelyard::test_speed_models {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;
using models::FpmFile;
using Sizes = std::vector<double>;

namespace {

partition::Algorithm geometric() { return partition::find_algorithm("geometric"); }

FpmFile file_of(const Sizes& sizes) {
  FpmFile file;
  for (const double units : sizes) file.points.push_back({units, 1e-3 * units});
  return file;
}

Sizes sizes_of(const FpmFile& file) {
  Sizes sizes;
  for (const models::MeasuredPoint& point : file.points) sizes.push_back(point.units);
  return sizes;
}

}  // namespace

TEST_CASE("points are added by size in place of those near them in the same memory, which says how speed has drifted") {
  SpeedModels models({file_of({10.0, 100.0}), file_of({10.0}), file_of({})}, geometric());
  CHECK(models.pointers()[2] == nullptr);
  models.add({{101.0, 0.111}, {5.0, 1.0}, {0.0, 0.0}});
  models.add({{50.0, 0.05}, {0.0, 0.0}, {7.0, 0.7}});
  CHECK(sizes_of(models.files()[0]) == Sizes{10.0, 50.0, 101.0});
  CHECK(sizes_of(models.files()[1]) == Sizes{5.0, 10.0});
  CHECK(models.pointers()[2]->time_s(7.0) == 0.7);
  CHECK(models.files()[0].drift.degrees == 1);
  CHECK(models.files()[0].drift.share > 0.05);
  models.add({{50.5, 0.0505}, {0.0, 0.0}, {0.0, 0.0}});
  CHECK(models.files()[0].drift.degrees == 2);
  CHECK(models.files()[0].drift.share < 0.05);
  CHECK(models.files()[1].drift.degrees == 0);

  FpmFile file = file_of({50.0, 100.0});
  file.in_core_units = 100.0;
  SpeedModels out_of_core({file}, geometric());
  CHECK(out_of_core.pointers()[0]->max_units() == 100.0);
  out_of_core.add({{101.0, 10.0}});
  CHECK(out_of_core.pointers()[0]->time_s(100.0) < 1.0);
  CHECK(out_of_core.pointers()[0]->time_s(101.0) > 1.0);
  out_of_core.add({{102.0, 20.0}});
  CHECK(sizes_of(out_of_core.files()[0]) == Sizes{50.0, 100.0, 102.0});
}

TEST_CASE("one file is every slot's, one per unit every rank's, one per slot its own; slower slots are slower") {
  const SharedFolder folder;
  for (const int per_rank : {1, 2}) {
    std::vector<Slot> slots;
    for (int rank = 0; rank < session().size(); ++rank) {
      slots.push_back({rank, Kind::host});
      if (per_rank > 1) slots.push_back({rank, Kind::companion});
    }
    std::vector<double> slowdowns(slots.size(), 1.0);
    slowdowns.back() = 6.0;
    std::vector<std::filesystem::path> paths;
    // The only point of a file is at its number, starting with 1.
    for (std::size_t i = 1; i <= slots.size() + 1; ++i) {
      FpmFile file = file_of({static_cast<double>(i)});
      file.slowdown = 2.0;
      file.parts = {"border"};
      file.points[0].time_s = 1e-3;
      file.points[0].confidence_s = 1e-4;
      file.points[0].parts_s = {2e-3};
      paths.push_back(folder / (std::to_string(per_rank) + "-" + std::to_string(i) + ".fpm.json"));
      on_root(session().comm(), [&] { models::write_fpm_file(paths.back(), file); });
    }
    const auto read = [&](std::size_t count) {
      const std::vector first(paths.begin(), paths.begin() + static_cast<std::ptrdiff_t>(count));
      return read_speed_models(first, {}, slots, slowdowns, geometric());
    };
    for (const std::size_t files : {std::size_t{1}, static_cast<std::size_t>(per_rank), slots.size()}) {
      const SpeedModels models = read(files);
      CHECK(models.files().size() == slots.size());
      for (std::size_t i = 0; i < slots.size(); ++i) {
        const models::MeasuredPoint& point = models.files()[i].points[0];
        const double factor = slowdowns[i] / 2.0;
        CHECK(point.units == static_cast<double>(i % files + 1));
        CHECK(point.time_s == factor * 1e-3);
        CHECK(point.confidence_s == factor * 1e-4);
        CHECK(point.parts_s[0] == factor * 2e-3);
      }
    }
    CHECK_THROWS_AS(read(paths.size()), InvalidArgument);
  }
}

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
  /// What units of this rank hold, in core and altogether.
  UnitLimits limits(Kind kind) const {
    return unit_limits(session().machine(), started_units(), kind, session().nodes().ranks_on_node, known);
  }
};

double memory_bytes(Kind kind) {
  return unit_memory_bytes(session().machine(), started_units(), kind, session().nodes().ranks_on_node);
}

std::size_t slot_count() { return gather_slots(session(), started_units()).size(); }

SpeedModels measure(const SyntheticKernel& kernel, std::int64_t total) {
  const RunOptions options;
  Frame frame(session(), options, started_units(), "test");
  return measure_speed_models(frame, kernel, total, "geometric");
}

/// The slices of a total, which they sum to. Every rank has the same models, whose sizes are whole.
std::vector<std::int64_t> check_measured(const SpeedModels& models, std::int64_t total) {
  std::vector<double> values;
  CHECK(models.files().size() == slot_count());
  for (const FpmFile& file : models.files()) {
    CHECK(file.app == "synthetic");
    CHECK_FALSE(file.points.empty());
    for (const models::MeasuredPoint& point : file.points) {
      values.insert(values.end(), {point.units, point.time_s});
      CHECK(point.units == std::clamp(std::floor(point.units), 1.0, std::max(1.0, static_cast<double>(total))));
    }
  }
  CHECK(same_on_all_ranks(values));
  std::vector<std::int64_t> units = geometric().distribute(total, models.pointers()).units;
  CHECK(std::accumulate(units.begin(), units.end(), std::int64_t{0}) == total);
  return units;
}

}  // namespace

TEST_CASE("models of any total are measured from a part of an even share on to about where it distributes them") {
  const auto count = static_cast<std::int64_t>(slot_count());
  for (const std::int64_t total : {std::int64_t{0}, std::int64_t{1}, count - 1, count, 100 * count + 1, 200 * count}) {
    INFO(total << " computation units for " << count << " slots");
    const LinearKernel kernel;
    const SpeedModels models = measure(kernel, total);
    const std::vector<std::int64_t> units = check_measured(models, total);
    CHECK(kernel.alive() == 0);
    for (std::size_t i = 0; i < units.size() && total == 200 * count; ++i) {
      const Sizes sizes = sizes_of(models.files()[i]);
      const auto wanted = static_cast<double>(units[i]);
      CHECK(std::ranges::count(sizes, 12.0) == 1);
      // The last measurement moves the distribution a little.
      CHECK(std::ranges::any_of(sizes, [&](double size) { return std::abs(size - wanted) <= 0.1 * wanted; }));
      CHECK(sizes.size() >= 4);
    }
  }
}

TEST_CASE("a total that does not fit all slots is everyone's error, and none is measured at more than it holds") {
  // The unit with the least memory, which may be a device, holds 10.
  double least_bytes = memory_bytes(Kind::host);
  if (started_units().companion) least_bytes = std::min(least_bytes, memory_bytes(Kind::companion));
  LinearKernel kernel;
  kernel.known.memory_bytes_per_unit = -all_max(session().comm(), -least_bytes) / 10.5;
  const double host = kernel.limits(Kind::host).max_units;
  const double mine = host + (started_units().companion ? kernel.limits(Kind::companion).max_units : 0.0);
  const double all = all_sum(session().comm(), mine);
  // Not so where memory is unknown, or that of a GPU holds too much to measure here.
  if (!(all < 1000.0)) SKIP("slots hold a lot");
  const auto fitting = static_cast<std::int64_t>(all);
  const auto error = collective_error([&] { measure(kernel, 3 * fitting); });
  CHECK(error.has_value());
  if (error) CHECK_THAT(error->what(), ContainsSubstring("do not fit"));
  CHECK_FALSE(kernel.instances().empty());
  for (const std::int64_t size : kernel.sizes(Kind::host)) CHECK(static_cast<double>(size) <= host);
  check_measured(measure(kernel, fitting), fitting);

  kernel.known.memory_bytes_per_unit *= 100.0;
  kernel.forget();
  const auto none = collective_error([&] { measure(kernel, 100); });
  CHECK(none.has_value());
  if (none) CHECK_THAT(none->what(), ContainsSubstring("rank 0 ") && ContainsSubstring("20 us of rest"));
  if (none) CHECK(none->code() == ExitCode::wrong_input);
  CHECK(kernel.instances().empty());
}

TEST_CASE("where more is to be done than a unit holds, its model goes on out of core") {
  LinearKernel kernel;
  kernel.known.runs_out_of_core = true;
  kernel.known.memory_bytes_per_unit = memory_bytes(Kind::host) / 16.5;
  const UnitLimits limits = kernel.limits(Kind::host);
  if (!(limits.in_core_units < limits.max_units)) SKIP("here units hold in core all that there is");
  // Even shares are in core; what a fast unit could do is not.
  const std::int64_t total = 12 * static_cast<std::int64_t>(slot_count());
  const SpeedModels models = measure(kernel, total);
  check_measured(models, total);
  for (std::size_t i = 0; i < models.files().size(); ++i) {
    const FpmFile& file = models.files()[i];
    if (!(file.in_core_units < static_cast<double>(total))) continue;
    CHECK(file.points.front().units <= file.in_core_units);
    CHECK(file.points.back().units > file.in_core_units);
    CHECK(models.pointers()[i]->max_units() > file.in_core_units);
  }
}

}  // namespace steelyard::test_speed_models
