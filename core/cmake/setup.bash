# Makes sure that everything Steelyard builds on is there, fetching and building only what is missing. Sourced by
# benchmarks/run and tests/run:
#
#     source "$root/core/cmake/setup.bash"
#     steelyard_choose_device "$wish"    # sets steelyard_architecture, such as sm_90, and steelyard_preset
#     steelyard_setup run                # or test, or check, which need more
#
# Afterwards CMAKE_PREFIX_PATH leads CMake to all of it. What is fetched or built lives in a cache folder outside the
# tree: $STEELYARD_CACHE, by default $XDG_CACHE_HOME/steelyard or ~/.cache/steelyard. A failure is one line on standard
# error that says what to do, and a status other than 0. Functions that build and start programs are in build.bash.
#
# Every step checks its own result instead of relying on `set -e`, which a caller's `||` would switch off.

steelyard_here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=core/cmake/provide_catch2.bash
source "$steelyard_here/provide_catch2.bash"
# shellcheck source=core/cmake/provide_kokkos.bash
source "$steelyard_here/provide_kokkos.bash"
# shellcheck source=core/cmake/build.bash
source "$steelyard_here/build.bash"

# The Debian packages that Steelyard needs.
steelyard_run_packages=(
  g++ cmake ninja-build git
  libopenmpi-dev openmpi-bin
  libhwloc-dev
  libopenblas-openmp-dev # the pthread flavour oversubscribes the cores beside an OpenMP host unit
  libfftw3-dev
  libcli11-dev nlohmann-json3-dev libfmt-dev libeigen3-dev
  libpng-dev
  python3 # the papers' experiments
  libboost-dev # headers only; Boost.Math needs no library
  ccache # every fresh clone builds the same again; found later, it would have everything compiled anew
)
steelyard_test_packages=(
  iproute2 # two hosts on one machine
  libboost-context-dev # the emulated device's threads
  python3-jsonschema # files against core/schemas
)
steelyard_check_packages=(
  clang-format clang-tidy
  libomp-dev # <omp.h> for clang-tidy
  libbenchmark-dev # benchmarks/micro.cpp
)

steelyard_setup() {
  steelyard_find_cache || return 1
  steelyard_provide_packages "$1" || return 1
  if [[ $1 != run ]]; then steelyard_provide_catch2 || return 1; fi
  steelyard_provide_kokkos "${steelyard_architecture:-}"
}

# steelyard_choose_device WISH: sets steelyard_preset, for the preset cuda steelyard_architecture, and steelyard_gpu to
# whether this machine has a GPU for it. WISH is an architecture such as sm_90; `any`: that of this machine's GPU, or sm_90
# without one; `none`: the host alone; or empty: this machine's GPU where it has one and the CUDA toolkit.
steelyard_choose_device() {
  local wish=${1:-} found
  steelyard_find_cache || return 1
  steelyard_architecture='' steelyard_preset=release steelyard_gpu=false
  if [[ ! $wish =~ ^(|any|none|sm_[0-9]+)$ ]]; then
    steelyard_fail "--device=$wish (expected an architecture such as sm_90, or none)" || return 2
  fi
  if [[ $wish == none ]]; then return 0; fi
  if [[ -z $(type -P nvcc) && -x ${CUDA_HOME:-/usr/local/cuda}/bin/nvcc ]]; then
    PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
  fi
  if [[ -z $(type -P nvcc) ]]; then
    if [[ -z $wish ]]; then return 0; fi
    steelyard_fail "--device needs the CUDA toolkit: nvcc is neither on PATH nor in ${CUDA_HOME:-/usr/local/cuda}/bin" || return 3
  fi
  found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | sed -nE '1s/^([0-9]+)\.([0-9]+)$/sm_\1\2/p') || true
  if [[ $wish == sm_* ]]; then
    steelyard_architecture=$wish
  elif [[ -n $found ]]; then
    steelyard_architecture=$found
  elif [[ $wish == any ]]; then
    steelyard_architecture=sm_90
  else
    return 0
  fi
  steelyard_preset=cuda
  if [[ -n $found ]]; then
    steelyard_gpu=true
  else
    steelyard_say "no GPU on this machine: built for $steelyard_architecture, not run"
    steelyard_stand_in_for_driver
  fi
}

# Lets programs start that load the driver's library, on a machine without the driver: the toolkit has a stub of it.
steelyard_stand_in_for_driver() {
  local stubs folder=$steelyard_cache/cuda-stubs
  if /sbin/ldconfig -p 2>/dev/null | grep -q 'libcuda\.so\.1'; then return 0; fi
  stubs=$(dirname "$(dirname "$(readlink -f "$(type -P nvcc)")")")/lib64/stubs
  mkdir -p "$folder" && ln -sfn "$stubs/libcuda.so" "$folder/libcuda.so.1" &&
    export LD_LIBRARY_PATH="$folder${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
}

steelyard_say() {
  printf 'steelyard: %s\n' "$*" >&2
}

# Says what went wrong and what to do about it; its status is 1 for the caller to pass on.
steelyard_fail() {
  steelyard_say "$@"
  return 1
}

# Sets steelyard_cache. Nothing is created before something has to be written.
steelyard_find_cache() {
  local base=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  steelyard_cache=${STEELYARD_CACHE:-${base:+$base/steelyard}}
  if [[ -z $steelyard_cache ]]; then
    steelyard_fail "there is no HOME for a cache folder; set STEELYARD_CACHE to a folder of your own" || return 1
  fi
  if [[ $steelyard_cache != /* ]]; then steelyard_cache=$PWD/$steelyard_cache; fi
}

# Sets steelyard_log to an emptied file that takes the output of the stage NAME.
steelyard_open_log() {
  steelyard_log=$steelyard_cache/logs/$1.log
  if ! { mkdir -p "$steelyard_cache/logs" && : >"$steelyard_log"; } 2>/dev/null; then
    steelyard_fail "cannot write to the cache folder $steelyard_cache; set STEELYARD_CACHE to one you can write to"
  fi
}

# Runs a command that fills the cache: alone in this cache, logged as the stage NAME, with an empty folder
# $steelyard_work that is removed afterwards.
steelyard_fill_cache() {
  local name=$1
  shift
  (
    mkdir -p "$steelyard_cache" 2>/dev/null
    if { exec 9>"$steelyard_cache/lock"; } 2>/dev/null && ! flock --nonblock 9; then
      steelyard_say "waiting for another set-up to finish"
      flock 9
    fi
    steelyard_open_log "$name" || exit 1
    steelyard_work=$steelyard_cache/work
    trap 'rm -rf -- "$steelyard_work"' EXIT
    rm -rf -- "$steelyard_work" && mkdir "$steelyard_work" && "$@"
  ) </dev/null
}

# Sets steelyard_prefix to the newest finished folder of the cache whose name matches the pattern; status 1 if none does.
steelyard_find_cached() {
  steelyard_prefix=$(compgen -G "$steelyard_cache/$1" | sort --version-sort | tail -n 1) || return 1
  [[ -n $steelyard_prefix ]]
}

steelyard_add_prefix() {
  export CMAKE_PREFIX_PATH="$1${CMAKE_PREFIX_PATH:+:$CMAKE_PREFIX_PATH}"
}

# Whether the caller's own environment names the CMake package: by <package>_ROOT, <package>_DIR or CMAKE_PREFIX_PATH.
steelyard_is_given() {
  local package=$1 root_variable=$1_ROOT dir_variable=$1_DIR prefix prefixes
  if [[ -n ${!root_variable:-}${!dir_variable:-} ]]; then return 0; fi
  IFS=: read -ra prefixes <<<"${CMAKE_PREFIX_PATH:-}"
  for prefix in ${prefixes[@]+"${prefixes[@]}"}; do
    if compgen -G "$prefix/lib*/cmake/$package*/${package}Config.cmake" >/dev/null ||
      compgen -G "$prefix/lib*/*/cmake/$package*/${package}Config.cmake" >/dev/null; then
      return 0
    fi
  done
  return 1
}

# Whether a CMake project with the lines on standard input configures.
steelyard_cmake_accepts() {
  local folder status=0
  folder=$(mktemp -d) || return 1
  { printf 'cmake_minimum_required(VERSION 3.16)\nproject(probe CXX)\n' && cat; } >"$folder/CMakeLists.txt"
  cmake -S "$folder" -B "$folder/build" -G Ninja || status=1
  rm -rf -- "$folder"
  return "$status"
}

# Installs what is missing for "run", "test" or "check", each of which needs what is before it; touches neither apt nor
# root's rights when nothing is.
steelyard_provide_packages() {
  local missing wanted=("${steelyard_run_packages[@]}")
  if [[ $1 != run ]]; then wanted+=("${steelyard_test_packages[@]}"); fi
  if [[ $1 == check ]]; then wanted+=("${steelyard_check_packages[@]}"); fi
  if ! steelyard_is_debian; then
    steelyard_say "not a Debian system: dependencies are up to you (CMAKE_PREFIX_PATH, see README.md)"
    return 0
  fi
  mapfile -t missing < <(steelyard_missing_packages "${wanted[@]}")
  if ((${#missing[@]} > 0)); then steelyard_install_packages "${missing[@]}"; fi
}

steelyard_debian_codename() {
  (source /etc/os-release && printf '%s\n' "${VERSION_CODENAME:-}") 2>/dev/null
}

steelyard_is_debian() {
  [[ -n $(type -P dpkg-query) && -n $(type -P apt-get) ]]
}

# Prints those of the packages that are not installed.
steelyard_missing_packages() {
  # shellcheck disable=SC2016  # dpkg-query expands these itself
  printf '%s\n' "$@" | grep -vxFf <(
    dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null | sed -n 's/^installed //p'
  )
}

steelyard_install_packages() {
  local become_root=() archive_reached=yes
  if ((EUID != 0)); then
    if ! sudo -n true >/dev/null 2>&1; then
      steelyard_fail "Debian packages are missing; run: sudo apt-get install --no-install-recommends $*" || return 1
    fi
    become_root=(sudo -n)
  fi
  steelyard_open_log packages || return 1
  steelyard_say "installing Debian packages: $*"
  local apt=(${become_root[@]+"${become_root[@]}"} env DEBIAN_FRONTEND=noninteractive
    apt-get -y -o DPkg::Lock::Timeout=300)
  # An unreachable third-party archive in the machine's sources is no reason to stop: the installation decides.
  "${apt[@]}" -o APT::Update::Error-Mode=any update >>"$steelyard_log" 2>&1 </dev/null || archive_reached=no
  if ! "${apt[@]}" install --no-install-recommends "$@" >>"$steelyard_log" 2>&1 </dev/null; then
    if [[ $archive_reached == no ]]; then
      steelyard_fail "cannot reach the Debian package archive (log: $steelyard_log); install by hand: $*" || return 1
    fi
    steelyard_fail "apt-get could not install the missing packages (log: $steelyard_log); install by hand: $*"
  fi
}
