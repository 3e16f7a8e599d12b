#!/usr/bin/env bash
# standalone.bash ROOT: base, models and partition are a library of their own. Builds and tests them without Kokkos and MPI
# under the address and undefined-behaviour sanitizers, installs them, and builds a program against the installation.
set -euo pipefail
cd "$1"
build=$PWD/build/standalone
cmake --preset standalone -DSTEELYARD_ENABLE_TESTS=ON -DCMAKE_INSTALL_PREFIX="$build/prefix"
cmake --build "$build"
ctest --preset standalone --parallel "$(nproc)" -L unit
rm -rf "$build/prefix" "$build/package"
cmake --install "$build"
# Kokkos, MPI, hwloc, a BLAS and libpng must not be looked for, not even where they are found.
cmake -G Ninja -S tests/package -B "$build/package" -DCMAKE_PREFIX_PATH="$build/prefix" \
  -DCMAKE_CXX_FLAGS=-fsanitize=address,undefined \
  -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwloc=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_BLAS=ON -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
cmake --build "$build/package"
"$build/package/consumer"
