#!/usr/bin/env bash
# package.bash ROOT BUILD [CMAKE ARGUMENT…]: installs BUILD's libraries alone and builds programs outside the tree against
# them, each where only the packages that its component needs can be found.
set -euo pipefail
root=$1 build=$2
shift 2
prefix=$build/package/prefix
rm -rf "$build/package"
cmake --install "$build" --component libraries --prefix "$prefix" > "$build/package-install.log"

# try FOLDER ARGUMENT…: configures the project of tests/package in a folder of its own.
try() {
  cmake -G Ninja -S "$root/tests/package" -B "$build/package/$1" "-DCMAKE_PREFIX_PATH=$prefix" \
    "${@:2}"
}
without=(-DCMAKE_DISABLE_FIND_PACKAGE_{Kokkos,MPI,hwloc,BLAS,PNG,CLI11,Threads,Boost,Eigen3}"=ON")

for component in base models partition; do
  try "$component" -DCOMPONENTS="$component" "${without[@]}" "$@"
  cmake --build "$build/package/$component"
  "$build/package/$component/$component"
done
# Who names no component gets all that can be had.
try any -DPROGRAMS=partition "${without[@]}" "$@"
# A component that cannot be had is named, with what it lacks.
for missing in core colour; do
  if try "$missing" -DCOMPONENTS="partition;$missing" "${without[@]}" "$@" > "$build/package/log" 2>&1; then
    echo "component $missing was found" >&2
    exit 1
  fi
  grep -q "component $missing" "$build/package/log"
done
if [[ -e $prefix/include/steelyard/comm ]]; then
  try everything -DCOMPONENTS="core;comm;app" "$@"
  cmake --build "$build/package/everything"
  "$build/package/everything/core"
  "$build/package/everything/comm"
  "$build/package/everything/app"
fi
