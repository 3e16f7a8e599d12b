#!/usr/bin/env bash
# tidy.bash ROOT BUILD: clang-tidy over every source file that BUILD compiles, with the rules of .clang-tidy. Files that
# BUILD compiles together are checked together, which takes a sixth of the time, and then compiled alone; rules about
# using declarations, which look at one file, are left to usings.py. What passed is not checked again while all that
# clang-tidy reads stays the same: an empty file in the cache's folder tidy, named by its hash, says so for 30 days.
set -euo pipefail
export LC_ALL=C
root=$1 build=$2
# shellcheck source=core/cmake/setup.bash
source "$root/core/cmake/setup.bash"
cd "$build" # where CMake's commands run

version=$(clang-tidy --version)
# -march=native of g++ may name a processor that this clang does not know.
tidy=(clang-tidy -quiet -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-unused-command-line-argument -p .)
# Reads sources as clang-tidy does; without it nothing is remembered.
clang=$(dirname "$(readlink -f "$(type -P clang-tidy)")")/clang++
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
: >"$work/verdicts"
# A cache that cannot be found or written costs time, nothing else.
steelyard_find_cache || steelyard_cache=$work
passed=$steelyard_cache/tidy
mkdir -p "$passed" 2>/dev/null || true

# Prints all that decides what clang-tidy says about a unit of compilation: rules, options, command, macros, and name and
# hash of every file that it reads, as it is: checks also look at macros, at directives and at NOLINT beside them.
print_inputs() {
  local file=$1 reads=$work/$BASHPID.d words
  printf '%s\n' "$version" "${tidy[*]}"
  clang-tidy --dump-config "$file" -- || return 1
  printf '%s\n' "${command_of[$file]}"
  eval "words=(${command_of[$file]})" # quoted for a shell
  "$clang" "${words[@]:1}" -w -E -dM -o - -MD -MT read -MF "$reads" || return 1
  sed 's/^read://; s/\\$//' "$reads" | tr ' ' '\n' | grep -v '^$\|/Unity/' | xargs sha256sum || return 1
}

# Prints the hash of a unit's inputs, the same in whatever folders the two trees lie.
print_key() {
  local inputs
  inputs=$(print_inputs "$1" 2>/dev/null) || return 1
  inputs=${inputs//"$build"/BUILD}
  sha256sum <<<"${inputs//"$root"/ROOT}" | cut -d ' ' -f 1
}

run_tidy() {
  local file=$1 source sources words
  if [[ $file != */Unity/* ]]; then
    "${tidy[@]}" "$file"
    return
  fi
  # Only what includes the others here includes source files: format.bash sees to that.
  "${tidy[@]}" -checks=-bugprone-suspicious-include "$file" || return 1
  mapfile -t sources < <(sed -n 's/^#include "\(.*\)"$/\1/p' "$file")
  ((${#sources[@]} > 1)) || return 0
  for source in "${sources[@]}"; do
    eval "words=(${command_of[$file]//"$file"/"$source"})" # quoted for a shell
    "${words[@]}" -fsyntax-only || return 1
  done
}

check() {
  local file=$1 key output
  key=$(print_key "$file") || key=
  if [[ -n $key && -e $passed/$key ]]; then
    touch "$passed/$key" 2>/dev/null || true
    echo known >>"$work/verdicts"
  elif output=$(run_tidy "$file" 2>&1); then
    # Somebody may have edited a file since the key was made.
    if [[ -n $key && $(print_key "$file") == "$key" ]]; then
      touch "$passed/$key" 2>/dev/null || true
    fi
    echo new >>"$work/verdicts"
  else
    printf '%s\n' "$output"
    echo failed >>"$work/verdicts"
  fi
  echo "[$(wc -l <"$work/verdicts")/${#files[@]}] $file"
}

cmake --build . --target steelyard_base_commit
declare -A command_of=()
files=()
while IFS=$'\t' read -r file command; do
  command_of[$file]=$command
  files+=("$file")
done < <(python3 - "$root" "$build" <<'END'
import json, re, sys
root, build = map(re.escape, sys.argv[1:])
folder = "/(core|models|partition|comm|miniapps|benchmarks)/.*"
# What takes longest first, so that all processors end at about the same time.
for entry in sorted(json.load(open("compile_commands.json")), key=lambda entry: "/miniapps/" not in entry["file"]):
    if re.match(f"{root}{folder}|{build}{folder}/Unity/", entry["file"]):
        print(entry["file"], entry["command"], sep="\t")
END
)

running=0
for file in "${files[@]}"; do
  if ((running++ >= $(nproc))); then
    wait -n || true # what it did not say counts as failed
  fi
  check "$file" &
done
wait

find "$passed" -type f -mtime +30 -delete 2>/dev/null || true
known=$(grep -c '^known$' "$work/verdicts" || true)
new=$(grep -c '^new$' "$work/verdicts" || true)
failed=$((${#files[@]} - known - new))
echo "clang-tidy: $known units of compilation known to pass, $((new + failed)) checked anew, $failed of those failed"
((failed == 0 && known + new > 0))
