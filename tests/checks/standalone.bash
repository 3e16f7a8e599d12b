#!/usr/bin/env bash
# standalone.bash ROOT: base, models and partition are a library of their own. Builds and tests them without Kokkos and MPI
# under the address and undefined-behaviour sanitizers, and builds programs against their installation.
set -euo pipefail
cd "$1"
build=$PWD/build/standalone
cmake --preset standalone -DSTEELYARD_ENABLE_TESTS=ON
cmake --build "$build"
ctest --preset standalone --parallel "$(nproc)" -L unit
bash tests/checks/package.bash "$PWD" "$build" -DCMAKE_CXX_FLAGS=-fsanitize=address,undefined
