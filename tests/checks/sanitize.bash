#!/usr/bin/env bash
# sanitize.bash ROOT: kernels of one unit under the address and undefined-behaviour sanitizers. What needs no Kokkos is
# tested under them by standalone.bash.
set -euo pipefail
cd "$1"
cmake --preset sanitize -DSTEELYARD_ENABLE_TESTS=ON
cmake --build build/sanitize --target test_core test_wave2d_kernel test_fft2d_kernel
ctest --preset sanitize --parallel "$(nproc)" -L unit -R '^(core|wave2d|fft2d): '
