#!/usr/bin/env bash
# sanitize.bash ROOT: the unit tests under the address and undefined-behaviour sanitizers.
set -euo pipefail
cd "$1"
cmake --preset sanitize -DSTEELYARD_ENABLE_TESTS=ON
cmake --build build/sanitize --target unit_tests
ctest --preset sanitize -L unit
