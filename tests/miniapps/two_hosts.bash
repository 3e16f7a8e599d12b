#!/usr/bin/env bash
# two_hosts.bash TWO_HOSTS WAVE2D: wave2d passes its check across two hosts and computes the bits of a single rank.
set -euo pipefail
two_hosts=$(realpath -- "$1")
wave2d=$(realpath -- "$2")
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

options=(--size 127 --steps 40 --repetitions 2 --check all)
"$wave2d" "${options[@]}" --units host --output "$folder/alone.npy" >/dev/null
for ranks in 1 2; do
  for partition in even geometric; do
    "$two_hosts" --ranks-per-host "$ranks" -- \
      "$wave2d" "${options[@]}" --partition "$partition" --result "$folder/result" --output "$folder/across.npy"
    grep -q steelyard-a "$folder/result/run.json"
    grep -q steelyard-b "$folder/result/run.json"
    cmp "$folder/alone.npy" "$folder/across.npy"
  done
done
