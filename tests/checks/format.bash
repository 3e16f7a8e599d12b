#!/usr/bin/env bash
# format.bash ROOT: every C++ file of the tree is as clang-format writes it.
set -euo pipefail
cd "$1"
find core models partition comm miniapps benchmarks tests -name '*.hpp' -o -name '*.cpp' |
  sort | xargs clang-format --dry-run --Werror
