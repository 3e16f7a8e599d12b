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
  if(STEELYARD_REQUIRE_CUDA AND NOT "CUDA" IN_LIST Kokkos_DEVICES)
    message(FATAL_ERROR "Kokkos at ${Kokkos_DIR} has no CUDA (devices: ${Kokkos_DEVICES}): set Kokkos_ROOT to one that has")
  endif()
  set(STEELYARD_HAS_CUDA OFF)
  if("CUDA" IN_LIST Kokkos_DEVICES)
    set(STEELYARD_HAS_CUDA ON)
    find_package(CUDAToolkit REQUIRED)
    # nvcc cannot follow the checks of format strings at compile time in fmt before 11, nor what fmt 9 makes of nvcc.
    add_compile_definitions(FMT_CONSTEVAL= FMT_USE_CONSTEVAL=0 FMT_USE_CONSTEXPR=1)
  endif()
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
endif()

if(STEELYARD_ENABLE_TESTS)
  find_package(Catch2 3 REQUIRED)
endif()

# Used where it is installed; Kokkos' launcher, which hands CUDA sources to nvcc, cannot follow another one.
find_program(STEELYARD_CCACHE ccache)
mark_as_advanced(STEELYARD_CCACHE)
if(STEELYARD_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT "CUDA" IN_LIST Kokkos_DEVICES)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${STEELYARD_CCACHE})
endif()
