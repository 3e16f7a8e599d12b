# Finds what the suite stands on. Everything is looked up with find_package, so CMAKE_PREFIX_PATH, <Package>_ROOT, modules
# and Spack environments work as everywhere.
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost REQUIRED)
find_package(Eigen3 REQUIRED NO_MODULE)
find_package(Threads REQUIRED)

if(STEELYARD_ENABLE_KOKKOS)
  find_package(Kokkos REQUIRED)
  if(Kokkos_VERSION VERSION_LESS 3.4)
    message(FATAL_ERROR "Kokkos ${Kokkos_VERSION} is too old: Steelyard needs 3.4 or newer (set Kokkos_ROOT)")
  endif()
  include(steelyard_device)
  find_package(hwloc REQUIRED)
  find_package(BLAS REQUIRED)
  find_package(PNG REQUIRED)
  # Optional, and good only for the Kokkos of its own release.
  find_package(KokkosKernels QUIET)
  set(STEELYARD_HAS_KOKKOS_KERNELS OFF)
  set(kernels "no Kokkos Kernels")
  if(KokkosKernels_FOUND AND KokkosKernels_VERSION VERSION_EQUAL Kokkos_VERSION)
    set(STEELYARD_HAS_KOKKOS_KERNELS ON)
    set(kernels "Kokkos Kernels")
  endif()
  message(STATUS "Steelyard: Kokkos ${Kokkos_VERSION} with ${Kokkos_DEVICES}, ${kernels}, BLAS ${BLAS_LIBRARIES}")
endif()

if(STEELYARD_ENABLE_MPI)
  # Open MPI's and MPICH's C++ bindings are gone from the standard; without them mpi.h is plain C.
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI REQUIRED COMPONENTS CXX)
  if(STEELYARD_ENABLE_KOKKOS)
    find_package(FFTW3 REQUIRED)
  endif()
endif()

if(STEELYARD_ENABLE_TESTS)
  find_package(Catch2 3 REQUIRED)
endif()

# Used where it is installed; Kokkos' launcher, which hands sources to a device's compiler, cannot follow another one.
find_program(STEELYARD_CCACHE ccache)
mark_as_advanced(STEELYARD_CCACHE)
if(STEELYARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT Kokkos_ENABLE_CUDA)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STEELYARD_CCACHE})
endif()
