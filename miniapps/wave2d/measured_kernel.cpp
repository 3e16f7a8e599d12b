#include "miniapps/wave2d/measured_kernel.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/errors.hpp"
#include "core/huge_pages.hpp"
#include "miniapps/wave2d/halo_plan.hpp"
#include "miniapps/wave2d/pass_run.hpp"
#include "miniapps/wave2d/scheme_options.hpp"

namespace steelyard::wave2d {

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

}  // namespace steelyard::wave2d
