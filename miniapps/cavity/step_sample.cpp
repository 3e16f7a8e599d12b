#include "miniapps/cavity/step_sample.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "comm/collective.hpp"
#include "core/timing.hpp"
#include "miniapps/cavity/flow.hpp"

namespace steelyard::cavity {
namespace {

constexpr int fewest_steps = 2;
constexpr int most_sampled_steps = 6;
constexpr double enough_s = 0.5;

/// As many as make CG's four fields, the least that goes through memory again and again, larger than any cache.
std::int64_t enough_rows(const Session& session, const Problem& problem) {
  double cache_bytes = 0.0;
  for (const Machine::Cache& cache : session.machine().caches()) {
    cache_bytes = std::max(cache_bytes, static_cast<double>(cache.bytes) * cache.count);
  }
  const double row_bytes = 4.0 * sizeof(double) * static_cast<double>(problem.columns);
  return std::max<std::int64_t>(64, static_cast<std::int64_t>(cache_bytes / row_bytes) + 1);
}

/// One unit's steps.
class Sampled {
 public:
  Sampled(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows, std::int64_t most_rows)
      : kind_(kind), problem_(problem), scale_(1.0) {
    problem_.rows = std::min(rows, most_rows);
    if (rows <= 0) return;
    problem_.height = problem.dy() * static_cast<double>(problem_.rows);
    scale_ = static_cast<double>(rows) / static_cast<double>(problem_.rows);
  }

  /// To be called by the unit's own thread, as the next.
  void allocate(const Numerics& numerics) {
    if (problem_.rows > 0) flow_ = std::make_unique<Flow>(kind_, problem_, numerics);
  }
  /// The first step touches memory and wakes threads.
  void run() {
    if (!flow_) return;
    FlowTimes first;
    flow_->step(first);
    const double start_s = now_s();
    while (steps_ < fewest_steps || (steps_ < most_sampled_steps && now_s() - start_s < enough_s)) {
      const StepReport report = flow_->step(times_);
      ++steps_;
      momentum_ += report.momentum.iterations;
      for (const SolveReport& solve : report.pressure) pressure_ += solve.iterations;
    }
  }

  UnitWork work() const {
    if (steps_ == 0) return {};
    const double rest_s = times_.total_s - times_.momentum.total_s - times_.pressure.total_s;
    return {scale_ * times_.momentum.total_s / std::max(1.0, momentum_),
            scale_ * times_.pressure.total_s / std::max(1.0, pressure_), scale_ * rest_s / steps_};
  }
  double momentum_iterations() const { return steps_ > 0 ? momentum_ / steps_ : 0.0; }
  double pressure_iterations() const { return steps_ > 0 ? pressure_ / steps_ : 0.0; }

  void add_meetings(StepSample& sample) const {
    if (steps_ == 0) return;
    UnitGroup::Meetings rest = times_.meetings;
    rest -= times_.momentum.meetings;
    rest -= times_.pressure.meetings;
    sample.momentum = each(times_.momentum.meetings, std::max(1.0, momentum_));
    sample.pressure = each(times_.pressure.meetings, std::max(1.0, pressure_));
    sample.rest = each(rest, steps_);
  }

 private:
  static Meetings each(const UnitGroup::Meetings& all, double of) {
    return {static_cast<double>(all.sums) / of, static_cast<double>(all.exchanges) / of,
            static_cast<double>(all.halo_bytes) / of};
  }

  ProcessingUnit::Kind kind_;
  Problem problem_;
  double scale_;
  std::unique_ptr<Flow> flow_;
  FlowTimes times_;
  int steps_ = 0;
  double momentum_ = 0.0;
  double pressure_ = 0.0;
};

}  // namespace

StepSample sample_steps(const Session& session, CoExecution& co_execution, const Problem& problem,
                        const Numerics& numerics, const UnitSizes& share) {
  const std::int64_t most_rows = enough_rows(session, problem);
  Sampled host(ProcessingUnit::Kind::host, problem, share.host, most_rows);
  Sampled companion(ProcessingUnit::Kind::companion, problem, share.companion, most_rows);
  collectively(session.comm(), [&] {
    co_execution.run([&] { host.allocate(numerics); }, [&] { companion.allocate(numerics); });
    co_execution.run([&] { host.run(); }, [&] { companion.run(); });
  });
  StepSample sample;
  sample.host = host.work();
  sample.companion = companion.work();
  const std::vector<double> iterations =
      all_max(session.comm(), {std::max(host.momentum_iterations(), companion.momentum_iterations()),
                               std::max(host.pressure_iterations(), companion.pressure_iterations())});
  sample.momentum_iterations = iterations[0];
  sample.pressure_iterations = iterations[1];
  companion.add_meetings(sample);
  host.add_meetings(sample);
  const std::vector<double> meetings =
      all_max(session.comm(), {sample.momentum.sums, sample.momentum.exchanges, sample.momentum.halo_bytes,
                               sample.pressure.sums, sample.pressure.exchanges, sample.pressure.halo_bytes,
                               sample.rest.sums, sample.rest.exchanges, sample.rest.halo_bytes});
  sample.momentum = {meetings[0], meetings[1], meetings[2]};
  sample.pressure = {meetings[3], meetings[4], meetings[5]};
  sample.rest = {meetings[6], meetings[7], meetings[8]};
  return sample;
}

}  // namespace steelyard::cavity
