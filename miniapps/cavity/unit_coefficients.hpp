#pragma once

#include <vector>

#include "core/host_copy.hpp"
#include "core/spaces.hpp"
#include "miniapps/cavity/coefficients.hpp"
#include "miniapps/cavity/momentum_operator.hpp"
#include "miniapps/cavity/pressure_operator.hpp"

namespace steelyard::cavity {

/// The coefficients in a unit's memory, and the operators that read them there; these must not outlive it.
template <class Execution>
class UnitCoefficients {
 public:
  /// To be called by the unit's own thread; fences.
  UnitCoefficients(const Execution& space, const Coefficients& host) {
    momentum_.row_diagonal = copy(space, host.row_diagonal);
    momentum_.column_diagonal = {copy(space, host.column_diagonal), inner(host.column_diagonal)};
    momentum_.row_diffusion = copy(space, host.row_diffusion);
    momentum_.column_diffusion = {copy(space, host.column_diffusion), inner(host.column_diffusion)};
    momentum_.column_unknown = {copy(space, host.column_unknown), inner(host.column_unknown)};
    momentum_.row_unknown = copy(space, host.row_unknown);
    momentum_.diffusion_x = host.diffusion_x;
    momentum_.diffusion_y = host.diffusion_y;
    momentum_.quarter_x = host.quarter_x;
    momentum_.quarter_y = host.quarter_y;
    pressure_.column_faces = {copy(space, host.column_faces), inner(host.column_faces)};
    pressure_.row_weights = copy(space, host.row_weights);
    pressure_.row_faces = copy(space, host.row_faces);
    pressure_.column_weights = {copy(space, host.column_weights), inner(host.column_weights)};
    space.fence();
  }

  /// @param convecting velocity, halos included
  MomentumOperator momentum(const RowAccess<2>& convecting) const {
    MomentumOperator matrix = momentum_;
    matrix.convecting = convecting;
    return matrix;
  }
  const PressureOperator& pressure() const { return pressure_; }

 private:
  using Memory = Kokkos::View<double*, DeviceOf<Execution>>;

  /// What all inner columns have, where there are any.
  static double inner(const std::vector<double>& by_column) { return by_column[by_column.size() / 2]; }

  const double* copy(const Execution& space, const std::vector<double>& values) {
    const Memory memory(Kokkos::view_alloc(space, Kokkos::WithoutInitializing, "steelyard::cavity::coefficients"),
                        values.size());
    copy_from_host(space, memory.data(), values.data(), values.size());
    arrays_.push_back(memory);
    return memory.data();
  }

  std::vector<Memory> arrays_;
  MomentumOperator momentum_;
  PressureOperator pressure_;
};

}  // namespace steelyard::cavity
