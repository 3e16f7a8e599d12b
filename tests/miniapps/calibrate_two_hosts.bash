#!/usr/bin/env bash
# calibrate_two_hosts.bash TWO_HOSTS STEELYARD MPIRUN: between two hosts, steelyard calibrate measures a network, and keeps
# the shared memory that was measured on one.
set -euo pipefail
two_hosts=$(realpath -- "$1")
steelyard=$(realpath -- "$2")
mpirun=$3
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd "$folder"

fail() {
  echo "$*" >&2
  exit 1
}

# cost FILE EXPRESSION: as JSON.
cost() {
  "$steelyard" cost --platform "$1" --expression "$2" --format json
}

options=(--from 64 --to 262144 --rounds 2)
"$two_hosts" -- "$steelyard" calibrate "${options[@]}" --output network.platform.json >network.out
grep -q '^channel 1  network, path \[1\]$' network.out || fail "no channel 1: $(cat network.out)"
for host in steelyard-a steelyard-b; do
  grep -q "^node       $host: " network.out || fail "$host is not reported: $(cat network.out)"
  grep -q "\"$host\"" network.platform.json || fail "$host is not in the platform"
done
cost network.platform.json '2||T1(1000)' >/dev/null
status=0
cost network.platform.json 'T0(1000)' 2>error || status=$?
((status == 2)) || fail "channel 0 cannot be known to one rank a host"
grep -q 'no channel 0 (expected one of 1)' error || fail "$(cat error)"

# Measured on one host, kept beside the network.
"$mpirun" --oversubscribe --mca mpi_yield_when_idle 1 -n 2 "$steelyard" calibrate "${options[@]}" \
  --output one.platform.json >one.out
"$two_hosts" -- "$steelyard" calibrate "${options[@]}" --base one.platform.json --output both.platform.json >both.out
grep -q '^channel 1  network' both.out || fail "no channel 1: $(cat both.out)"
for expression in 'T0(1)' 'T0(1000)' '2||T0(1000)' '2||T0(100000)+T0(300000)'; do
  [[ $(cost one.platform.json "$expression") == "$(cost both.platform.json "$expression")" ]] ||
    fail "$expression is not what was measured on one host"
done
cost both.platform.json '(T0(1000)+T1(2000))||(T0(1500)+T1(1500))' >/dev/null

# With two ranks a host, both at once; or where a host has one core, at least the network.
"$two_hosts" --ranks-per-host 2 -- "$steelyard" calibrate "${options[@]}" --output four.platform.json >four.out
if grep -q 'on 1 core$' four.out; then
  grep -q '^refused    shared memory: steelyard-a has 1 core for 2 ranks$' four.out || fail "$(cat four.out)"
  cost four.platform.json '2||T1(1000)' >/dev/null
else
  cost four.platform.json '2||T0(1000)+4||T1(1000)' >/dev/null
fi
