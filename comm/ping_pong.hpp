#pragma once

#include <mpi.h>

#include <optional>
#include <vector>

#include "models/communication/hockney.hpp"

namespace steelyard {

/// One-way seconds between this rank and `partner` for each size: half the median round trip.
/// Source: 003, section 6.3.1. Both partners call it with the same sizes. @throws MpiError
std::vector<models::MessageTime> ping_pong(MPI_Comm comm, int partner, const std::vector<double>& bytes,
                                           int round_trips = 100);

/// Hockney parameters between neighbours of a linear array, all even pairs (0-1, 2-3, …) at once, then all odd ones;
/// the slowest pair counts. Nothing for a single rank. Collective.
/// @param bytes message size around which the model has to be right
std::optional<models::Hockney> measure_neighbours(MPI_Comm comm, double bytes);

}  // namespace steelyard
