#include "miniapps/wave2d/pass_run.hpp"

#include <algorithm>
#include <optional>

#include "core/untouched_array.hpp"

namespace steelyard::wave2d {
namespace {

template <class Execution, class Scalar>
class MiddleSlice : public PassRun {
 public:
  MiddleSlice(const Problem& problem, int steps, std::int64_t rows, Overlap overlap)
      : steps_(steps), middle_(middle_rows(problem, steps, rows)) {
    const std::vector<partition::Rectangle>& slices = middle_.slices;
    if (slices[1].empty()) return;
    points_ = edge_points(middle_.problem, slices, steps)[1];
    unit_.emplace(middle_.problem, slices[1], steps, overlap);
    for (const HaloMessage& message : middle_.messages) {
      if (message.from != 1 && message.to != 1) continue;
      memory_.emplace_back("steelyard::wave2d::halo", static_cast<std::size_t>(message.points()));
      // Numbers that slow no processor down.
      std::fill_n(memory_.back().data(), message.points(), Scalar(0));
      (message.from == 1 ? leaving_ : arrived_).push_back({&message, memory_.back().data()});
    }
  }

  void run() override {
    times_ = {};
    if (!unit_) return;
    unit_->begin(steps_, arrived_, leaving_, times_);
    unit_->finish(steps_, times_);
  }
  std::vector<double> check_run() override {
    if (!unit_) return {};
    const partition::Rectangle& owned = middle_.slices[1];
    const auto points = static_cast<std::size_t>(owned.area());
    const UntouchedArray<Scalar, PinnedMemory> rows("steelyard::wave2d::checked", points);
    for (const Level level : {Level::current, Level::previous}) {
      fill(level, owned, rows.data());
      unit_->load(level, owned, rows.data());
    }
    for (const HaloBuffer<Scalar>& buffer : arrived_) {
      Scalar* data = buffer.data;
      for (const Level level : {Level::current, Level::previous}) {
        const HaloMessage& message = *buffer.message;
        for (const partition::Rectangle& part : level == Level::current ? message.current : message.previous) {
          data = fill(level, part, data);
        }
      }
    }
    run();
    std::vector<double> values;
    for (const Level level : {Level::current, Level::previous}) {
      unit_->store(level, owned, rows.data());
      values.insert(values.end(), rows.data(), rows.data() + points);
    }
    for (const HaloBuffer<Scalar>& buffer : leaving_) {
      values.insert(values.end(), buffer.data, buffer.data + buffer.message->points());
    }
    return values;
  }
  const UnitTimes& times() const override { return times_; }
  const EdgePoints& points() const override { return points_; }

 private:
  /// @return the end of what is filled
  Scalar* fill(Level level, const partition::Rectangle& part, Scalar* data) const {
    for (std::int64_t i = part.row; i < part.end_row(); ++i) {
      for (std::int64_t j = part.column; j < part.end_column(); ++j) {
        *data++ = static_cast<Scalar>(check_input(middle_.problem, level, i, j));
      }
    }
    return data;
  }

  int steps_;
  MiddleRows middle_;
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

MiddleRows middle_rows(Problem problem, int steps, std::int64_t rows) {
  const std::int64_t depth = halo_depth(problem, steps).current;
  problem.rows = rows + 2 * depth;
  MiddleRows middle{
      problem,
      {{0, 0, depth, problem.columns}, {depth, 0, rows, problem.columns}, {depth + rows, 0, depth, problem.columns}},
      {}};
  middle.messages = halo_messages(problem, middle.slices, steps);
  return middle;
}

double check_input(const Problem& problem, Level level, std::int64_t row, std::int64_t column) {
  const double value = static_cast<double>((7 * row + 3 * column) % 11 - 5) / 8.0;
  const bool edge = row == 0 || row == problem.rows - 1 || column == 0 || column == problem.columns - 1;
  if (edge || level == Level::current) return value;
  return value + static_cast<double>((row + 2 * column) % 3 - 1) / 4.0;
}

std::unique_ptr<PassRun> make_pass_run(ProcessingUnit::Kind kind, const Problem& problem, ElementType element,
                                       int steps, std::int64_t rows, Overlap overlap) {
  return element == ElementType::float64 ? make<double>(kind, problem, steps, rows, overlap)
                                         : make<float>(kind, problem, steps, rows, overlap);
}

}  // namespace steelyard::wave2d
