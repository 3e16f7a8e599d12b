// What a run's ranks do together: they take its time, balance, measure speed models, check and write.
#include <numeric>
#include <optional>

#include "comm/collective.hpp"
#include "core/base/npy.hpp"
#include "core/memory/unit_memory.hpp"
#include "miniapps/app/checkpoint.hpp"
#include "miniapps/app/frame.hpp"
#include "miniapps/app/outputs.hpp"
#include "partition/algorithms.hpp"
#include "tests/base/full_disk.hpp"
#include "tests/base/temporary_folder.hpp"
#include "tests/catch.hpp"
#include "tests/comm/same_on_all_ranks.hpp"
#include "tests/comm/synthetic_kernel.hpp"
#include "tests/miniapps/app/collective_error.hpp"

namespace steelyard::test_frame {

using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;
using models::FpmFile;
using Sizes = std::vector<double>;

namespace {

/// An empty folder that all ranks see, removed once all are done with it. Making and removing it is collective.
class SharedFolder {
 public:
  SharedFolder() {
    if (session().is_root()) mine_.emplace();
    path_ = broadcast_text(session().comm(), mine_ ? mine_->path().string() : "");
  }
  ~SharedFolder() { MPI_Barrier(session().comm()); }
  SharedFolder(const SharedFolder&) = delete;
  SharedFolder& operator=(const SharedFolder&) = delete;

  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  /// Files and folders in it, on every rank once all have got here.
  double entries() const {
    MPI_Barrier(session().comm());
    return all_max(session().comm(), mine_ ? mine_->entries() : 0.0);
  }

 private:
  std::optional<TemporaryFolder> mine_;
  std::filesystem::path path_;
};

/// Columns of a state, shared out among the ranks, to the folder's file `c`.
void write_state(const SharedFolder& folder, const Checkpoint& state) {
  write_checkpoint<double>(session(), folder / "c", state, [&](const BlockSink<double>& sink) {
    for (int j = session().rank(); j < state.columns; j += session().size()) {
      sink(0, j, 1, std::vector<double>(static_cast<std::size_t>(state.rows), -0.1 * j));
    }
  });
}

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
  return frame.speed_models(kernel, total, "geometric");
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

TEST_CASE("a region takes as long as its slowest rank, says the same everywhere and does not count who comes late") {
  rest(session().is_root() ? 0.3 : 0.0);
  const double start_s = now_s();
  const double seconds =
      timed_region(session(), "steelyard::test::region", [&] { rest(1e-3 * (session().rank() + 1)); });
  CHECK(seconds >= 1e-3 * session().size());
  // Rank 0 was the last to come, so nobody's region began before this.
  if (session().is_root()) CHECK(seconds <= now_s() - start_s + 1e-2);
  CHECK(same_on_all_ranks({seconds}));
}

TEST_CASE("a dynamic run starts evenly, and its slices go where their own seconds ask for, the same on all ranks") {
  // Ranks drive all units that there are, a host unit and a companion, in turns.
  RankUnits units = started_units();
  if (session().rank() % 3 == 1) units.companion.reset();
  if (session().rank() % 3 == 2 && units.companion) units.host.reset();
  RunOptions options;
  options.partition = "dynamic";
  Frame frame(session(), options, units, "test");
  Plan plan = frame.even_plan(1000);
  const auto [least, most] = std::minmax_element(plan.distribution.begin(), plan.distribution.end());
  CHECK(*most - *least <= 1);
  StepBalancer balancer = frame.balancer(plan.distribution);
  // Units of rank 0 are three times as slow as those of others, companions twice as slow as hosts.
  const double host_s = session().is_root() ? 3e-6 : 1e-6;
  int changes = 0;
  for (int step = 0; step < 50; ++step) {
    const UnitSizes mine = frame.own_share(balancer.units());
    CHECK((mine.host > 0) == units.host.has_value());
    CHECK((mine.companion > 0) == units.companion.has_value());
    const UnitSeconds seconds{host_s * static_cast<double>(mine.host),
                              2.0 * host_s * static_cast<double>(mine.companion)};
    changes += balancer.record(seconds, 50.0 - step) ? 1 : 0;
  }
  Outcome outcome;
  balancer.sum_up(outcome, plan);
  CHECK(outcome.figures.at("repartitions") == changes);
  CHECK(same_on_all_ranks(std::vector<double>(plan.distribution.begin(), plan.distribution.end())));
  CHECK((changes > 0) == (frame.slots().size() > 1));
  std::vector<double> speeds;
  for (const Slot& slot : frame.slots()) {
    speeds.push_back((slot.rank == 0 ? 1.0 : 3.0) * (slot.kind == Kind::host ? 2.0 : 1.0));
  }
  const double all = std::accumulate(speeds.begin(), speeds.end(), 0.0);
  for (std::size_t i = 0; i < speeds.size(); ++i) {
    CHECK_THAT(static_cast<double>(plan.distribution[i]),
               WithinAbs(1000.0 * speeds[i] / all, 50.0 * speeds[i] / all + 1.0));
  }
  CHECK(std::accumulate(plan.distribution.begin(), plan.distribution.end(), std::int64_t{0}) == 1000);
}

TEST_CASE("a check is as wrong as its worst rank and repetition, on every rank, and what is no number is wrong") {
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double worst : {3e-3, infinity, std::numeric_limits<double>::quiet_NaN()}) {
    for (int rank = 0; rank < session().size(); ++rank) {
      CheckResult check, generous;
      for (int repetition = 0; repetition < 3; ++repetition) {
        const double error = session().rank() == rank && repetition == 1 ? worst : 1e-3;
        add_check(session(), check, {error, 2e-3, "a reference"});
        add_check(session(), generous, {error, 3e-3, "a reference"});
        CHECK(check.passed == (repetition < 1));
      }
      CHECK(check.error == (worst == 3e-3 ? worst : infinity));
      CHECK(generous.passed == (worst == 3e-3));
    }
  }
}

TEST_CASE("a rank that fails is everyone's error, and a file that was there stays as it was") {
  const SharedFolder folder;
  const auto write = [&](const char* name, int failing, std::int64_t first_column = 0) {
    write_matrix<double>(session(), folder / name, 8, 3, [&](const BlockSink<double>& sink) {
      const std::vector<double> row{1.0, 2.0, 3.0};
      for (int i = session().rank(); i < 8; i += session().size()) sink(i, 0, 3, row);
      if (session().rank() != failing) return;
      if (first_column > 0) sink(0, first_column, 3, row);
      throw RuntimeFailure("cannot be read back");
    });
  };
  write("good.npy", -1);
  for (int failing = 0; failing < session().size(); ++failing) {
    for (const char* name : {"good.npy", "new.npy"}) {
      for (const std::int64_t first_column : {0, 1}) {
        const auto error = collective_error([&] { write(name, failing, first_column); });
        CHECK(error.has_value());
        if (error) CHECK(error->teller() == failing);
        // A block that is not inside the matrix is refused before anything else is wrong.
        if (error) CHECK((error->code() == ExitCode::wrong_input) == (first_column > 0));
        CHECK(folder.entries() == 1);
        CHECK(read_npy_matrix_header<double>(folder / "good.npy").shape.front() == 8);
      }
    }
  }
  CHECK(collective_error([&] { write("good.npy/below", -1); }).has_value());
  CHECK(folder.entries() == 1);
}

TEST_CASE("a checkpoint is read back; what is cut off, damaged or another problem's is refused by file and place") {
  const SharedFolder folder;
  const Checkpoint expected{5, 4, {{"app", "test"}, {"height", 0.1}}};
  Checkpoint state = expected;
  state.problem["time"] = 1.0 / 3.0;
  state.steps = 12;
  write_state(folder, state);
  const Checkpoint found = read_checkpoint<double>(folder / "c", expected);
  CHECK(found.problem == state.problem);
  CHECK(found.steps == 12);
  std::vector<double> row(4);
  const NpyHeader header = read_npy_matrix_header<double>(folder / "c");
  read_npy_block<double>(folder / "c", header, 4, 0, 1, 4, row);
  CHECK(row == std::vector{-0.1 * 0, -0.1 * 1, -0.1 * 2, -0.1 * 3});

  const TemporaryFolder own;
  const auto expect_refused = [&](const std::string& bytes, const Checkpoint& other, const std::string& words) {
    const std::filesystem::path path = own.write("a", bytes);
    CHECK_THROWS_MATCHES(read_checkpoint<double>(path, other), FileFormatError,
                         MessageMatches(ContainsSubstring(path.string() + ": ") && ContainsSubstring(words)));
  };
  std::filesystem::copy(folder / "c", own / "whole");
  const std::string whole = own.read("whole");
  const auto data = static_cast<std::size_t>(header.data_offset), end = data + 8 * 5 * 4;
  for (std::size_t size = 0; size + 1 < whole.size(); ++size) {
    expect_refused(whole.substr(0, size), expected, size < data ? "" : size < end ? "data: " : "end: has no facts");
  }
  for (std::size_t at = data; at < whole.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string damaged = whole;
      damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
      expect_refused(damaged, expected, at < end ? "checksum: " : "");
    }
  }
  expect_refused(whole + "x", expected, "end: ");
  expect_refused(whole, {6, 4, expected.problem}, "shape: is 5 x 4 (expected 6 x 4)");
  expect_refused(whole, {5, 4, {{"height", 0.2}}}, "problem.height: is 0.1 (expected 0.2)");
  expect_refused(whole, {5, 4, {{"order", 2}}}, "problem.order: is missing (expected 2)");
  CHECK_THROWS_AS(read_checkpoint<float>(folder / "c", expected), FileFormatError);

  // A disk that is full when nearly all is written.
  state.steps = 13;
  const std::string failure =
      failure_on_full_disk<CollectiveError>(static_cast<rlim_t>(end + 10), [&] { write_state(folder, state); });
  CHECK_THAT(failure, ContainsSubstring((folder / "c").string() + ": its end cannot be written"));
  CHECK(folder.entries() == 1);
  CHECK(read_checkpoint<double>(folder / "c", expected).steps == 12);
}

TEST_CASE("points are added by size in place of those near them in the same memory, which says how speed has drifted") {
  FpmFile file = file_of({50.0, 100.0});
  file.in_core_units = 100.0;
  SpeedModels models({file_of({10.0, 100.0}), file_of({}), file}, geometric());
  CHECK(models.pointers()[1] == nullptr);
  models.add({{101.0, 0.111}, {7.0, 0.7}, {101.0, 10.0}});
  CHECK(models.pointers()[1]->time_s(7.0) == 0.7);
  CHECK(models.pointers()[2]->time_s(100.0) < 1.0);
  CHECK(models.pointers()[2]->time_s(101.0) > 1.0);
  models.add({{50.0, 0.05}, {0.0, 0.0}, {102.0, 20.0}});
  CHECK(sizes_of(models.files()[0]) == Sizes{10.0, 50.0, 101.0});
  CHECK(sizes_of(models.files()[2]) == Sizes{50.0, 100.0, 102.0});
  CHECK(models.files()[0].drift.degrees == 1);
  CHECK(models.files()[0].drift.share > 0.05);
  models.add({{50.5, 0.0505}, {0.0, 0.0}, {0.0, 0.0}});
  CHECK(models.files()[0].drift.degrees == 2);
  CHECK(models.files()[0].drift.share < 0.05);
}

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

}  // namespace steelyard::test_frame
