#include <algorithm>
#include <atomic>
#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <new>
#include <optional>
#include <set>
#include <string>

#include "comm/communicator.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "comm/mpi_check.hpp"
#include "core/memory/unit_memory.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_kernel_measurement {

using Catch::Matchers::ContainsSubstring;
using namespace steelyard::tests;
using Kind = ProcessingUnit::Kind;

namespace {

RankUnits host_alone() {
  RankUnits units = started_units();
  units.companion.reset();
  return units;
}

RankUnits companion_alone() {
  RankUnits units = started_units();
  if (units.companion) units.host.reset();
  return units;
}

/// Runs of the same instance, after the two that only tell how long a run is.
int timed_runs(const SyntheticKernel::Instance& instance) { return static_cast<int>(instance.run_by.size()) - 2; }

/// The error that a measurement ends with; nothing where it ends well.
template <class Run>
std::optional<CollectiveError> error_of(const Run& run) {
  try {
    run();
  } catch (const CollectiveError& error) {
    return error;
  }
  return std::nullopt;
}

/// Counts, in memory that all ranks of a node share, the units that are in a kernel at the same time.
class Crowd {
 public:
  Crowd() {
    const MPI_Aint bytes = session().is_root() ? sizeof(Counters) : 0;
    void* mine = nullptr;
    STEELYARD_MPI(MPI_Win_allocate_shared(bytes, 1, MPI_INFO_NULL, session().comm(), &mine, &window_));
    MPI_Aint size = 0;
    int unit = 0;
    void* of_root = nullptr;
    STEELYARD_MPI(MPI_Win_shared_query(window_, 0, &size, &unit, &of_root));
    counters_ = static_cast<Counters*>(of_root);
    if (session().is_root()) new (counters_) Counters;
    STEELYARD_MPI(MPI_Barrier(session().comm()));
  }
  ~Crowd() { MPI_Win_free(&window_); }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  void enter() const {
    const int inside = ++counters_->inside;
    int most = counters_->most;
    while (most < inside && !counters_->most.compare_exchange_weak(most, inside)) {
    }
  }
  void leave() const { --counters_->inside; }
  int most() const { return counters_->most; }

 private:
  struct Counters {
    std::atomic<int> inside{0};
    std::atomic<int> most{0};
  };
  static_assert(std::atomic<int>::is_always_lock_free);

  MPI_Win window_ = MPI_WIN_NULL;
  Counters* counters_ = nullptr;
};

int all_units() { return static_cast<int>(all_sum(session().comm(), started_units().count())); }

}  // namespace

TEST_CASE("a unit's own thread allocates and runs its instance; a unit without work gets none") {
  for (const RankUnits& units : {started_units(), host_alone(), companion_alone()}) {
    CoExecution co_execution(session().machine(), units);
    SyntheticKernel kernel;
    KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
    std::set<std::thread::id> companion_threads;
    for (const UnitSizes& sizes : {UnitSizes{5, 7}, UnitSizes{5, 0}, UnitSizes{0, 7}, UnitSizes{0, 0}}) {
      for (const bool together : {true, false}) {
        kernel.forget();
        const GroupPoint point = together ? measurement.together(sizes) : measurement.alone(sizes);
        std::int64_t host = 0;
        std::int64_t companion = 0;
        for (const SyntheticKernel::Instance& instance : kernel.instances()) {
          (instance.kind == Kind::host ? host : companion) += instance.units;
          const bool on_driver = instance.kind == Kind::companion && units.count() == 2;
          CHECK((instance.allocated_by != std::this_thread::get_id()) == on_driver);
          if (on_driver) companion_threads.insert(instance.allocated_by);
          CHECK(timed_runs(instance) >= 4);  // three repetitions and a warm-up
          CHECK(std::count(instance.run_by.begin(), instance.run_by.end(), instance.allocated_by) ==
                static_cast<std::ptrdiff_t>(instance.run_by.size()));
        }
        // Once each, of the size that was asked for.
        CHECK(host == (units.host ? sizes.host : 0));
        CHECK(companion == (units.companion ? sizes.companion : 0));
        CHECK(static_cast<int>(kernel.instances().size()) == (host > 0 ? 1 : 0) + (companion > 0 ? 1 : 0));
        CHECK(kernel.alive() == 0);
        CHECK(point.precise);
      }
    }
    CHECK(companion_threads.size() <= 1);
  }
}

TEST_CASE("a point says its size and how often it was run, and takes no less time than the kernel") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  kernel.on_run = [](Kind kind, std::int64_t, int) { rest(kind == Kind::host ? 1e-3 : 6e-3); };
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(4));
  for (const bool together : {true, false}) {
    const UnitSizes sizes{11, started_units().companion ? 13 : 0};
    const GroupPoint point = together ? measurement.together(sizes) : measurement.alone(sizes);
    CHECK(point.host.units == 11.0);
    CHECK(point.host.time_s >= 1e-3);
    CHECK(point.host.repetitions == 4);
    CHECK(point.companion.units == static_cast<double>(sizes.companion));
    if (started_units().companion) {
      CHECK(point.companion.time_s >= 6e-3);
      CHECK(point.companion.repetitions == 4);
    }
    CHECK(point.kernels_s >= 4.0 * (together ? point.companion.time_s : point.host.time_s) * (1.0 - 1e-9));
    CHECK(point.elapsed_s >= point.kernels_s);
  }
}

TEST_CASE("a rank without work takes part all the same and takes 0 s") {
  CoExecution co_execution(session().machine(), started_units());
  const SyntheticKernel kernel;
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  for (int busy = 0; busy < session().size(); ++busy) {
    const bool mine = session().rank() == busy;
    for (const bool together : {true, false}) {
      const UnitSizes sizes{mine ? 5 : 0, 0};
      const GroupPoint point = together ? measurement.together(sizes) : measurement.alone(sizes);
      CHECK(point.host.units == (mine ? 5.0 : 0.0));
      CHECK((point.host.time_s > 0.0) == mine);
      CHECK(point.companion.units == 0.0);
      CHECK(point.companion.time_s == 0.0);
      CHECK(point.precise);
    }
  }
}

TEST_CASE("a slower unit is emulated in what is measured") {
  RankUnits units = started_units();
  units.host->slowdown = 3.0;
  if (units.companion) units.companion->slowdown = 2.0;
  CoExecution co_execution(session().machine(), units);
  SyntheticKernel kernel;
  kernel.on_run = [](Kind, std::int64_t, int) { rest(2e-3); };
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  const GroupPoint point = measurement.together({1, 1});
  CHECK(point.host.time_s >= 6e-3);
  if (units.companion) CHECK(point.companion.time_s >= 4e-3);
}

TEST_CASE("together all units are in their kernels at the same time") {
  if (session().nodes().count() > 1) SKIP("nodes share no memory");
  const Crowd crowd;
  const int everyone = all_units();
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  // In the timed repetitions each waits for all others, so that one after the other they would wait for ever.
  kernel.on_run = [&](Kind, std::int64_t, int run) {
    if (run < 2) return;
    crowd.enter();
    for (const double start_s = now_s(); crowd.most() < everyone && now_s() - start_s < 10.0;) rest(100e-6);
    crowd.leave();
  };
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  measurement.together({1, 1});
  CHECK(crowd.most() == everyone);
}

TEST_CASE("alone no two units of the group are ever in their kernels or allocations at the same time") {
  if (session().nodes().count() > 1) SKIP("nodes share no memory");
  const Crowd crowd;
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  const auto visit = [&] {
    crowd.enter();
    rest(1e-3);
    crowd.leave();
  };
  kernel.on_run = [&](Kind, std::int64_t, int) { visit(); };
  kernel.on_allocate = [&](Kind, std::int64_t) { visit(); };
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  const GroupPoint point = measurement.alone({1, 1});
  MPI_Barrier(session().comm());
  CHECK(crowd.most() == 1);
  CHECK(point.host.time_s >= 1e-3);
}

TEST_CASE("every unit repeats short runs until it is busy for as long as the slowest unit of the group") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  // The last rank's host unit is slow.
  const bool slow_rank = session().rank() == session().size() - 1;
  kernel.on_run = [&](Kind kind, std::int64_t, int) { rest(slow_rank && kind == Kind::host ? 20e-3 : 1e-3); };
  const Precision precision = easily_precise(3);
  KernelMeasurement measurement(session().comm(), co_execution, kernel, precision);
  const bool balanced = eventually([&] {
    kernel.forget();
    measurement.together({1, 1});
    bool good = true;
    for (const SyntheticKernel::Instance& instance : kernel.instances()) {
      const int runs = timed_runs(instance);
      // The same number of runs in each repetition.
      CHECK(runs % (precision.warmups + precision.repetitions_min) == 0);
      const int per_repetition = runs / (precision.warmups + precision.repetitions_min);
      const bool slow = slow_rank && instance.kind == Kind::host;
      good = good && (slow ? per_repetition <= 2 : per_repetition >= 5 && per_repetition <= 100);
    }
    return good;
  });
  CHECK(balanced);
}

TEST_CASE("runs that take next to no time are repeated, but not without end") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  const bool repeated = eventually([&] {
    kernel.forget();
    measurement.together({1, 0});
    const int runs = timed_runs(kernel.instances().front());
    CHECK(runs <= 4 * 100000);
    return runs >= 4 * 20;
  });
  CHECK(repeated);
}

TEST_CASE("an instance that one unit of one rank cannot allocate is everyone's error, and the next size is measured") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  for (int poor = 0; poor < session().size(); ++poor) {
    for (const Kind kind : {Kind::host, Kind::companion}) {
      if (kind == Kind::companion && !started_units().companion) continue;
      for (const bool together : {true, false}) {
        kernel.on_allocate = [&](Kind of, std::int64_t units) {
          if (session().rank() == poor && of == kind && units == 9) {
            throw RuntimeFailure("no memory on rank " + std::to_string(poor));
          }
        };
        const auto measure = [&](std::int64_t size) {
          return together ? measurement.together({size, size}) : measurement.alone({size, size});
        };
        const auto error = error_of([&] { measure(9); });
        CHECK(error.has_value());
        if (error) {
          CHECK(error->what() == "no memory on rank " + std::to_string(poor));
          CHECK(error->code() == ExitCode::failed);
          CHECK(error->teller() == poor);
        }
        CHECK(kernel.alive() == 0);
        CHECK(measure(3).host.time_s > 0.0);
      }
    }
  }
}

TEST_CASE("a run that fails on one rank is everyone's error, whether first or in the middle of the repetitions") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  for (int poor = 0; poor < session().size(); ++poor) {
    // Two runs tell how long one takes, one or more warm up, and three times as many are timed.
    for (const int failing : {0, 1, 2, 5}) {
      for (const bool together : {true, false}) {
        kernel.on_run = [&](Kind kind, std::int64_t, int run) {
          if (session().rank() == poor && kind == Kind::host && run >= failing) throw RuntimeFailure("cannot run");
          rest(1e-3);
        };
        const auto error = error_of([&] { together ? measurement.together({9, 9}) : measurement.alone({9, 9}); });
        CHECK(error.has_value());
        if (error) CHECK(error->teller() == poor);
        CHECK(kernel.alive() == 0);
      }
    }
  }
}

TEST_CASE("alone too a group is precise only where every unit is") {
  CoExecution co_execution(session().machine(), started_units());
  const SyntheticKernel kernel;
  for (int restless = 0; restless < session().size(); ++restless) {
    KernelMeasurement measurement(session().comm(), co_execution, kernel, never_precise(3));
    CHECK_FALSE(measurement.alone({session().rank() == restless ? 4 : 0, 0}).precise);
    CHECK(measurement.alone({0, 0}).precise);
  }
}

TEST_CASE("groups are measured on their own") {
  const Communicator half(session().comm(), session().rank() % 2);
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  // Different numbers of measurements in each group would hang if they waited for each other.
  KernelMeasurement measurement(half.get(), co_execution, kernel, easily_precise(3));
  for (int i = 0; i < 1 + session().rank() % 2; ++i) {
    CHECK(measurement.together({2, 2}).precise);
    CHECK(measurement.alone({2, 0}).host.time_s > 0.0);
  }
  CHECK(kernel.sizes(Kind::host).size() == 2U + 2U * static_cast<std::size_t>(session().rank() % 2));
}

TEST_CASE("a precision that makes no sense is refused before anything is measured") {
  CoExecution co_execution(session().machine(), started_units());
  const SyntheticKernel kernel;
  Precision precision = easily_precise(3);
  precision.repetitions_max = 2;
  CHECK_THROWS_AS(KernelMeasurement(session().comm(), co_execution, kernel, precision), InvalidArgument);
  CHECK(kernel.instances().empty());
}

TEST_CASE("a model file says what was measured, on what, and how much of it fits") {
  RankUnits units = started_units();
  units.host->slowdown = 2.5;
  units.bound = session().rank() % 2 == 0;
  KernelFacts facts;
  facts.app = "app";
  facts.kernel = "kernel";
  facts.element = "float";
  facts.computation_unit = "a row";
  facts.parameters["columns"] = 64.0;
  facts.flops_per_unit = 7.0;
  facts.bytes_per_unit = 24.0;
  facts.memory_bytes_per_unit = 1e6;
  const auto same = [&](Kind kind) {
    const models::FpmFile file = describe_model(session(), units, kind, facts);
    const ProcessingUnit& unit = kind == Kind::host ? *units.host : *units.companion;
    CHECK(file.app == "app");
    CHECK(file.kernel == "kernel");
    CHECK(file.element == "float");
    CHECK(file.computation_unit == "a row");
    CHECK(file.parameters == facts.parameters);
    CHECK(file.flops_per_unit == 7.0);
    CHECK(file.bytes_per_unit == 24.0);
    CHECK(file.unit_kind == unit.name());
    CHECK(file.unit_cores == format_cores(unit.cores));
    CHECK(file.unit_device == unit.space);
    CHECK(file.unit_bound == units.bound);
    CHECK(file.slowdown == unit.slowdown);
    CHECK_THAT(file.machine, ContainsSubstring(session().machine().host_name()));
    CHECK_FALSE(file.commit.empty());
    CHECK_FALSE(file.solo);
    CHECK(file.points.empty());
    const UnitLimits limits = unit_limits(session().machine(), units, kind, session().nodes().ranks_on_node, facts);
    CHECK(file.max_units == limits.max_units);
    // Nothing is out of core where the kernel does not run there.
    CHECK(file.in_core_units > file.max_units);
  };
  same(Kind::host);
  if (units.companion) same(Kind::companion);
  facts.runs_out_of_core = true;
  const Kind kind = units.companion ? Kind::companion : Kind::host;
  const UnitLimits limits = unit_limits(session().machine(), units, kind, session().nodes().ranks_on_node, facts);
  const models::FpmFile file = describe_model(session(), units, kind, facts);
  CHECK(file.max_units == limits.max_units);
  if (limits.in_core_units < limits.max_units) CHECK(file.in_core_units == limits.in_core_units);
}

}  // namespace steelyard::test_kernel_measurement
