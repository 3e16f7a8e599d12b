#include "miniapps/cavity/measured_kernel.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <vector>

#include "comm/unit_group.hpp"
#include "core/host_copy.hpp"
#include "miniapps/cavity/conjugate_gradient.hpp"
#include "miniapps/cavity/identity_preconditioner.hpp"
#include "miniapps/cavity/pressure_operator.hpp"
#include "miniapps/cavity/shared_grid.hpp"
#include "miniapps/cavity/unit_grid.hpp"

namespace steelyard::cavity {
namespace {

constexpr double bytes_per_cell = ConjugateGradient<HostExecution>::bytes_per_cell;
/// Two products with A (13 each), three sums and three updates.
constexpr double flops_per_cell = 38.0;
/// x, b, r and p, and what a time step of the program has besides.
constexpr double fields = 40.0;
constexpr std::int64_t smallest_extent = 2;

template <class Execution>
class IterationRun : public KernelRun {
 public:
  IterationRun(ProcessingUnit::Kind kind, std::int64_t rows, std::int64_t columns)
      : group_(kind),
        shared_(group_, std::array{rows}, columns),
        peer_(group_, kind),
        grid_(peer_, shared_),
        // Faces and weights of a uniform grid: all that matters is that there is a number for each.
        ones_(Kokkos::view_alloc(peer_.space(), Kokkos::WithoutInitializing, "steelyard::cavity::ones"),
              static_cast<std::size_t>(std::max(rows, columns) + 1)),
        solver_(grid_),
        b_(grid_.template field<1>()),
        x_(grid_.template field<1>()) {
    const std::vector<double> ones(ones_.size(), 1.0);
    copy_from_host(peer_.space(), ones_.data(), ones.data(), ones.size());
    fill_right_side();
    // Nothing is ever enough.
    settings_.relative = 0.0;
    settings_.most_iterations = MeasuredKernel::iterations;
    IterationRun::run();
  }

  void run() override {
    const auto x = x_.access();
    grid_.for_cells(
        "steelyard::cavity::zero", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) { x(j, i) = 0.0; });
    const double* const ones = ones_.data();
    IdentityPreconditioner none;
    solver_.solve(PressureOperator{{ones, 1.0}, ones, ones, {ones, 1.0}}, none, b_, x_, settings_);
  }

  /// Public for its kernel's sake.
  void fill_right_side() {
    const auto b = b_.access();
    grid_.for_cells(
        "steelyard::cavity::right_side", KOKKOS_LAMBDA(const std::int64_t j, const std::int64_t i) {
          b(j, i) = static_cast<double>((7 * j + 3 * i) % 11) - 5.0;
        });
  }

 private:
  UnitGroup group_;
  SharedGrid shared_;
  UnitPeer<Execution> peer_;
  UnitGrid<Execution> grid_;
  Kokkos::View<double*, DeviceOf<Execution>> ones_;
  ConjugateGradient<Execution> solver_;
  RowField<Execution> b_;
  RowField<Execution> x_;
  SolveSettings settings_;
};

}  // namespace

void MeasuredKernel::add_options(CLI::App& parser) {
  parser.add_option("--columns", columns_, "Columns of cells, the length of a row")
      ->check(CLI::Range(smallest_extent, std::int64_t{1} << 31))
      ->type_name("N")
      ->capture_default_str();
}

KernelFacts MeasuredKernel::facts() const {
  const auto columns = static_cast<double>(columns_);
  KernelFacts facts;
  facts.app = app();
  facts.kernel = "conjugate_gradient";
  facts.element = "double";
  facts.computation_unit = "one row of cells in 10 iterations";
  facts.parameters["columns"] = columns;
  facts.flops_per_unit = iterations * flops_per_cell * columns;
  facts.bytes_per_unit = iterations * bytes_per_cell * columns;
  facts.memory_bytes_per_unit =
      fields * sizeof(double) * static_cast<double>(RowField<HostExecution>::pitch_of(columns_));
  facts.memory_bytes_fixed = 4.0 * facts.memory_bytes_per_unit;
  // From what a core's cache holds to far more than any cache.
  constexpr double largest_bytes = 512.0 * 1024.0 * 1024.0;
  facts.smallest = 16;
  facts.largest =
      std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / (4.0 * sizeof(double) * columns)));
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  if (kind == ProcessingUnit::Kind::host) return std::make_unique<IterationRun<HostExecution>>(kind, units, columns_);
  return std::make_unique<IterationRun<CompanionExecution>>(kind, units, columns_);
}

}  // namespace steelyard::cavity
