#!/usr/bin/env bash
# standalone.bash ROOT BUILD: base, models and partition are a library of their own. Builds and tests them without Kokkos
# and MPI, installs them, and builds a program against the installation. Little optimised, which is
# sooner built: the release build tests the same sources as they are used.
set -euo pipefail
root=$1
build=$2
cmake -G Ninja -S "$root" -B "$build" -DCMAKE_BUILD_TYPE=Release -DSTEELYARD_ENABLE_KOKKOS=OFF \
  -DSTEELYARD_ENABLE_MPI=OFF -DSTEELYARD_ENABLE_TESTS=ON \
  -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DCMAKE_INSTALL_PREFIX="$build/prefix"
cmake --build "$build"
ctest --test-dir "$build" --output-on-failure -L unit
rm -rf "$build/prefix" "$build/package"
cmake --install "$build"
# Kokkos, MPI, hwloc, a BLAS and libpng must not be looked for, not even where they are found.
cmake -G Ninja -S "$root/tests/package" -B "$build/package" -DCMAKE_PREFIX_PATH="$build/prefix" \
  -DCMAKE_DISABLE_FIND_PACKAGE_Kokkos=ON -DCMAKE_DISABLE_FIND_PACKAGE_MPI=ON -DCMAKE_DISABLE_FIND_PACKAGE_hwloc=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_BLAS=ON -DCMAKE_DISABLE_FIND_PACKAGE_PNG=ON
cmake --build "$build/package"
"$build/package/consumer"
