#!/usr/bin/env bash
# format.bash ROOT: every C++ file of the tree is as clang-format writes it, and none includes a source file.
set -euo pipefail
cd "$1"
find core models partition comm miniapps benchmarks tests -name '*.hpp' -o -name '*.cpp' |
  sort | xargs clang-format --dry-run --Werror
if git grep -nE '^ *# *include .*\.(cpp|cc|c)[">]' -- '*.hpp' '*.cpp'; then
  echo "a source file is included" >&2
  exit 1
fi
