# The Debian packages Steelyard needs, and their installation. Sourced by setup.bash.
# shellcheck disable=SC2154  # setup.bash sets steelyard_log

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
)
steelyard_check_packages=(
  clang-format clang-tidy
  libomp-dev # <omp.h> for clang-tidy
  libbenchmark-dev # benchmarks/micro
)

# Installs what is missing for "run", "test" or "check", each of which needs what is before it; touches neither apt nor
# root's rights when nothing is.
steelyard_provide_packages() {
  local wanted=("${steelyard_run_packages[@]}")
  if [[ $1 != run ]]; then
    wanted+=("${steelyard_test_packages[@]}")
  fi
  if [[ $1 == check ]]; then
    wanted+=("${steelyard_check_packages[@]}")
  fi
  if ! steelyard_is_debian; then
    steelyard_say "not a Debian system: dependencies are up to you (CMAKE_PREFIX_PATH, see README.md)"
    return 0
  fi
  local missing
  mapfile -t missing < <(steelyard_missing_packages "${wanted[@]}")
  if ((${#missing[@]} > 0)); then
    steelyard_install_packages "${missing[@]}"
  fi
}

steelyard_is_debian() {
  [[ -n $(type -P dpkg-query) && -n $(type -P apt-get) ]]
}

# Prints those of the packages that are not installed.
steelyard_missing_packages() {
  local package installed
  # shellcheck disable=SC2016  # dpkg-query expands these itself
  installed=$(dpkg-query --show --showformat '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null) || true # unknown ones
  for package in "$@"; do
    if [[ $'\n'$installed$'\n' != *$'\n'"installed $package"$'\n'* ]]; then
      printf '%s\n' "$package"
    fi
  done
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
