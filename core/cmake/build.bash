# shellcheck disable=SC2154  # setup.bash sets steelyard_cache
# Configures and builds a preset, shows how far long work is and what each stage took, and knows how to start MPI here.
# Sourced by setup.bash.

# steelyard_configure ROOT PRESET [CMAKE ARGUMENTS...]: output goes to build/PRESET.log and is shown when it fails.
steelyard_configure() {
  local root=$1 preset=$2
  shift 2
  local log=$root/build/$preset.log
  mkdir -p "$root/build"
  # Used where ccache is installed: results are shared between clones, whatever folder they lie in.
  export CCACHE_DIR=$steelyard_cache/ccache CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true
  if ! (cd "$root" && cmake --preset "$preset" "$@") >"$log" 2>&1 </dev/null; then
    grep -A 3 -E 'CMake Error' "$log" | head -n 20 >&2
    steelyard_fail "CMake could not configure the preset $preset; see $log" || return 1
  fi
}

# steelyard_build ROOT PRESET TARGETS...: output goes to build/PRESET.log and is shown when it fails.
steelyard_build() {
  local root=$1 preset=$2
  shift 2
  local log=$root/build/$preset.log
  steelyard_say "building the preset $preset in build/$preset (log: build/$preset.log)"
  if ! NINJA_STATUS='[%f/%t] ' cmake --build "$root/build/$preset" --target "$@" 2>&1 </dev/null |
    steelyard_watch building "$log"; then
    grep -E 'error|Error|FAILED' "$log" | head -n 20 >&2
    steelyard_fail "the build failed; see $log" || return 1
  fi
}

# steelyard_watch WHAT LOG [HIDDEN]: appends standard input to LOG and says on standard error how far it is and how long the
# rest will take, from lines such as "[5/80] …" and "5/80 Test …": all the time on a terminal, otherwise once a minute.
# Prints the lines that do not match the extended regular expression HIDDEN, none without one. What checks the sources is
# called by its own name.
steelyard_watch() {
  local what=$1 log=$2 hidden=${3:-} line terminal=false start=$SECONDS last=$SECONDS left
  [[ ! -t 2 ]] || terminal=true
  while IFS= read -r line; do
    printf '%s\n' "$line" >&3
    if [[ $line =~ Start\ +[0-9]+:\ check:\ (.*) ]]; then what=${BASH_REMATCH[1]}; fi
    if [[ -n $hidden && ! $line =~ $hidden ]]; then
      ! $terminal || printf '\r\033[K' >&2
      printf '%s\n' "$line"
    fi
    [[ $line =~ ^([0-9]+:)?\ *\[?([0-9]+)/([0-9]+)(\]|\ Test) ]] || continue
    if $terminal; then
      ((SECONDS > last)) || continue
    else
      ((SECONDS >= last + 60)) || continue
    fi
    last=$SECONDS
    left=$(((last - start) * (BASH_REMATCH[3] - BASH_REMATCH[2]) / (BASH_REMATCH[2] > 0 ? BASH_REMATCH[2] : 1)))
    left="$what: ${BASH_REMATCH[2]} of ${BASH_REMATCH[3]}, about $(steelyard_minutes "$left") left"
    if $terminal; then
      printf '\r\033[Ksteelyard: %s' "$left" >&2
    else
      steelyard_say "$left"
    fi
  done 3>>"$log"
  ! $terminal || printf '\r\033[K' >&2
}

# Seconds as minutes and seconds.
steelyard_minutes() {
  printf '%d:%02d min' "$(($1 / 60))" "$(($1 % 60))"
}

# steelyard_stage NAME: what runs from here on is the stage NAME; steelyard_stages prints what each took.
steelyard_stages=()
steelyard_stage() {
  steelyard_stages+=("$SECONDS $1")
}
steelyard_print_stages() {
  local i begin name end text=
  for ((i = 0; i < ${#steelyard_stages[@]}; ++i)); do
    read -r begin name <<<"${steelyard_stages[i]}"
    end=$SECONDS
    ((i + 1 == ${#steelyard_stages[@]})) || end=${steelyard_stages[i + 1]%% *}
    text+="${text:+, }$name $(steelyard_minutes $((end - begin)))"
  done
  steelyard_say "$text; in all $(steelyard_minutes "$SECONDS")"
}

# Open MPI refuses to start as root unless it is told twice, and counts cores where we count ranks.
steelyard_mpirun=(mpirun --oversubscribe)
if ((UID == 0)); then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
