#!/usr/bin/env bash
# sanitize.bash ROOT: kernels of one unit under the address and undefined-behaviour sanitizers, with Kokkos' checks of bounds
# and those of core/sweep. What needs no Kokkos is tested under the sanitizers by standalone.bash.
set -euo pipefail
cd "$1"
cmake --preset sanitize -DSTEELYARD_ENABLE_TESTS=ON
cmake --build build/sanitize --target test_core test_sweep test_{cavity,fft2d,gemm,summa,wave2d}_kernel
ctest --preset sanitize --parallel "$(nproc)" -L unit -R '^(core|cavity|fft2d|gemm|summa|wave2d): '
