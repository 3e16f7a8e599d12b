#pragma once

#include "miniapps/cavity/numerics.hpp"
#include "miniapps/cavity/problem.hpp"

namespace steelyard::cavity {

/// Memory traffic of a time step with so many iterations in all of its solves, in bytes: what its sweeps read and write
/// where no cache holds anything from one sweep to the next, counted in the solvers' headers.
double step_bytes(const Problem& problem, const Numerics& numerics, double momentum_iterations,
                  double pressure_iterations);

}  // namespace steelyard::cavity
