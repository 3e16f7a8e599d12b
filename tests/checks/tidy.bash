#!/usr/bin/env bash
# tidy.bash ROOT BUILD: clang-tidy over every source file that BUILD compiles, with the rules of .clang-tidy. A file
# that passed is not checked again while all that clang-tidy reads for it stays the same: an empty file in the folder
# tidy of the cache, named by the hash of all that, says so until nobody has asked for it in 30 days.
set -euo pipefail
export LC_ALL=C
root=$1
build=$2
# shellcheck source=core/cmake/setup.bash
source "$root/core/cmake/setup.bash"
cd "$build" # where CMake's commands run

version=$(clang-tidy --version)
# -march=native of g++ may name a processor that this clang does not know.
tidy=(clang-tidy -quiet -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-unused-command-line-argument)
# Reads sources as clang-tidy does; without it nothing is remembered.
clang=$(dirname "$(readlink -f "$(type -P clang-tidy)")")/clang++

work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT
: >"$work/verdicts"
# A cache that cannot be found or written costs time, nothing else.
steelyard_find_cache || steelyard_cache=$work
passed=$steelyard_cache/tidy
mkdir -p "$passed" 2>/dev/null || true

# Prints all that decides what clang-tidy says about a file: its rules and options, and for each command that compiles
# the file the command, the macros, which tell about the processor too, and name and hash of every file that it reads.
# Files are taken as they are, not preprocessed: checks also look at macros, at directives and at NOLINT beside them.
print_inputs() {
  local file=$1 reads=$work/$BASHPID.d command words
  printf '%s\n' "$version" "${tidy[*]}"
  clang-tidy --dump-config "$file" -- || return 1
  while read -r command; do
    printf '%s\n' "$command"
    eval "words=($command)" # quoted for a shell
    "$clang" "${words[@]:1}" -w -E -dM -o - -MD -MT read -MF "$reads" || return 1
    sed 's/^read://; s/\\$//' "$reads" | xargs sha256sum || return 1
  done <<<"${commands[$file]}"
}

# Prints the hash of a file's inputs, the same in whatever folders the two trees lie.
print_key() {
  local inputs
  inputs=$(print_inputs "$1" 2>/dev/null) || return 1
  inputs=${inputs//"$build"/BUILD}
  sha256sum <<<"${inputs//"$root"/ROOT}" | cut -d ' ' -f 1
}

check() {
  local file=$1 key output
  key=$(print_key "$file") || key=
  if [[ -n $key && -e $passed/$key ]]; then
    touch "$passed/$key" 2>/dev/null || true
    echo known >>"$work/verdicts"
  elif output=$("${tidy[@]}" -p "$build" "$file" 2>&1); then
    # Somebody may have edited the file since its key was made.
    if [[ -n $key && $(print_key "$file") == "$key" ]]; then
      touch "$passed/$key" 2>/dev/null || true
    fi
    echo new >>"$work/verdicts"
  else
    printf '%s\n' "$output"
    echo failed >>"$work/verdicts"
  fi
}

declare -A commands=()
while IFS=$'\t' read -r file command; do
  if [[ $file =~ ^"$root"/(core|models|partition|comm|miniapps|benchmarks)/.*\.cpp$ ]]; then
    commands[$file]+=${commands[$file]:+$'\n'}$command
  fi
done < <(python3 -c '
import json
for entry in json.load(open("compile_commands.json")):
    print(entry["file"], entry["command"], sep="\t")')

running=0
for file in "${!commands[@]}"; do
  if ((running++ >= $(nproc))); then
    wait -n || true # what it did not say counts as failed
  fi
  check "$file" &
done
wait

find "$passed" -type f -mtime +30 -delete 2>/dev/null || true
count() {
  grep -c "^$1$" "$work/verdicts" || true
}
known=$(count known)
new=$(count new)
failed=$((${#commands[@]} - known - new))
echo "clang-tidy: $known files known to pass, $((new + failed)) checked anew, $failed of those failed"
((failed == 0 && known + new > 0))
