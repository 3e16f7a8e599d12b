#include "miniapps/cavity/measured_kernel.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <vector>

#include "comm/unit_group.hpp"
#include "core/host_copy.hpp"
#include "core/untouched_array.hpp"
#include "miniapps/cavity/bicgstab.hpp"
#include "miniapps/cavity/conjugate_gradient.hpp"
#include "miniapps/cavity/identity_preconditioner.hpp"
#include "miniapps/cavity/measured_system.hpp"
#include "miniapps/cavity/momentum_operator.hpp"
#include "miniapps/cavity/pressure_operator.hpp"
#include "miniapps/cavity/shared_grid.hpp"
#include "miniapps/cavity/unit_grid.hpp"

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
constexpr std::int64_t smallest_extent = 2;

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
        coefficients_(rows, columns),
        coefficient_memory_(
            Kokkos::view_alloc(peer_.space(), Kokkos::WithoutInitializing, "steelyard::cavity::coefficients"),
            coefficients_.all.size()),
        pressure_solver_(grid_),
        pressure_b_(grid_.template field<1>()),
        pressure_(grid_.template field<1>()),
        momentum_solver_(grid_),
        momentum_b_(grid_.template field<2>()),
        velocity_(grid_.template field<2>()),
        convecting_(grid_.template field<2>()) {
    copy_coefficients();
    grid_.for_cells("steelyard::cavity::right_side",
                    FillRightSides{pressure_b_.access(), momentum_b_.access(), convecting_.access()});
    // Nothing is ever enough.
    settings_.relative = 0.0;
    settings_.most_iterations = MeasuredKernel::iterations;
    IterationRun::run();
  }

  void run() override {
    const double* const all = coefficient_memory_.data();
    const double* const ones = all + coefficients_.ones;
    const double* const diagonal = all + coefficients_.diagonal;
    const double* const row_faces = all + coefficients_.row_faces;
    const ColumnValues column_ones{ones, 1.0};
    const ColumnFaces column_faces{all + coefficients_.column_faces, 1.0};
    IdentityPreconditioner none;
    set_to_zero(grid_, velocity_);
    const MomentumOperator momentum{convecting_.access(),
                                    diagonal,
                                    {diagonal, Coefficients::diagonal_value},
                                    row_faces,
                                    column_faces,
                                    column_ones,
                                    ones,
                                    1.0,
                                    1.0,
                                    0.25,
                                    0.25};
    momentum_solver_.solve(momentum, none, momentum_b_, velocity_, settings_);
    set_to_zero(grid_, pressure_);
    pressure_solver_.solve(PressureOperator{column_faces, ones, row_faces, column_ones}, none, pressure_b_, pressure_,
                           settings_);
  }

  /// All that run() computes, for it begins from zeros.
  std::vector<double> check_run() override {
    run();
    std::vector<double> values;
    append(velocity_, values);
    append(pressure_, values);
    return values;
  }

 private:
  void copy_coefficients() {
    const std::size_t count = coefficients_.all.size();
    const UntouchedArray<double, PinnedMemory> pinned("steelyard::cavity::coefficients", count);
    std::copy_n(coefficients_.all.data(), count, pinned.data());
    copy_from_host(peer_.space(), coefficient_memory_.data(), static_cast<const double*>(pinned.data()), count);
    peer_.space().fence();
  }

  /// The unit's rows without ghosts, component after component in each.
  template <int Components>
  void append(const RowField<Execution, Components>& field, std::vector<double>& values) const {
    const std::int64_t rows = field.rows().count(), row_elements = field.row_elements();
    const auto count = static_cast<std::size_t>(rows * row_elements);
    const UntouchedArray<double, PinnedMemory> pinned("steelyard::cavity::checked", count);
    copy_to_host(peer_.space(), pinned.data(), static_cast<const double*>(field.slice()), count);
    peer_.space().fence();
    for (std::int64_t row = 0; row < Components * rows; ++row) {
      const double* const first = pinned.data() + row * field.pitch() + field.left_ghost_columns();
      values.insert(values.end(), first, first + field.columns());
    }
  }

  UnitGroup group_;
  SharedGrid shared_;
  UnitPeer<Execution> peer_;
  UnitGrid<Execution> grid_;
  Coefficients coefficients_;
  Kokkos::View<double*, DeviceOf<Execution>> coefficient_memory_;
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
