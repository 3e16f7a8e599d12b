#include <atomic>
#include <new>
#include <optional>
#include <set>

#include "comm/communicator.hpp"
#include "comm/measurement/kernel_measurement.hpp"
#include "comm/mpi_check.hpp"
#include "core/memory/unit_memory.hpp"
#include "tests/catch.hpp"
#include "tests/comm/eventually.hpp"
#include "tests/comm/synthetic_kernel.hpp"

namespace steelyard::test_kernel_measurement {

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

  template <class Work>
  void visit(const Work& work) const {
    const int inside = ++counters_->inside;
    int most = counters_->most;
    while (most < inside && !counters_->most.compare_exchange_weak(most, inside)) {
    }
    work();
    --counters_->inside;
  }
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

}  // namespace

TEST_CASE("a unit's own thread allocates and runs its instance; a unit without work gets none and takes 0 s") {
  // Different numbers of measurements in each group would hang if they waited for each other.
  const bool odd = session().rank() % 2 == 1;
  const Communicator half(session().comm(), odd ? 1 : 0);
  for (const RankUnits& units : {started_units(), host_alone(), companion_alone()}) {
    CoExecution co_execution(session().machine(), units);
    SyntheticKernel kernel;
    KernelMeasurement measurement(half.get(), co_execution, kernel, easily_precise(3));
    std::set<std::thread::id> companion_threads;
    for (const UnitSizes& sizes : {UnitSizes{5, 7}, UnitSizes{5, 0}, UnitSizes{0, 7}, UnitSizes{0, 0}}) {
      if (odd && sizes.companion == 0) continue;
      for (const bool last_rank_alone : {true, false}) {
        for (const bool together : {true, false}) {
          kernel.forget();
          const bool idle = last_rank_alone && half.rank() + 1 < half.size();
          const UnitSizes asked = idle ? UnitSizes{} : sizes;
          const GroupPoint point = together ? measurement.together(asked) : measurement.alone(asked);
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
          CHECK(host == (units.host ? asked.host : 0));
          CHECK(companion == (units.companion ? asked.companion : 0));
          CHECK(static_cast<int>(kernel.instances().size()) == (host > 0 ? 1 : 0) + (companion > 0 ? 1 : 0));
          CHECK(kernel.alive() == 0);
          CHECK(point.precise);
          CHECK(point.host.units == static_cast<double>(asked.host));
          CHECK(point.companion.units == static_cast<double>(asked.companion));
          CHECK((point.host.time_s > 0.0) == (host > 0));
          CHECK((point.companion.time_s > 0.0) == (companion > 0));
        }
      }
    }
    CHECK(companion_threads.size() <= 1);
  }
}

TEST_CASE("a point takes no less time than the kernel, and as much longer as a slower unit is emulated") {
  for (const double slowdown : {1.0, 3.0}) {
    RankUnits units = started_units();
    units.host->slowdown = slowdown;
    if (units.companion) units.companion->slowdown = 2.0 * slowdown;
    CoExecution co_execution(session().machine(), units);
    SyntheticKernel kernel;
    kernel.on_run = [](Kind kind, std::int64_t, int) { rest(kind == Kind::host ? 1e-3 : 3e-3); };
    KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(4));
    for (const bool together : {true, false}) {
      const UnitSizes sizes{11, units.companion ? 13 : 0};
      const GroupPoint point = together ? measurement.together(sizes) : measurement.alone(sizes);
      CHECK(point.host.time_s >= slowdown * 1e-3);
      CHECK(point.host.repetitions == 4);
      if (units.companion) {
        CHECK(point.companion.time_s >= slowdown * 6e-3);
        CHECK(point.companion.repetitions == 4);
      }
      CHECK(point.kernels_s >= 4.0 * (together ? point.companion.time_s : point.host.time_s) * (1.0 - 1e-9));
      CHECK(point.elapsed_s >= point.kernels_s);
    }
  }
}

TEST_CASE("together all units are in their kernels at the same time, alone never two of them") {
  if (session().nodes().count() > 1) SKIP("nodes share no memory");
  CoExecution co_execution(session().machine(), started_units());
  const int everyone = static_cast<int>(all_sum(session().comm(), started_units().count()));
  for (const bool together : {true, false}) {
    const Crowd crowd;
    SyntheticKernel kernel;
    kernel.on_allocate = [&](Kind, std::int64_t) {
      if (!together) crowd.visit([] { rest(1e-3); });
    };
    // Where each waits for all others in the timed repetitions, they would wait for ever one after the other.
    kernel.on_run = [&](Kind, std::int64_t, int run) {
      if (together && run < 2) return;
      crowd.visit([&] {
        if (!together) rest(1e-3);
        const double start_s = now_s();
        while (together && crowd.most() < everyone && now_s() - start_s < 10.0) rest(1e-4);
      });
    };
    KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
    together ? measurement.together({1, 1}) : measurement.alone({1, 1});
    MPI_Barrier(session().comm());
    CHECK(crowd.most() == (together ? everyone : 1));
  }
}

TEST_CASE("every unit repeats short runs until it is busy for as long as the slowest unit, but not without end") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  const Precision precision = easily_precise(3);
  KernelMeasurement measurement(session().comm(), co_execution, kernel, precision);
  // The last rank's host unit is slow, or all take next to no time.
  const bool last = session().rank() == session().size() - 1;
  for (const bool slow : {true, false}) {
    const auto is_slow = [&](Kind kind) { return slow && last && kind == Kind::host; };
    if (slow) kernel.on_run = [&](Kind kind, std::int64_t, int) { rest(is_slow(kind) ? 20e-3 : 1e-3); };
    CHECK(eventually([&] {
      kernel.forget();
      measurement.together({1, slow ? 1 : 0});
      bool good = true;
      for (const SyntheticKernel::Instance& instance : kernel.instances()) {
        const int runs = timed_runs(instance);
        // The same number of runs in each repetition.
        CHECK(runs % (precision.warmups + precision.repetitions_min) == 0);
        const int per_repetition = runs / (precision.warmups + precision.repetitions_min);
        CHECK(per_repetition <= 100000);
        good = good && (is_slow(instance.kind) ? per_repetition <= 2 : per_repetition >= (slow ? 5 : 20));
        good = good && (!slow || per_repetition <= 100);
      }
      return good;
    }));
    kernel.on_run = nullptr;
  }
}

TEST_CASE("an instance that one unit cannot allocate or run is everyone's error, and the next size is measured") {
  CoExecution co_execution(session().machine(), started_units());
  SyntheticKernel kernel;
  KernelMeasurement measurement(session().comm(), co_execution, kernel, easily_precise(3));
  for (int poor = 0; poor < session().size(); ++poor) {
    const std::string words = "no memory on rank " + std::to_string(poor);
    for (const Kind kind : {Kind::host, Kind::companion}) {
      // Two runs tell how long one takes, one or more warm up, and three times as many are timed.
      for (const int failing : {-1, 0, 1, 2, 5}) {
        if (kind == Kind::companion && (failing > 0 || !started_units().companion)) continue;
        for (const bool together : {true, false}) {
          const auto work = [&](Kind of, std::int64_t units, int run) {
            if (session().rank() == poor && of == kind && units == 9 && run == failing) throw RuntimeFailure(words);
          };
          kernel.on_allocate = [&](Kind of, std::int64_t units) { work(of, units, -1); };
          kernel.on_run = [&](Kind of, std::int64_t units, int run) {
            work(of, units, run);
            rest(1e-3);
          };
          const auto measure = [&](std::int64_t size) {
            return together ? measurement.together({size, size}) : measurement.alone({size, size});
          };
          std::optional<CollectiveError> error;
          try {
            measure(9);
          } catch (const CollectiveError& thrown) {
            error = thrown;
          }
          CHECK((error && error->what() == words && error->code() == ExitCode::failed && error->teller() == poor));
          CHECK(kernel.alive() == 0);
          if (failing < 0) CHECK(measure(3).host.time_s > 0.0);
        }
      }
    }
  }
}

TEST_CASE("alone too a group is precise only where every unit is; a precision that makes no sense is refused") {
  CoExecution co_execution(session().machine(), started_units());
  const SyntheticKernel kernel;
  for (int restless = 0; restless < session().size(); ++restless) {
    KernelMeasurement measurement(session().comm(), co_execution, kernel, never_precise(3));
    CHECK_FALSE(measurement.alone({session().rank() == restless ? 4 : 0, 0}).precise);
    CHECK(measurement.alone({0, 0}).precise);
  }
  CHECK_THROWS_AS(KernelMeasurement(session().comm(), co_execution, kernel, easily_precise(1)), InvalidArgument);
}

TEST_CASE("a model file says what was measured, on what, and how much of it fits") {
  RankUnits units = started_units();
  units.bound = session().rank() % 2 == 0;
  KernelFacts facts{"app", "kernel", "float", "a row", {{"columns", 64.0}}, {"part"}, 7.0, 24.0, 1e6};
  for (const Kind kind : {Kind::host, Kind::companion}) {
    if (kind == Kind::companion && !units.companion) continue;
    const ProcessingUnit& unit = kind == Kind::host ? *units.host : *units.companion;
    for (const bool out_of_core : {false, true}) {
      facts.runs_out_of_core = out_of_core;
      const models::FpmFile file = describe_model(session(), units, kind, facts);
      CHECK(std::vector{file.app, file.kernel, file.element, file.computation_unit} ==
            std::vector{facts.app, facts.kernel, facts.element, facts.computation_unit});
      CHECK(std::vector{file.unit_kind, file.unit_cores, file.unit_device} ==
            std::vector{unit.name(), format_cores(unit.cores), unit.space});
      CHECK(file.unit_bound == units.bound);
      CHECK(file.parameters == facts.parameters);
      CHECK(file.parts == facts.parts);
      CHECK(file.flops_per_unit == 7.0);
      CHECK(file.bytes_per_unit == 24.0);
      CHECK_THAT(file.machine, ContainsSubstring(session().machine().host_name()));
      CHECK_FALSE(file.commit.empty());
      const UnitLimits limits = unit_limits(session().machine(), units, kind, session().nodes().ranks_on_node, facts);
      CHECK(file.max_units == limits.max_units);
      // Nothing is out of core where the kernel does not run there.
      if (!out_of_core) CHECK(file.in_core_units > file.max_units);
      if (out_of_core && limits.in_core_units < limits.max_units) CHECK(file.in_core_units == limits.in_core_units);
    }
  }
}

}  // namespace steelyard::test_kernel_measurement
