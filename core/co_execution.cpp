#include "core/co_execution.hpp"

#include <atomic>
#include <cstdint>
#include <exception>
#include <optional>
#include <thread>
#include <utility>

#include "core/base/errors.hpp"
#include "core/device/device.hpp"
#include "core/timing.hpp"

namespace steelyard {
namespace {

/// How long a waiting thread looks before it goes to sleep: steps of an iterative kernel follow each other within
/// microseconds, and waking a sleeping thread takes tens of them.
constexpr double look_s = 1e-3;

/// Seconds of a wait that are spent looking at the clock; the operating system wakes a sleeper late by less than this.
constexpr double spin_s = 200e-6;

/// Which unit's work a thread is doing.
struct UnitOfThread {
  CoExecution* co_execution = nullptr;  ///< none outside run()
  ProcessingUnit::Kind kind = ProcessingUnit::Kind::host;
};
thread_local UnitOfThread unit_of_this_thread;

/// RAII guard: what the calling thread's unit is again in the end.
struct UnitBefore {
  UnitOfThread unit;
  ~UnitBefore() { unit_of_this_thread = unit; }
};

void wait_until(double end_s, bool may_spin) {
  const double sleep_s = end_s - now_s() - (may_spin ? spin_s : 0.0);
  if (sleep_s > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(sleep_s));
  // A yielding thread may be away for a scheduler's tick, so only where others wait for this core.
  while (now_s() < end_s) {
    if (!may_spin) std::this_thread::yield();
  }
}

}  // namespace

/// The companion's thread: runs one callable per ticket.
class CoExecution::Driver {
 public:
  explicit Driver(CoExecution& owner) : owner_(owner), thread_([this] { serve(); }) {}

  ~Driver() {
    start(nullptr);
    thread_.join();
  }

  /// @param work null to end the thread
  void start(const Work* work) {
    work_ = work;
    started_.fetch_add(1);
    started_.notify_one();
  }

  double wait() {
    await(finished_, started_.load());
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return seconds_;
  }

 private:
  void await(std::atomic<std::uint32_t>& counter, std::uint32_t value) const {
    const double sleep_at_s = now_s() + (owner_.units_.may_spin() ? look_s : 0.0);
    for (std::uint32_t seen = counter.load(); seen != value; seen = counter.load()) {
      if (now_s() >= sleep_at_s) counter.wait(seen);
    }
  }

  void serve() {
    for (std::uint32_t ticket = 1;; ++ticket) {
      await(started_, ticket);
      if (work_ == nullptr) return;
      try {
        seconds_ = owner_.run_unit(ProcessingUnit::Kind::companion, *work_);
      } catch (...) {
        error_ = std::current_exception();
      }
      finished_.fetch_add(1);
      finished_.notify_one();
    }
  }

  CoExecution& owner_;
  const Work* work_ = nullptr;
  double seconds_ = 0.0;
  std::exception_ptr error_;
  std::atomic<std::uint32_t> started_{0};
  std::atomic<std::uint32_t> finished_{0};
  std::thread thread_;  // last: it uses everything above
};

CoExecution::CoExecution(const Machine& machine, const RankUnits& units) : units_(units) {
  if (units.host && units.companion) {
    driver_ = std::make_unique<Driver>(*this);
    const Work prepare = [&] {
      select_device(units.companion->device);
      try {
        machine.bind_this_thread(units.companion->cores);
      } catch (const RuntimeFailure&) {
        // Binding is a matter of speed; the runtime has reported that this system refuses it.
      }
    };
    driver_->start(&prepare);
    driver_->wait();
  }
}

CoExecution::~CoExecution() = default;

UnitSeconds CoExecution::run(const Work& host, const Work& companion) {
  UnitSeconds seconds;
  if (driver_) driver_->start(&companion);
  std::exception_ptr first_error;
  const auto keep_seconds = [&](double& seconds_of_unit, const auto& run) {
    try {
      seconds_of_unit = run();
    } catch (...) {
      if (!first_error) first_error = std::current_exception();
    }
  };
  if (units_.host) {
    keep_seconds(seconds.host_s, [&] { return run_unit(ProcessingUnit::Kind::host, host); });
  } else {
    keep_seconds(seconds.companion_s, [&] { return run_unit(ProcessingUnit::Kind::companion, companion); });
  }
  if (driver_) keep_seconds(seconds.companion_s, [&] { return driver_->wait(); });
  if (first_error) std::rethrow_exception(first_error);
  return seconds;
}

double CoExecution::run_unit(ProcessingUnit::Kind kind, const Work& work) {
  const UnitBefore before{std::exchange(unit_of_this_thread, {this, kind})};
  sections_s_[kind].reset();
  const double start_s = now_s();
  work();
  return sections_s_[kind] ? *sections_s_[kind] : seconds_since(start_s, kind);
}

double CoExecution::seconds_since(double start_s, ProcessingUnit::Kind kind) const {
  const std::optional<ProcessingUnit>& unit = units_.unit(kind);
  const double busy_s = now_s() - start_s;
  if (!unit || !unit->emulated()) return busy_s;
  wait_until(start_s + unit->slowdown * busy_s, units_.may_spin());
  return now_s() - start_s;
}

void CoExecution::timed_section(const Work& work) {
  const auto& [co_execution, kind] = unit_of_this_thread;
  const double start_s = now_s();
  work();
  if (co_execution == nullptr) return;
  std::optional<double>& sections_s = co_execution->sections_s_[kind];
  sections_s = sections_s.value_or(0.0) + co_execution->seconds_since(start_s, kind);
}

}  // namespace steelyard
