#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/measurable_kernel.hpp"
#include "core/memory/untouched_array.hpp"
#include "core/options.hpp"
#include "miniapps/wave2d/plan.hpp"
#include "miniapps/wave2d/unit_field.hpp"

namespace steelyard::wave2d {
namespace {

using partition::Rectangle;

/// A point of the field that check_run() begins with, from -1 to 1, which float holds exactly. Edges, whose values a
/// boundary may hold, are the same in both levels.
double check_input(const Problem& problem, Level level, std::int64_t row, std::int64_t column) {
  const double value = static_cast<double>((7 * row + 3 * column) % 11 - 5) / 8.0;
  if (is_edge(problem, row, column) || level == Level::current) return value;
  return value + static_cast<double>((row + 2 * column) % 3 - 1) / 4.0;
}

template <class Execution, class Scalar>
class MiddleSlice : public KernelRun {
 public:
  MiddleSlice(const Problem& problem, int steps, std::int64_t rows)
      : steps_(steps),
        middle_(middle_rows(problem, rows, steps)),
        messages_(halo_messages(middle_.problem, middle_.slices, steps)),
        unit_(Execution(), middle_.problem, middle_.slices[1], steps, Overlap::full) {
    for (const HaloMessage& message : messages_) {
      if (message.from != 1 && message.to != 1) continue;
      memory_.emplace_back("steelyard::wave2d::halo", static_cast<std::size_t>(message.points()));
      // Numbers that slow no processor down.
      std::fill_n(memory_.back().data(), message.points(), Scalar(0));
      (message.from == 1 ? leaving_ : arrived_).push_back({&message, memory_.back().data()});
    }
  }

  void run() override {
    UnitTimes times;
    unit_.begin(steps_, arrived_, leaving_, times);
    unit_.finish(steps_, times);
    parts_s_ = {times.unpacking_s, times.border_s, times.packing_s};
  }
  std::span<const double> parts_s() const override { return parts_s_; }
  std::vector<double> check_run() override {
    const Rectangle& owned = middle_.slices[1];
    const auto points = static_cast<std::size_t>(owned.area());
    const UntouchedArray<Scalar, PinnedMemory> rows("steelyard::wave2d::checked", points);
    for (const Level level : {Level::current, Level::previous}) {
      fill(level, owned, rows.data());
      unit_.load(level, owned, rows.data());
    }
    for (const HaloBuffer<Scalar>& buffer : arrived_) {
      Scalar* data = buffer.data;
      for (const auto& [level, part] : buffer.message->parts) data = fill(level, part, data);
    }
    run();
    std::vector<double> values;
    for (const Level level : {Level::current, Level::previous}) {
      unit_.store(level, owned, rows.data());
      values.insert(values.end(), rows.data(), rows.data() + points);
    }
    for (const HaloBuffer<Scalar>& buffer : leaving_) {
      values.insert(values.end(), buffer.data, buffer.data + buffer.message->points());
    }
    return values;
  }

 private:
  /// @return the end of what is filled
  Scalar* fill(Level level, const Rectangle& part, Scalar* data) const {
    for_points(part, [&](std::int64_t i, std::int64_t j) {
      *data++ = static_cast<Scalar>(check_input(middle_.problem, level, i, j));
    });
    return data;
  }

  int steps_;
  MiddleRows middle_;
  std::vector<HaloMessage> messages_;  ///< that the unit sends or takes, among others
  std::vector<UntouchedArray<Scalar, PinnedMemory>> memory_;
  std::vector<HaloBuffer<Scalar>> leaving_;
  std::vector<HaloBuffer<Scalar>> arrived_;
  UnitField<Execution, Scalar> unit_;
  std::array<double, 3> parts_s_{};
};

/// The field after a step in more than double precision: see Stencil. Beyond the ends of a row or a column it is even
/// about them (Neumann), or odd about their values.
std::vector<long double> next_level(const Problem& problem, const std::vector<long double>& previous,
                                    const std::vector<long double>& current) {
  std::vector<long double> next = current;
  const auto second_difference = [&](std::int64_t first, std::int64_t stride, std::int64_t extent, std::int64_t at) {
    const auto u = [&](std::int64_t n) -> long double {
      const auto value = [&](std::int64_t k) { return current[static_cast<std::size_t>(first + k * stride)]; };
      if (n >= 0 && n < extent) return value(n);
      const std::int64_t end = n < 0 ? 0 : extent - 1;
      return problem.boundary == Boundary::neumann ? value(2 * end - n) : 2.0L * value(end) - value(2 * end - n);
    };
    if (problem.order == 2) return u(at - 1) - 2.0L * u(at) + u(at + 1);
    return (-u(at - 2) + 16.0L * u(at - 1) - 30.0L * u(at) + 16.0L * u(at + 1) - u(at + 2)) / 12.0L;
  };
  for_points({0, 0, problem.rows, problem.columns}, [&](std::int64_t i, std::int64_t j) {
    if (is_edge(problem, i, j) && problem.boundary == Boundary::dirichlet) return;
    const auto at = static_cast<std::size_t>(i * problem.columns + j);
    next[at] = 2.0L * current[at] - previous[at] +
               problem.courant * problem.courant *
                   (second_difference(i * problem.columns, 1, problem.columns, j) +
                    second_difference(j, problem.columns, problem.rows, i));
  });
  return next;
}

/// Kernel of pass_kernel(). Its check_run() returns the unit's rows of the current level, those of the previous one,
/// and the messages that leave.
class MeasuredKernel : public MeasurableKernel {
 public:
  MeasuredKernel(const Problem& problem, ElementType element, int time_tile)
      : problem_(problem), element_(element), time_tile_(time_tile) {}

  KernelFacts facts() const override {
    const double row_bytes = element_bytes(element_) * static_cast<double>(problem_.columns);
    KernelFacts facts;
    facts.app = "wave2d";
    facts.kernel = "leap_frog";
    facts.element = element_name(element_);
    facts.computation_unit = time_tile_ == 1 ? std::string("one grid row advanced by one step")
                                             : fmt::format("one grid row advanced by {} steps", time_tile_);
    facts.parameters["columns"] = static_cast<double>(problem_.columns);
    facts.parameters["order"] = problem_.order;
    facts.parameters["time_tile"] = time_tile_;
    facts.parts = {"unpacking", "border", "packing"};
    const double levels = levels_held(time_tile_);
    const double flops_per_point = problem_.order == 2 ? 7.0 : 12.0;
    facts.flops_per_unit = flops_per_point * time_tile_ * static_cast<double>(problem_.columns);
    facts.bytes_per_unit = bytes_per_point(element_bytes(element_), time_tile_) * static_cast<double>(problem_.columns);
    // Levels with halos and up to a page and a half of distance, in huge pages; rows are padded to cache lines. Buffers
    // hold the messages of two neighbours.
    constexpr double padding_bytes = 128.0;
    constexpr double distance_bytes = 1.5 * 4096.0;
    const std::int64_t depth = halo_depth(problem_, time_tile_);
    const double halo_rows = 2.0 * static_cast<double>(depth);
    const double buffer_rows = 4.0 * static_cast<double>(depth + halo_depth(problem_, time_tile_ - 1));
    facts.memory_bytes_per_unit = levels * (row_bytes + padding_bytes);
    facts.memory_bytes_fixed = halo_rows * facts.memory_bytes_per_unit + levels * distance_bytes +
                               buffer_rows * row_bytes + 2.0 * static_cast<double>(huge_page_bytes);
    facts.set_sizes_up_to(512.0 * 1024.0 * 1024.0);
    return facts;
  }

  std::unique_ptr<KernelRun> allocate(ProcessingUnit::Kind kind, std::int64_t units) const override {
    return with_element(element_, [&]<class Scalar>(Scalar) {
      return with_space(kind, [&]<class Execution>(const Execution&) -> std::unique_ptr<KernelRun> {
        return std::make_unique<MiddleSlice<Execution, Scalar>>(problem_, time_tile_, units);
      });
    });
  }

  std::vector<ConformanceCase> conformance_cases(ProcessingUnit::Kind kind) const override {
    std::vector<ConformanceCase> cases;
    for (const ElementType element : {ElementType::float64, ElementType::float32}) {
      for (const int order : {2, 4}) {
        for (const int steps : {1, 4}) {
          ConformanceCase check;
          check.options = fmt::format("--type {} --order {} --time-tile {}", element_name(element), order, steps);
          for (const Boundary boundary : {Boundary::dirichlet, Boundary::neumann}) {
            for (const std::int64_t columns : {smallest_extent, std::int64_t{61}, std::int64_t{1100}}) {
              const Problem problem{0, columns, 0.5, boundary, order};
              check.shapes.push_back(pass_kernel(problem, element, steps));
            }
          }
          check.sizes = {0, 1, 33};
          check.tolerance = accumulated_roundings(steps);
          // Compilers of devices may fuse operations that others do not.
          const bool on_host = kind == ProcessingUnit::Kind::host || !companion_is_device;
          check.same_bits = on_host ? SameBits::any_unit : SameBits::again;
          check.timed = pass_kernel({0, 2048, 0.5, Boundary::dirichlet, order}, element, steps);
          cases.push_back(std::move(check));
        }
      }
    }
    return cases;
  }

  std::vector<double> reference(std::int64_t units) const override {
    const MiddleRows middle = middle_rows(problem_, units, time_tile_);
    const Problem& problem = middle.problem;
    std::vector<long double> previous, current;
    for_points({0, 0, problem.rows, problem.columns}, [&](std::int64_t i, std::int64_t j) {
      previous.push_back(check_input(problem, Level::previous, i, j));
      current.push_back(check_input(problem, Level::current, i, j));
    });
    for (int step = 0; step < time_tile_; ++step) {
      previous = next_level(problem, previous, current);
      std::swap(previous, current);
    }
    std::vector<double> values;
    const auto append = [&](Level level, const Rectangle& part) {
      const std::vector<long double>& field = level == Level::current ? current : previous;
      for_points(part, [&](std::int64_t i, std::int64_t j) {
        values.push_back(static_cast<double>(field[static_cast<std::size_t>(i * problem.columns + j)]));
      });
    };
    append(Level::current, middle.slices[1]);
    append(Level::previous, middle.slices[1]);
    for (const HaloMessage& message : halo_messages(problem, middle.slices, time_tile_)) {
      if (message.from != 1) continue;
      for (const auto& [level, part] : message.parts) append(level, part);
    }
    return values;
  }

 private:
  Problem problem_;
  ElementType element_;
  int time_tile_;  ///< steps of a pass
};

}  // namespace

std::shared_ptr<MeasurableKernel> pass_kernel(const Problem& problem, ElementType element, int time_tile) {
  return std::make_shared<MeasuredKernel>(problem, element, time_tile);
}

}  // namespace steelyard::wave2d
