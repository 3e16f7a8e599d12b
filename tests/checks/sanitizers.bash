#!/usr/bin/env bash
# sanitizers.bash ROOT PRESET: tests under the address and undefined-behaviour sanitizers. standalone: base, models and
# partition, which are a library of their own, without Kokkos and MPI, and a program against their installation.
# sanitize: kernels of one unit, with Kokkos' checks of bounds and those of core/sweep.
set -euo pipefail
cd "$1"
cmake --preset "$2" -DSTEELYARD_ENABLE_TESTS=ON
if [[ $2 == standalone ]]; then
  cmake --build build/standalone
  ctest --preset standalone --parallel "$(nproc)" -L unit
  bash tests/checks/package.bash "$PWD" "$PWD/build/standalone" -DCMAKE_CXX_FLAGS=-fsanitize=address,undefined
else
  cmake --build build/sanitize --target test_core test_sweep test_{cavity,fft2d,gemm,summa,wave2d}_kernel
  ctest --preset sanitize --parallel "$(nproc)" -L unit -R '^(core|cavity|fft2d|gemm|summa|wave2d): '
fi
