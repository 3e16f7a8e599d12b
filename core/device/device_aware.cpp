// A part of comm: it asks MPI what the vendor's build of it can do.
#include <mpi.h>

#include "comm/unit_exchange.hpp"
#include "core/spaces.hpp"

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#if defined(STEELYARD_EMULATED_DEVICE)
#include "tests/device/emulated/facts.hpp"
#endif

namespace steelyard {

bool mpi_takes_device_memory() {
#if defined(STEELYARD_EMULATED_DEVICE)
  return emulated::facts().mpi_aware;
#elif defined(KOKKOS_ENABLE_CUDA) && defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() == 1;
#elif defined(KOKKOS_ENABLE_HIP) && defined(OMPI_HAVE_MPI_EXT_ROCM)
  return MPIX_Query_rocm_support() == 1;
#else
  return false;
#endif
}

}  // namespace steelyard
