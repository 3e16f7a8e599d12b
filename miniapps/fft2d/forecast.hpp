#pragma once

#include <memory>

#include "miniapps/app/forecast.hpp"

namespace steelyard::fft2d {

/// What `steelyard predict fft2d` computes, without Kokkos and MPI.
std::unique_ptr<Forecaster> make_forecaster();

}  // namespace steelyard::fft2d
