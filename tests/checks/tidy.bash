#!/usr/bin/env bash
# tidy.bash ROOT BUILD: clang-tidy over every source file that BUILD compiles, with the rules of .clang-tidy.
set -euo pipefail
root=$1
build=$2
# -march=native of g++ may name a processor that this clang does not know.
run-clang-tidy -quiet -p "$build" -j "$(nproc)" -extra-arg=-Wno-unknown-warning-option \
  -extra-arg=-Wno-unused-command-line-argument "^$root/(core|models|partition|comm|miniapps|benchmarks)/.*\.cpp$" \
  2>"$build/tidy.log"
