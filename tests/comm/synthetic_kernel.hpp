#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "comm/measurement/kernel_measurement.hpp"
#include "core/measurable_kernel.hpp"
#include "core/timing.hpp"

namespace steelyard::tests {

/// Takes at least so long, without a core of its own.
inline void rest(double seconds) {
  const double end_s = now_s() + seconds;
  while (now_s() < end_s) std::this_thread::sleep_for(std::chrono::duration<double>(end_s - now_s()));
}

/// A kernel that does what a test says, and remembers who allocated and ran what. Outlives its instances.
class SyntheticKernel : public MeasurableKernel {
 public:
  using Kind = ProcessingUnit::Kind;

  struct Instance {
    Kind kind = Kind::host;
    std::int64_t units = 0;
    std::thread::id allocated_by;
    std::vector<std::thread::id> run_by;  ///< for each run
  };

  /// What an allocation does; it may throw.
  std::function<void(Kind kind, std::int64_t units)> on_allocate;
  /// What a run does: `run` counts those of an instance from 0.
  std::function<void(Kind kind, std::int64_t units, int run)> on_run;
  KernelFacts known;

  KernelFacts facts() const override { return known; }
  std::unique_ptr<KernelRun> allocate(Kind kind, std::int64_t units) const override {
    if (on_allocate) on_allocate(kind, units);
    const std::lock_guard<std::mutex> lock(mutex_);
    instances_.push_back({kind, units, std::this_thread::get_id(), {}});
    return std::make_unique<Run>(*this, instances_.back());
  }
  // It computes nothing.
  std::vector<ConformanceCase> conformance_cases(Kind /*kind*/) const override { return {}; }
  std::vector<double> reference(std::int64_t /*units*/) const override { return {}; }

  /// All instances that there ever were, in the order of their allocation.
  const std::list<Instance>& instances() const { return instances_; }
  /// Sizes of those on one unit.
  std::vector<std::int64_t> sizes(Kind kind) const {
    std::vector<std::int64_t> all;
    for (const Instance& instance : instances_) {
      if (instance.kind == kind) all.push_back(instance.units);
    }
    return all;
  }
  void forget() { instances_.clear(); }
  int alive() const { return alive_; }

 private:
  class Run : public KernelRun {
   public:
    Run(const SyntheticKernel& kernel, Instance& instance) : kernel_(kernel), instance_(instance) { ++kernel.alive_; }
    ~Run() override { --kernel_.alive_; }
    void run() override {
      if (kernel_.on_run) kernel_.on_run(instance_.kind, instance_.units, static_cast<int>(instance_.run_by.size()));
      instance_.run_by.push_back(std::this_thread::get_id());
    }
    std::vector<double> check_run() override { return {}; }

   private:
    const SyntheticKernel& kernel_;
    Instance& instance_;
  };

  mutable std::mutex mutex_;
  mutable std::list<Instance> instances_;
  mutable std::atomic<int> alive_{0};
};

/// Repetitions of any spread are precise: n times that are not negative have a standard deviation of at most sqrt(n)
/// times their mean, so an interval of at most t_{n-1}, which is below 1 at this level from 3 repetitions on.
inline Precision easily_precise(int repetitions) {
  Precision precision;
  precision.confidence = 0.5;
  precision.relative = 0.99;
  precision.repetitions_min = repetitions;
  precision.repetitions_max = repetitions;
  precision.warmups = 1;
  precision.time_limit_s = 1e6;
  return precision;
}

/// Clocks are never so steady.
inline Precision never_precise(int repetitions) {
  Precision precision = easily_precise(repetitions);
  precision.relative = 1e-12;
  return precision;
}

}  // namespace steelyard::tests
