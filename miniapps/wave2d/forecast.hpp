#pragma once

#include <memory>

#include "miniapps/app/forecast.hpp"

namespace steelyard::wave2d {

/// What `steelyard predict wave2d` computes, without Kokkos and MPI.
std::unique_ptr<Forecaster> make_forecaster();

}  // namespace steelyard::wave2d
