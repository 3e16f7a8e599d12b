#!/usr/bin/env bash
# sanitizers.bash ROOT PRESET: tests under the sanitizers of a preset.
# sanitize: base, models and partition, and kernels of one unit, once and without statistics, with Kokkos' checks of
# bounds, those of core/sweep, and leaks but for those of hwloc's plugin for PCI, which is left out.
# thread: what units of a rank and of several do at the same time, each unit with one thread, for the thread sanitizer
# does not know OpenMP's.
set -euo pipefail
cd "$1"
cmake --preset "$2" -DSTEELYARD_ENABLE_TESTS=ON
if [[ $2 == thread ]]; then
  cmake --build build/thread --target test_core test_comm
  # One core for the host unit and one for its companion; through shared memory, since Open MPI's TCP has races.
  cores=$(taskset --cpu-list --pid $$ | sed 's/.*: //; s/[-,].*//')
  export TSAN_OPTIONS=exitcode=66 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self,vader OMPI_ALLOW_RUN_AS_ROOT=1 \
    OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
  taskset --cpu-list "$cores,$((cores + 1))" build/thread/bin/test_core --filenames-as-tags '[#test_co_execution]'
  for ranks in 2 3; do
    taskset --cpu-list "$cores,$((cores + 1))" mpirun -n "$ranks" --oversubscribe --bind-to none build/thread/bin/test_comm
  done
else
  cmake --build build/sanitize --target test_{base,models,partition,core,sweep} \
    test_{cavity,fft2d,gemm,summa,wave2d}_kernel
  ctest --preset sanitize --parallel "$(nproc)" -L unit \
    -R '^(base|models|partition|core|cavity|fft2d|gemm|summa|wave2d): ' -E ': (everything again|roundings that all) '
fi
