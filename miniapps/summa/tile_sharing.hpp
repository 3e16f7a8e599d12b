#pragma once

#include <mpi.h>

#include "miniapps/gemm/freivalds.hpp"
#include "miniapps/summa/problem.hpp"

namespace steelyard::summa {

/// The parts of a rank that has the same tile of A, B and C, for Freivalds' check; tiles are disjoint and cover the
/// matrices. Whole rows are sums of n x 11 long doubles over all ranks, which throw CollectiveError and MpiError.
/// @param comm of all ranks; stays as long as the check
gemm::Share tile_share(MPI_Comm comm, const Tile& tile);

}  // namespace steelyard::summa
