#pragma once

#include "comm/session.hpp"
#include "core/processing_unit.hpp"

namespace steelyard::tests {

/// What mpi_main.cpp started: MPI, and Kokkos on the units that this rank was given.
const Session& session();
const RankUnits& started_units();

}  // namespace steelyard::tests
