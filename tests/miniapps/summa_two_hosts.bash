#!/usr/bin/env bash
# summa_two_hosts.bash TWO_HOSTS SUMMA MPIRUN: on two hosts summa passes its check and computes the bits of one host.
set -euo pipefail
two_hosts=$(realpath -- "$1")
summa=$(realpath -- "$2")
mpirun=$3
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT
cd "$folder"

fail() {
  echo "$*" >&2
  exit 1
}

echo '{"schema": "steelyard.fpm/1", "points": [{"units": 1, "time_s": 1e-6}]}' >even.fpm.json
# Cut at different places above and below: bands of rows and of columns that overlap.
cat >four.json <<'END'
{"rectangles": [{"row": 0, "column": 0, "rows": 4, "columns": 9}, {"row": 0, "column": 9, "rows": 9, "columns": 4},
                {"row": 4, "column": 0, "rows": 5, "columns": 9}, {"row": 9, "column": 0, "rows": 4, "columns": 13}]}
END
# One core each, wherever it is: its BLAS does the same there.
options=(--size 97 --block 8 --units device --model even.fpm.json --check all --warmups 0)

"$mpirun" --oversubscribe --mca mpi_yield_when_idle 1 -n 2 "$summa" "${options[@]}" --repetitions 1 \
  --output two.npy >/dev/null
"$mpirun" --oversubscribe --mca mpi_yield_when_idle 1 -n 4 "$summa" "${options[@]}" --repetitions 1 \
  --partition four.json --output four.npy >/dev/null

for communication in paper bcast pipelined; do
  "$two_hosts" -- "$summa" "${options[@]}" --repetitions 2 --communication "$communication" \
    --result result --output across.npy >out
  cmp two.npy across.npy
  grep -q '^summa .* 2 ranks on 2 nodes' out || fail "two nodes are not reported: $(cat out)"
  for host in steelyard-a steelyard-b; do
    grep -q "$host" result/run.json || fail "$host is not in the result"
  done
done
# Ranks that share a host and ranks that do not, in either order.
"$two_hosts" --ranks-per-host 2 -- "$summa" "${options[@]}" --repetitions 1 --communication pipelined \
  --partition four.json --output across.npy >out
cmp four.npy across.npy
"$two_hosts" --ranks-per-host 2 --map node -- "$summa" "${options[@]}" --repetitions 1 --communication bcast \
  --partition four.json --output across.npy >out
cmp four.npy across.npy
