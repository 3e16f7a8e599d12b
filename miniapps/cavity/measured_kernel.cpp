#include "miniapps/cavity/measured_kernel.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "comm/shared_grid.hpp"
#include "comm/unit_grid.hpp"
#include "comm/unit_group.hpp"
#include "core/typed_options.hpp"
#include "miniapps/cavity/operators.hpp"
#include "miniapps/cavity/solvers/bicgstab.hpp"
#include "miniapps/cavity/solvers/conjugate_gradient.hpp"

namespace steelyard::cavity {
namespace {

/// CG; BiCGSTAB of two components, whose matrix reads the convecting velocity both times that it is applied.
constexpr double bytes_per_cell = ConjugateGradient<HostExecution>::bytes_per_cell +
                                  2.0 * (BiCgStab<HostExecution, 2>::bytes_per_value + 2.0 * sizeof(double));
/// CG: two products with A (13 each), three sums and three updates. BiCGSTAB, of each component: two products with A
/// (22 each), seven sums, and twelve operations in its updates.
constexpr double flops_per_cell = 38.0 + 2.0 * (2.0 * 22.0 + 7.0 * 2.0 + 12.0);
/// What an iteration of both goes through: of BiCGSTAB two components of right side, solution, convecting velocity and
/// five vectors; of CG right side, solution, residual and direction.
constexpr double swept_fields = 20.0;
/// What a time step of the program has.
constexpr double held_fields = 40.0;

/// Right sides that no solver makes shorter work of, and a convecting velocity.
struct FillRightSides {
  RowAccess<1> p;
  RowAccess<2> u, w;

  KOKKOS_FUNCTION void operator()(const std::int64_t j, const std::int64_t i) const {
    const double value = measured_right_side(j, i);
    p(j, i) = value;
    for (int c = 0; c < 2; ++c) {
      u(c, j, i) = value;
      w(c, j, i) = convecting_share * value;
    }
  }
};

template <class Execution>
class IterationRun : public KernelRun {
 public:
  IterationRun(ProcessingUnit::Kind kind, std::int64_t rows, std::int64_t columns)
      : group_(kind),
        shared_(group_, std::array{rows}, columns),
        peer_(group_, kind),
        grid_(peer_, shared_),
        coefficients_(peer_.space(), measured_coefficients(rows, columns)),
        pressure_solver_(grid_),
        pressure_b_(grid_.template field<1>()),
        pressure_(grid_.template field<1>()),
        momentum_solver_(grid_),
        momentum_b_(grid_.template field<2>()),
        velocity_(grid_.template field<2>()),
        convecting_(grid_.template field<2>()) {
    grid_.for_cells("steelyard::cavity::right_side",
                    FillRightSides{pressure_b_.access(), momentum_b_.access(), convecting_.access()});
    // Nothing is ever enough.
    settings_.relative = 0.0;
    settings_.most_iterations = MeasuredKernel::iterations;
    IterationRun::run();
  }

  void run() override {
    IdentityPreconditioner none;
    set_to_zero(grid_, velocity_);
    momentum_solver_.solve(coefficients_.momentum(convecting_.access()), none, momentum_b_, velocity_, settings_);
    set_to_zero(grid_, pressure_);
    pressure_solver_.solve(coefficients_.pressure(), none, pressure_b_, pressure_, settings_);
  }

  /// All that run() computes, for it begins from zeros.
  std::vector<double> check_run() override {
    run();
    std::vector<double> values(static_cast<std::size_t>(3 * shared_.rows() * shared_.columns()));
    double* const u = values.data();
    double* const v = u + shared_.rows() * shared_.columns();
    double* const p = v + shared_.rows() * shared_.columns();
    copy_rows_out(peer_.space(), velocity_, {u, v});
    copy_rows_out(peer_.space(), pressure_, {p});
    return values;
  }

 private:
  UnitGroup group_;
  SharedGrid shared_;
  UnitPeer<Execution> peer_;
  UnitGrid<Execution> grid_;
  UnitCoefficients<Execution> coefficients_;
  ConjugateGradient<Execution> pressure_solver_;
  RowField<Execution> pressure_b_;
  RowField<Execution> pressure_;
  BiCgStab<Execution, 2> momentum_solver_;
  RowField<Execution, 2> momentum_b_;
  RowField<Execution, 2> velocity_;
  RowField<Execution, 2> convecting_;
  SolveSettings settings_;
};

}  // namespace

KernelFacts MeasuredKernel::facts() const {
  const auto columns = static_cast<double>(columns_);
  KernelFacts facts;
  facts.app = "cavity";
  facts.kernel = "linear_solvers";
  facts.element = "double";
  facts.computation_unit = "one row of cells in 3 iterations of BiCGSTAB and of CG";
  facts.parameters["columns"] = columns;
  facts.flops_per_unit = iterations * flops_per_cell * columns;
  facts.bytes_per_unit = iterations * bytes_per_cell * columns;
  facts.memory_bytes_per_unit =
      held_fields * sizeof(double) * static_cast<double>(RowField<HostExecution>::pitch_of(columns_));
  facts.memory_bytes_fixed = 4.0 * facts.memory_bytes_per_unit;
  // From what a core's cache holds to far more than any cache.
  constexpr double largest_bytes = 512.0 * 1024.0 * 1024.0;
  facts.smallest = 16;
  facts.largest =
      std::max<std::int64_t>(64, static_cast<std::int64_t>(largest_bytes / (swept_fields * sizeof(double) * columns)));
  return facts;
}

std::unique_ptr<KernelRun> MeasuredKernel::allocate(ProcessingUnit::Kind kind, std::int64_t units) const {
  if (kind == ProcessingUnit::Kind::host) return std::make_unique<IterationRun<HostExecution>>(kind, units, columns_);
  return std::make_unique<IterationRun<CompanionExecution>>(kind, units, columns_);
}

std::vector<ConformanceCase> MeasuredKernel::conformance_cases(ProcessingUnit::Kind /*kind*/) const {
  ConformanceCase check;
  for (const std::int64_t columns : {17, 64, 203}) check.shapes.push_back(std::make_shared<MeasuredKernel>(columns));
  check.sizes = {0, 1, 7, 40};
  // Compensated sums have no errors to speak of; those of the fields are handed on from iteration to iteration.
  check.tolerance = 64.0;
  check.same_bits = SameBits::any_unit;
  check.timed = std::make_shared<MeasuredKernel>();
  return {check};
}

std::vector<double> MeasuredKernel::reference(std::int64_t units) const {
  return serial_iterations(units, columns_, iterations);
}

}  // namespace steelyard::cavity
