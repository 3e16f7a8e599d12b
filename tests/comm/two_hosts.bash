#!/usr/bin/env bash
# two_hosts.bash TWO_HOSTS: what tests/two_hosts promises, whatever it runs.
set -euo pipefail
two_hosts=$(realpath -- "$1")
folder=$(mktemp -d)
trap 'rm -rf -- "$folder"' EXIT

fail() {
  echo "$*" >&2
  exit 1
}

# Tells where a rank is, then does as told: the file that all ranks append to, and the command.
# shellcheck disable=SC2016  # for the ranks' shells
told='echo "$(readlink /proc/self/ns/net) $OMPI_MCA_orte_tmpdir_base" >>"$1"; shift; eval "$@"'

# Within 10 s no process is left on the hosts of the ranks that told where they are, nor the folder of their run.
check_nothing_left() {
  local namespace temporary left
  [[ $(sort -u "$folder/told" | wc -l) == 2 ]] || fail "expected ranks on two hosts: $(cat "$folder/told")"
  while read -r namespace temporary; do
    for ((i = 0; i < 100; ++i)); do
      left=$(readlink /proc/[0-9]*/ns/net 2>/dev/null | grep -cxF "$namespace" || true)
      ((left > 0)) || break
      sleep 0.1
    done
    ((left == 0)) || fail "left behind after $1: $left processes"
    [[ $1 == KILL || ! -e $temporary ]] || fail "left behind after $1: $temporary"
    rm -rf -- "$temporary"
  done <"$folder/told"
  rm "$folder/told"
}

# The exit status of any rank, on whichever host, is that of the whole.
for rank in 0 1; do
  status=0
  "$two_hosts" -- bash -c "$told" _ "$folder/told" "exit \$((OMPI_COMM_WORLD_RANK == $rank ? 7 : 0))" \
    2>"$folder/error" || status=$?
  if ((status == 77)); then
    cat "$folder/error" >&2
    exit 77
  fi
  ((status == 7)) || fail "rank $rank exited with 7, two_hosts with $status: $(cat "$folder/error")"
  check_nothing_left "an error"
done

# However it ends, everything ends with it.
for signal in TERM KILL; do
  "$two_hosts" -- bash -c "$told" _ "$folder/told" "sleep 100" 2>"$folder/error" &
  for ((i = 0; i < 100; ++i)); do
    [[ ! -e $folder/told || $(wc -l <"$folder/told") != 2 ]] || break
    sleep 0.1
  done
  kill "-$signal" $!
  status=0
  wait $! || status=$?
  ((status == 128 + $(kill -l "$signal"))) || fail "ended by $signal with $status"
  check_nothing_left "$signal"
done
