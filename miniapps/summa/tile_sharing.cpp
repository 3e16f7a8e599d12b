#include "miniapps/summa/tile_sharing.hpp"

#include <vector>

#include "comm/collective.hpp"
#include "comm/mpi_check.hpp"

namespace steelyard::summa {

gemm::Share tile_share(MPI_Comm comm, const Tile& tile) {
  constexpr std::size_t numbers = sizeof(gemm::RowSums) / sizeof(long double);
  static_assert(sizeof(gemm::RowSums) == numbers * sizeof(long double));
  return {tile, tile, tile, [comm](const gemm::Share::Work& work) {
            std::vector<gemm::RowSums> sums;
            collectively(comm, [&] { sums = work(); });
            STEELYARD_MPI(MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(numbers * sums.size()),
                                        MPI_LONG_DOUBLE, MPI_SUM, comm));
            return sums;
          }};
}

}  // namespace steelyard::summa
