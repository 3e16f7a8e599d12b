#include "miniapps/wave2d/pass_run.hpp"

#include <algorithm>
#include <optional>
#include <vector>

#include "core/untouched_array.hpp"

namespace steelyard::wave2d {
namespace {

template <class Execution, class Scalar>
class MiddleSlice : public PassRun {
 public:
  MiddleSlice(Problem problem, int steps, std::int64_t rows, Overlap overlap) : steps_(steps) {
    const std::int64_t depth = halo_depth(problem, steps).current;
    problem.rows = rows + 2 * depth;
    const std::vector<partition::Rectangle> slices{
        {0, 0, depth, problem.columns}, {depth, 0, rows, problem.columns}, {depth + rows, 0, depth, problem.columns}};
    messages_ = halo_messages(problem, slices, steps);
    points_ = edge_points(problem, slices, steps)[1];
    unit_.emplace(problem, slices[1], steps, overlap);
    for (const HaloMessage& message : messages_) {
      if (message.from != 1 && message.to != 1) continue;
      memory_.emplace_back("steelyard::wave2d::halo", static_cast<std::size_t>(message.points()));
      // Numbers that slow no processor down.
      std::fill_n(memory_.back().data(), message.points(), Scalar(0));
      (message.from == 1 ? leaving_ : arrived_).push_back({&message, memory_.back().data()});
    }
  }

  void run() override {
    times_ = {};
    unit_->begin(steps_, arrived_, leaving_, times_);
    unit_->finish(steps_, times_);
  }
  const UnitTimes& times() const override { return times_; }
  const EdgePoints& points() const override { return points_; }

 private:
  int steps_;
  std::vector<HaloMessage> messages_;
  EdgePoints points_;
  std::vector<UntouchedArray<Scalar, PinnedMemory>> memory_;
  std::vector<HaloBuffer<Scalar>> leaving_;
  std::vector<HaloBuffer<Scalar>> arrived_;
  std::optional<UnitField<Execution, Scalar>> unit_;
  UnitTimes times_;
};

template <class Scalar>
std::unique_ptr<PassRun> make(ProcessingUnit::Kind kind, const Problem& problem, int steps, std::int64_t rows,
                              Overlap overlap) {
  if (kind == ProcessingUnit::Kind::host) {
    return std::make_unique<MiddleSlice<HostExecution, Scalar>>(problem, steps, rows, overlap);
  }
  return std::make_unique<MiddleSlice<CompanionExecution, Scalar>>(problem, steps, rows, overlap);
}

}  // namespace

std::unique_ptr<PassRun> make_pass_run(ProcessingUnit::Kind kind, const Problem& problem, ElementType element,
                                       int steps, std::int64_t rows, Overlap overlap) {
  return element == ElementType::float64 ? make<double>(kind, problem, steps, rows, overlap)
                                         : make<float>(kind, problem, steps, rows, overlap);
}

}  // namespace steelyard::wave2d
