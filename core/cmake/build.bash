# shellcheck disable=SC2154  # setup.bash sets steelyard_cache
# Configures and builds a preset, and knows how to start MPI here. Sourced by benchmarks/run and tests/run after setup.bash.

# steelyard_build ROOT PRESET [CMAKE ARGUMENTS...]: output goes to build/PRESET.log and is shown when it fails.
steelyard_build() {
  local root=$1 preset=$2
  shift 2
  local log=$root/build/$preset.log
  mkdir -p "$root/build"
  # Used where ccache is installed: results are shared between clones, whatever folder they lie in.
  export CCACHE_DIR=$steelyard_cache/ccache CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=true
  steelyard_say "building the preset $preset in build/$preset (log: build/$preset.log)"
  if ! (cd "$root" && cmake --preset "$preset" "$@" && cmake --build "build/$preset") >"$log" 2>&1 </dev/null; then
    grep -E 'error|Error|FAILED' "$log" | head -n 20 >&2
    steelyard_fail "the build failed; see $log" || return 1
  fi
}

# Open MPI refuses to start as root unless it is told twice, and counts cores where we count ranks.
steelyard_mpirun=(mpirun --oversubscribe)
if ((UID == 0)); then
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
fi
