#!/usr/bin/env bash
# two_hosts.bash TWO_HOSTS PROGRAM MPIRUN: what wave2d, summa, jacobi or steelyard does across two hosts.
set -euo pipefail
two_hosts=$(realpath -- "$1")
program=$(realpath -- "$2")
one_host=("$3" --oversubscribe -n)
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd "$folder"

fail() {
  echo "$*" >&2
  exit 1
}

# require_hosts FILE: both hosts are in it.
require_hosts() {
  local host
  for host in steelyard-a steelyard-b; do
    grep -q "$host" "$1" || fail "$host is not in $1"
  done
}

# wave2d passes its check and computes the bits of a single rank.
test_wave2d() {
  local options=(--size 127 --steps 40 --repetitions 2 --check all) ranks partition
  "$program" "${options[@]}" --units host --output alone.npy >/dev/null
  for ranks in 1 2; do
    for partition in even geometric; do
      "$two_hosts" --ranks-per-host "$ranks" -- \
        "$program" "${options[@]}" --partition "$partition" --result result --output across.npy
      require_hosts result/run.json
      cmp alone.npy across.npy
    done
  done
}

# summa passes its check and computes the bits of one host.
test_summa() {
  echo '{"schema": "steelyard.fpm/1", "points": [{"units": 1, "time_s": 1e-6}]}' >even.fpm.json
  # Cut at different places above and below: bands of rows and of columns that overlap.
  cat >four.json <<'END'
{"rectangles": [{"row": 0, "column": 0, "rows": 4, "columns": 9}, {"row": 0, "column": 9, "rows": 9, "columns": 4},
                {"row": 4, "column": 0, "rows": 5, "columns": 9}, {"row": 9, "column": 0, "rows": 4, "columns": 13}]}
END
  # One core each, wherever it is: its BLAS does the same there.
  local options=(--size 97 --block 8 --units device --model even.fpm.json --check all --warmups 0)
  local four=("${options[@]}" --repetitions 1 --partition four.json) communication
  "${one_host[@]}" 2 "$program" "${options[@]}" --repetitions 1 --output two.npy >/dev/null
  "${one_host[@]}" 4 "$program" "${four[@]}" --output four.npy >/dev/null
  for communication in paper bcast pipelined; do
    "$two_hosts" -- "$program" "${options[@]}" --repetitions 2 --communication "$communication" \
      --result result --output across.npy >out
    cmp two.npy across.npy
    grep -q '^summa .* 2 ranks on 2 nodes' out || fail "two nodes are not reported: $(cat out)"
    require_hosts result/run.json
  done
  # Ranks that share a host and ranks that do not, in either order.
  "$two_hosts" --ranks-per-host 2 -- "$program" "${four[@]}" --communication pipelined --output across.npy >out
  cmp four.npy across.npy
  "$two_hosts" --ranks-per-host 2 --map node -- "$program" "${four[@]}" --communication bcast --output across.npy >out
  cmp four.npy across.npy
}

# jacobi ends within 10 s of the cable's cut, and keeps the repetitions that it has finished.
test_jacobi() {
  echo '{"schema": "steelyard.fpm/1", "points": [{"units": 1, "time_s": 1e-6}]}' >even.fpm.json
  local status=0 cut_s end_s
  "$two_hosts" --cut-when result/samples.jsonl -- "$program" --size 64 --steps 100 --repetitions 1000000 --warmups 0 \
    --model even.fpm.json --units host --check all --result result >out 2>error || status=$?
  ((status != 77)) || exit 77
  ((status != 0)) || fail "a run without its other half ended well: $(cat out)"
  end_s=$(date +%s) cut_s=$(stat -c %W result)
  ((end_s - cut_s <= 12)) || fail "it ended $((end_s - cut_s)) s after its first results, upon which the cable was cut"
  grep -q '"interrupted": true' result/run.json || fail "no run.json: $(cat out error)"
  [[ -s result/samples.jsonl ]] || fail "no repetition is kept: $(cat out error)"
}

# cost FILE EXPRESSION: as JSON.
cost() {
  "$program" cost --platform "$1" --expression "$2" --format json
}

# steelyard calibrate measures a network, and keeps the shared memory that was measured on one host.
test_steelyard() {
  local calibrate=("$program" calibrate --from 64 --to 262144 --rounds 2) status=0 expression
  "$two_hosts" -- "${calibrate[@]}" --output network.platform.json >out
  require_hosts network.platform.json
  cost network.platform.json '2||T1(1000)' >/dev/null
  cost network.platform.json 'T0(1000)' 2>error || status=$?
  ((status == 2)) || fail "channel 0 cannot be known to one rank a host"
  grep -q 'no channel 0 (expected one of 1)' error || fail "$(cat error)"

  "${one_host[@]}" 2 "${calibrate[@]}" --output one.platform.json >out
  "$two_hosts" -- "${calibrate[@]}" --base one.platform.json --output both.platform.json >out
  for expression in 'T0(1)' 'T0(1000)' '2||T0(1000)' '2||T0(100000)+T0(300000)'; do
    [[ $(cost one.platform.json "$expression") == "$(cost both.platform.json "$expression")" ]] ||
      fail "$expression is not what was measured on one host"
  done
  cost both.platform.json '(T0(1000)+T1(2000))||(T0(1500)+T1(1500))' >/dev/null

  # With two ranks a host, both at once; or where a host has one core, at least the network.
  "$two_hosts" --ranks-per-host 2 -- "${calibrate[@]}" --output four.platform.json >out
  if grep -q 'on 1 core$' out; then
    grep -q '^refused    shared memory: steelyard-a has 1 core for 2 ranks$' out || fail "$(cat out)"
    cost four.platform.json '2||T1(1000)' >/dev/null
  else
    cost four.platform.json '2||T0(1000)+4||T1(1000)' >/dev/null
  fi
}

"test_$(basename "$program")"
