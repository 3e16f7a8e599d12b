#include "miniapps/wave2d/pass_sample.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"
#include "core/base/statistics.hpp"
#include "core/timing.hpp"
#include "miniapps/wave2d/pass_run.hpp"

namespace steelyard::wave2d {
namespace {

constexpr int fewest_passes = 2;
constexpr int most_passes = 5;
constexpr double enough_s = 0.3;

/// As many bytes as the largest caches hold, and borders that are a small part of the whole.
std::int64_t enough_rows(const Session& session, const Problem& problem, ElementType element, int steps) {
  double cache_bytes = 0.0;
  for (const Machine::Cache& cache : session.machine().caches()) {
    cache_bytes = std::max(cache_bytes, static_cast<double>(cache.bytes) * cache.count);
  }
  const double levels = steps == 1 ? 2.0 : 4.0;
  const double element_bytes = element == ElementType::float64 ? sizeof(double) : sizeof(float);
  const double row_bytes = levels * element_bytes * static_cast<double>(problem.columns);
  return std::max(static_cast<std::int64_t>(cache_bytes / row_bytes) + 1, 16 * halo_depth(problem, steps).current);
}

/// One unit's passes and what each took.
class Sampled {
 public:
  void allocate(ProcessingUnit::Kind kind, const Problem& problem, ElementType element, int steps, std::int64_t rows,
                Overlap overlap) {
    if (rows > 0) run_ = make_pass_run(kind, problem, element, steps, rows, overlap);
    rows_ = rows;
  }
  void run() {
    if (run_) run_->run();
  }
  void keep(double pass_s, double slowdown) {
    if (!run_) return;
    passes_s_.push_back(pass_s);
    UnitTimes times = run_->times();
    times *= slowdown;
    unpacking_s_.push_back(times.unpacking_s);
    border_s_.push_back(times.border_s);
    packing_s_.push_back(times.packing_s);
    interior_s_.push_back(times.interior_s);
  }
  UnitSample result() const {
    if (!run_) return {};
    return {rows_,
            median(passes_s_),
            {median(unpacking_s_), median(border_s_), median(packing_s_), median(interior_s_)},
            run_->points()};
  }

 private:
  std::unique_ptr<PassRun> run_;
  std::int64_t rows_ = 0;
  std::vector<double> passes_s_, unpacking_s_, border_s_, packing_s_, interior_s_;
};

}  // namespace

PassSamples sample_passes(const Session& session, CoExecution& co_execution, const RankUnits& units,
                          const Problem& problem, ElementType element, int steps, const UnitSizes& share,
                          Overlap overlap) {
  const std::int64_t most_rows = enough_rows(session, problem, element, steps);
  Sampled host, companion;
  collectively(session.comm(), [&] {
    co_execution.run(
        [&] {
          host.allocate(ProcessingUnit::Kind::host, problem, element, steps, std::min(share.host, most_rows), overlap);
        },
        [&] {
          companion.allocate(ProcessingUnit::Kind::companion, problem, element, steps,
                             std::min(share.companion, most_rows), overlap);
        });
  });
  double spent_s = 0.0;
  // The first one touches caches and wakes threads.
  for (int pass = -1; pass < most_passes; ++pass) {
    STEELYARD_MPI(MPI_Barrier(session.comm()));
    const double start_s = now_s();
    const UnitSeconds seconds = co_execution.run([&] { host.run(); }, [&] { companion.run(); });
    const double pass_s = all_max(session.comm(), now_s() - start_s);
    if (pass < 0) continue;
    host.keep(seconds.host_s, units.host ? units.host->slowdown : 1.0);
    companion.keep(seconds.companion_s, units.companion ? units.companion->slowdown : 1.0);
    spent_s += pass_s;
    if (pass + 1 >= fewest_passes && spent_s > enough_s) break;
  }
  return {host.result(), companion.result()};
}

}  // namespace steelyard::wave2d
