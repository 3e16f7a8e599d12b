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

/// Says so for the calling thread while it lives.
class UnitScope {
 public:
  UnitScope(CoExecution& co_execution, ProcessingUnit::Kind kind) : before_(unit_of_this_thread) {
    unit_of_this_thread = {&co_execution, kind};
  }
  ~UnitScope() { unit_of_this_thread = before_; }
  UnitScope(const UnitScope&) = delete;
  UnitScope& operator=(const UnitScope&) = delete;

 private:
  UnitOfThread before_;
};

void wait_until(double end_s, bool may_spin) {
  const double sleep_s = end_s - now_s() - (may_spin ? spin_s : 0.0);
  if (sleep_s > 0.0) std::this_thread::sleep_for(std::chrono::duration<double>(sleep_s));
  // A yielding thread may be away for a scheduler's tick, so only where others wait for this core.
  while (now_s() < end_s) {
    if (!may_spin) std::this_thread::yield();
  }
}

/// @param sections_s what the work's timed sections have left once it has ended; nothing where it had none
double timed_run(const CoExecution::Work& work, double slowdown, bool may_spin,
                 const std::optional<double>& sections_s = std::nullopt) {
  const double start_s = now_s();
  work();
  const double busy_s = now_s() - start_s;
  if (sections_s) return *sections_s;
  if (slowdown <= 1.0) return busy_s;
  wait_until(start_s + slowdown * busy_s, may_spin);
  return now_s() - start_s;
}

}  // namespace

/// The companion's thread: runs one callable per ticket.
class CoExecution::Driver {
 public:
  Driver(CoExecution& co_execution, double slowdown, bool may_spin, const std::optional<double>& sections_s)
      : co_execution_(co_execution), slowdown_(slowdown), may_spin_(may_spin), sections_s_(sections_s), thread_([this] {
          serve();
        }) {}

  ~Driver() {
    work_ = nullptr;
    start();
    thread_.join();
  }

  void start(const Work* work) {
    work_ = work;
    start();
  }

  double wait() {
    await(finished_, started_.load());
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    return seconds_;
  }

 private:
  void start() {
    started_.fetch_add(1);
    started_.notify_one();
  }

  void await(std::atomic<std::uint32_t>& counter, std::uint32_t value) const {
    const double sleep_at_s = now_s() + (may_spin_ ? look_s : 0.0);
    for (std::uint32_t seen = counter.load(); seen != value; seen = counter.load()) {
      if (now_s() >= sleep_at_s) counter.wait(seen);
    }
  }

  void serve() {
    const UnitScope scope(co_execution_, ProcessingUnit::Kind::companion);
    for (std::uint32_t ticket = 1;; ++ticket) {
      await(started_, ticket);
      if (work_ == nullptr) return;
      try {
        seconds_ = timed_run(*work_, slowdown_, may_spin_, sections_s_);
      } catch (...) {
        error_ = std::current_exception();
      }
      finished_.fetch_add(1);
      finished_.notify_one();
    }
  }

  CoExecution& co_execution_;
  double slowdown_;
  bool may_spin_;
  const std::optional<double>& sections_s_;
  const Work* work_ = nullptr;
  double seconds_ = 0.0;
  std::exception_ptr error_;
  std::atomic<std::uint32_t> started_{0};
  std::atomic<std::uint32_t> finished_{0};
  std::thread thread_;  // last: it uses everything above
};

CoExecution::CoExecution(const Machine& machine, const RankUnits& units) : units_(units) {
  if (units.host && units.companion) {
    driver_ = std::make_unique<Driver>(*this, units.companion->slowdown, units.may_spin(), companion_sections_s_);
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
  const bool may_spin = units_.may_spin();
  const bool has_host = units_.host.has_value();
  const UnitScope scope(*this, has_host ? ProcessingUnit::Kind::host : ProcessingUnit::Kind::companion);
  UnitSeconds seconds;
  host_sections_s_.reset();
  companion_sections_s_.reset();
  if (driver_) driver_->start(&companion);
  std::exception_ptr own_error;
  try {
    if (has_host) {
      seconds.host_s = timed_run(host, units_.host->slowdown, may_spin, host_sections_s_);
    } else {
      seconds.companion_s = timed_run(companion, units_.companion->slowdown, may_spin, companion_sections_s_);
    }
  } catch (...) {
    own_error = std::current_exception();
  }
  if (driver_) {
    try {
      seconds.companion_s = driver_->wait();
    } catch (...) {
      if (!own_error) throw;
    }
  }
  if (own_error) std::rethrow_exception(own_error);
  return seconds;
}

void CoExecution::timed_section(ProcessingUnit::Kind kind, const Work& work) {
  const bool is_host = kind == ProcessingUnit::Kind::host;
  const std::optional<ProcessingUnit>& unit = is_host ? units_.host : units_.companion;
  std::optional<double>& sections_s = is_host ? host_sections_s_ : companion_sections_s_;
  const double seconds = timed_run(work, unit ? unit->slowdown : 1.0, units_.may_spin());
  sections_s = sections_s.value_or(0.0) + seconds;
}

void CoExecution::timed_section_of_this_thread(const Work& work) {
  const UnitOfThread& unit = unit_of_this_thread;
  if (unit.co_execution == nullptr) {
    work();
  } else {
    unit.co_execution->timed_section(unit.kind, work);
  }
}

}  // namespace steelyard
