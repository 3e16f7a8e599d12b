#include "miniapps/wave2d/measured_kernel.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/errors.hpp"
#include "core/huge_pages.hpp"
#include "miniapps/wave2d/halo_plan.hpp"
#include "miniapps/wave2d/pass_run.hpp"
#include "miniapps/wave2d/scheme_options.hpp"

namespace steelyard::wave2d {
namespace {

/// D u along a row or a column of `extent` points, u(n) its values: see Stencil. Beyond the ends the field is even
/// about them (Neumann), or odd about their values.
template <class Line>
long double second_difference(const Line& line, std::int64_t extent, std::int64_t at, const Problem& problem) {
  const auto u = [&](std::int64_t n) -> long double {
    if (n >= 0 && n < extent) return line(n);
    const std::int64_t end = n < 0 ? 0 : extent - 1;
    const long double mirrored = line(2 * end - n);
    return problem.boundary == Boundary::neumann ? mirrored : 2.0L * line(end) - mirrored;
  };
  if (problem.order == 2) return u(at - 1) - 2.0L * u(at) + u(at + 1);
  return (-u(at - 2) + 16.0L * u(at - 1) - 30.0L * u(at) + 16.0L * u(at + 1) - u(at + 2)) / 12.0L;
}

/// One step of the scheme on the whole grid.
std::vector<long double> next_level(const Problem& problem, const std::vector<long double>& previous,
                                    const std::vector<long double>& current) {
  const auto index = [&](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(i * problem.columns + j); };
  std::vector<long double> next = current;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    for (std::int64_t j = 0; j < problem.columns; ++j) {
      const bool edge = i == 0 || i == problem.rows - 1 || j == 0 || j == problem.columns - 1;
      if (edge && problem.boundary == Boundary::dirichlet) continue;
      const auto along_row = [&](std::int64_t n) { return current[index(i, n)]; };
      const auto along_column = [&](std::int64_t n) { return current[index(n, j)]; };
      next[index(i, j)] = 2.0L * current[index(i, j)] - previous[index(i, j)] +
                          problem.courant * problem.courant *
                              (second_difference(along_row, problem.columns, j, problem) +
                               second_difference(along_column, problem.rows, i, problem));
    }
  }
  return next;
}

}  // namespace

MeasuredKernel::MeasuredKernel(const Problem& problem, ElementType element, int time_tile)
    : problem_(problem), element_(element), time_tile_(time_tile) {}

void MeasuredKernel::add_options(CLI::App& parser) {
  parser.add_option("--columns", problem_.columns, "Columns of the grid, the length of a row")
      ->check(CLI::Range(smallest_extent, std::int64_t{1} << 31))
      ->type_name("N")
      ->capture_default_str();
  add_element_option(parser, element_);
  add_order_option(parser, problem_.order);
  parser.add_option("--time-tile", time_tile_, "Steps of a pass over memory")
      ->check(CLI::Range(1, most_steps_per_pass))
      ->type_name("K")
      ->capture_default_str();
}

KernelFacts MeasuredKernel::facts() const {
  const double element_bytes = element_ == ElementType::float64 ? sizeof(double) : sizeof(float);
  const double row_bytes = element_bytes * static_cast<double>(problem_.columns);
  KernelFacts facts;
  facts.app = app();
  facts.kernel = "leap_frog";
  facts.element = element_name(element_);
  facts.computation_unit = time_tile_ == 1 ? std::string("one grid row advanced by one step")
                                           : fmt::format("one grid row advanced by {} steps", time_tile_);
  facts.parameters["columns"] = static_cast<double>(problem_.columns);
  facts.parameters["order"] = problem_.order;
  facts.parameters["time_tile"] = time_tile_;
  const double levels = time_tile_ == 1 ? 2.0 : 4.0;
  facts.flops_per_unit = flops_per_point(problem_.order) * time_tile_ * static_cast<double>(problem_.columns);
  facts.bytes_per_unit = bytes_per_point(element_bytes, time_tile_) * static_cast<double>(problem_.columns);
  // Levels with halos and up to a page and a half of distance, in huge pages; rows are padded to cache lines. Buffers
  // hold what crosses to two neighbours.
  constexpr double padding_bytes = 128.0;
  constexpr double distance_bytes = 1.5 * 4096.0;
  const HaloDepth depth = halo_depth(problem_, time_tile_);
  const double halo_rows = 2.0 * static_cast<double>(depth.current);
  const double buffer_rows = 4.0 * static_cast<double>(depth.current + depth.previous);
  facts.memory_bytes_per_unit = levels * (row_bytes + padding_bytes);
  facts.memory_bytes_fixed = halo_rows * facts.memory_bytes_per_unit + levels * distance_bytes +
                             buffer_rows * row_bytes + 2.0 * static_cast<double>(huge_page_bytes);
  // From what a core's cache holds to far more than any cache.
  constexpr double largest_bytes = 512.0 * 1024.0 * 1024.0;
  facts.smallest = 16;
  facts.largest = std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / facts.memory_bytes_per_unit));
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  return make_pass_run(kind, problem_, element_, time_tile_, units, Overlap::full);
}

std::vector<ConformanceCase> MeasuredKernel::conformance_cases(ProcessingUnit::Kind kind) const {
  std::vector<ConformanceCase> cases;
  for (const ElementType element : {ElementType::float64, ElementType::float32}) {
    for (const int order : {2, 4}) {
      for (const int steps : {1, 4}) {
        ConformanceCase check;
        check.options = fmt::format("--type {} --order {} --time-tile {}", element_name(element), order, steps);
        for (const Boundary boundary : {Boundary::dirichlet, Boundary::neumann}) {
          for (const std::int64_t columns : {smallest_extent, std::int64_t{61}, std::int64_t{1100}}) {
            const Problem problem{0, columns, 0.5, boundary, order};
            check.shapes.push_back(std::make_shared<MeasuredKernel>(problem, element, steps));
          }
        }
        check.sizes = {0, 1, 33};
        // A random walk that the scheme carries on.
        check.tolerance = 16.0 + 8.0 * steps * std::sqrt(static_cast<double>(steps));
        // Compilers of devices may fuse what others do not.
        const bool on_host = kind == ProcessingUnit::Kind::host || !companion_is_device;
        check.same_bits = on_host ? SameBits::any_unit : SameBits::again;
        Problem timed = MeasuredKernel().problem_;
        timed.order = order;
        check.timed = std::make_shared<MeasuredKernel>(timed, element, steps);
        cases.push_back(std::move(check));
      }
    }
  }
  return cases;
}

std::vector<double> MeasuredKernel::reference(std::int64_t units) const {
  if (units == 0) return {};
  const MiddleRows middle = middle_rows(problem_, time_tile_, units);
  const Problem& problem = middle.problem;
  std::vector<long double> previous, current;
  for (std::int64_t i = 0; i < problem.rows; ++i) {
    for (std::int64_t j = 0; j < problem.columns; ++j) {
      previous.push_back(check_input(problem, Level::previous, i, j));
      current.push_back(check_input(problem, Level::current, i, j));
    }
  }
  for (int step = 0; step < time_tile_; ++step) {
    previous = next_level(problem, previous, current);
    std::swap(previous, current);
  }
  std::vector<double> values;
  const auto append = [&](Level level, const partition::Rectangle& part) {
    const std::vector<long double>& field = level == Level::current ? current : previous;
    for (std::int64_t i = part.row; i < part.end_row(); ++i) {
      for (std::int64_t j = part.column; j < part.end_column(); ++j) {
        values.push_back(static_cast<double>(field[static_cast<std::size_t>(i * problem.columns + j)]));
      }
    }
  };
  append(Level::current, middle.slices[1]);
  append(Level::previous, middle.slices[1]);
  for (const HaloMessage& message : middle.messages) {
    if (message.from != 1) continue;
    for (const partition::Rectangle& part : message.current) append(Level::current, part);
    for (const partition::Rectangle& part : message.previous) append(Level::previous, part);
  }
  return values;
}

}  // namespace steelyard::wave2d
