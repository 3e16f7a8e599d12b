#include "miniapps/gemm/out_of_core/engine_timeline.hpp"

#include <algorithm>

namespace steelyard::gemm {
namespace {

struct Interval {
  double start_s = 0.0;
  double end_s = 0.0;
};

/// Disjoint intervals, in order, of the operations that `counts` is true of.
template <class Counts>
std::vector<Interval> busy(const std::vector<EngineOperation>& operations, const Counts& counts) {
  std::vector<Interval> all;
  for (const EngineOperation& operation : operations) {
    if (counts(operation.engine)) all.push_back({operation.start_s, operation.end_s});
  }
  std::sort(all.begin(), all.end(), [](const Interval& x, const Interval& y) { return x.start_s < y.start_s; });
  std::vector<Interval> disjoint;
  for (const Interval& interval : all) {
    if (disjoint.empty() || interval.start_s > disjoint.back().end_s) {
      disjoint.push_back(interval);
    } else {
      disjoint.back().end_s = std::max(disjoint.back().end_s, interval.end_s);
    }
  }
  return disjoint;
}

double length(const std::vector<Interval>& intervals) {
  double total_s = 0.0;
  for (const Interval& interval : intervals) total_s += interval.end_s - interval.start_s;
  return total_s;
}

double common_length(const std::vector<Interval>& x, const std::vector<Interval>& y) {
  double total_s = 0.0;
  auto in_y = y.begin();
  for (const Interval& interval : x) {
    while (in_y != y.end() && in_y->end_s <= interval.start_s) ++in_y;
    for (auto next = in_y; next != y.end() && next->start_s < interval.end_s; ++next) {
      total_s += std::min(next->end_s, interval.end_s) - std::max(next->start_s, interval.start_s);
    }
  }
  return total_s;
}

}  // namespace

TransferOverlap transfer_overlap(const std::vector<EngineOperation>& operations) {
  const std::vector<Interval> transfers = busy(operations, [](Engine engine) { return engine != Engine::multiplying; });
  const std::vector<Interval> multiplications =
      busy(operations, [](Engine engine) { return engine == Engine::multiplying; });
  TransferOverlap overlap;
  if (operations.empty()) return overlap;
  double first_s = operations.front().start_s;
  double last_s = operations.front().end_s;
  for (const EngineOperation& operation : operations) {
    first_s = std::min(first_s, operation.start_s);
    last_s = std::max(last_s, operation.end_s);
  }
  overlap.run_s = last_s - first_s;
  overlap.transfer_s = length(transfers);
  overlap.hidden_s = common_length(transfers, multiplications);
  return overlap;
}

}  // namespace steelyard::gemm
