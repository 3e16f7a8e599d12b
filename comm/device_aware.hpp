#pragma once

namespace steelyard {

/// Whether the MPI library sends from and receives into the memory of the device that Kokkos was built for, so that
/// nothing needs to be staged in host memory: what Open MPI and its relatives tell at run time, no where a library does
/// not tell, and no in a host build.
bool mpi_takes_device_memory();

}  // namespace steelyard
