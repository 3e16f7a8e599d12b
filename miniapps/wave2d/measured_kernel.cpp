#include "miniapps/wave2d/measured_kernel.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "core/base/errors.hpp"
#include "miniapps/wave2d/field_slice.hpp"

namespace steelyard::wave2d {
namespace {

constexpr std::int64_t smallest_extent = 3;

template <class Execution, class Scalar>
class StepRun : public KernelRun {
 public:
  /// Rows 1 to `rows` of a grid with one more above and below, so that both borders have a neighbour.
  StepRun(const Problem& problem, std::int64_t rows)
      : slice_(Execution(), {rows + 2, problem.columns, problem.courant, problem.boundary}, {1, rows, 0, 0}) {}

  void run() override {
    slice_.advance_borders(parity_);
    slice_.advance_interior();
    slice_.rotate();
    parity_ = 1 - parity_;
  }

 private:
  FieldSlice<Execution, Scalar> slice_;
  int parity_ = 0;
};

template <class Scalar>
std::unique_ptr<KernelRun> make(ProcessingUnit::Kind kind, const Problem& problem, std::int64_t rows) {
  if (kind == ProcessingUnit::Kind::host) return std::make_unique<StepRun<HostExecution, Scalar>>(problem, rows);
  return std::make_unique<StepRun<CompanionExecution, Scalar>>(problem, rows);
}

}  // namespace

MeasuredKernel::MeasuredKernel(const Problem& problem, ElementType element) : problem_(problem), element_(element) {}

void MeasuredKernel::add_options(CLI::App& parser) {
  parser.add_option("--columns", problem_.columns, "Columns of the grid, the length of a row")
      ->check(CLI::Range(smallest_extent, std::int64_t{1} << 31))
      ->type_name("N")
      ->capture_default_str();
  add_element_option(parser, element_);
}

KernelFacts MeasuredKernel::facts() const {
  const double element_bytes = element_ == ElementType::float64 ? sizeof(double) : sizeof(float);
  const double row_bytes = element_bytes * static_cast<double>(problem_.columns);
  KernelFacts facts;
  facts.app = app();
  facts.kernel = "leap_frog";
  facts.element = element_name(element_);
  facts.computation_unit = "one grid row advanced by one step";
  facts.parameters["columns"] = static_cast<double>(problem_.columns);
  facts.flops_per_unit = 7.0 * static_cast<double>(problem_.columns);
  facts.bytes_per_unit = 3.0 * row_bytes;
  // Two levels, each with two halo rows and up to a page and a half of distance; rows are padded to cache lines. Six
  // buffers hold what crosses to neighbours.
  constexpr double padding_bytes = 128.0;
  constexpr double distance_bytes = 1.5 * 4096.0;
  facts.memory_bytes_per_unit = 2.0 * (row_bytes + padding_bytes);
  facts.memory_bytes_fixed = 2.0 * facts.memory_bytes_per_unit + 2.0 * distance_bytes + 6.0 * row_bytes;
  // From what a core's cache holds to far more than any cache.
  constexpr double largest_bytes = 512.0 * 1024.0 * 1024.0;
  facts.smallest = 16;
  facts.largest = std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / facts.memory_bytes_per_unit));
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  return element_ == ElementType::float64 ? make<double>(kind, problem_, units) : make<float>(kind, problem_, units);
}

}  // namespace steelyard::wave2d
