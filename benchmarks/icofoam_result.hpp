#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace steelyard {

/// A velocity field at the centres of n x n cells of the unit square, row after row from the bottom.
struct CentreVelocity {
  std::vector<double> u;
  std::vector<double> v;
  double mass_imbalance = 0.0;  ///< largest net flow out of a cell, over lid speed * cell width
};

/// Output of one run of OpenFOAM's icoFoam.
struct IcofoamLog {
  std::int64_t steps = 0;
  double step_s = 0.0;               ///< seconds of processor time of a step: mean of all but the first
  double pressure_iterations = 0.0;  ///< per step, of all corrections together
  double momentum_iterations = 0.0;  ///< per step, mean of the two components
};

/// Reads what a run printed. @throws FileFormatError unless it is of two steps at least
IcofoamLog read_icofoam_log(const std::filesystem::path& path);

/// Reads the velocity and the face fluxes of a case of one block of n x n cells of depth 1, whose walls let nothing
/// through.
/// @param folder of the case's time, with U and phi as text
/// @param mesh folder with the case's owner and neighbour
/// @throws FileFormatError
CentreVelocity read_icofoam_field(const std::filesystem::path& folder, const std::filesystem::path& mesh,
                                  std::int64_t n);

}  // namespace steelyard
