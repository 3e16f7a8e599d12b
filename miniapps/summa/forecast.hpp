#pragma once

#include <memory>

#include "miniapps/app/forecast.hpp"

namespace steelyard::summa {

/// What `steelyard predict summa` computes, without Kokkos and MPI.
std::unique_ptr<Forecaster> make_forecaster();

}  // namespace steelyard::summa
