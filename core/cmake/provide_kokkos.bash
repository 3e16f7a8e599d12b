# Kokkos and Kokkos Kernels with OpenMP: the caller's, the machine's, or built here from Debian's source package of
# Trilinos, which holds both. Sourced by setup.bash.
# shellcheck disable=SC2154  # setup.bash sets steelyard_cache, _prefix, _log and _work

steelyard_provide_kokkos() {
  local cached
  if steelyard_is_given Kokkos; then
    return 0
  fi
  cached="kokkos-*-$(steelyard_machine_key)" || return 1
  if steelyard_find_cached "$cached"; then
    steelyard_add_prefix "$steelyard_prefix"
    return 0
  elif steelyard_machine_has_kokkos || ! steelyard_is_debian; then
    return 0 # without either, CMake will say what is missing
  fi
  steelyard_fill_cache kokkos steelyard_build_kokkos "$cached" || return 1
  steelyard_find_cached "$cached" && steelyard_add_prefix "$steelyard_prefix"
}

# Prints a short name for the compiler, the instructions it uses on this processor and the system release, so that one
# cache can serve different machines. The predefined macros spell out the first two.
steelyard_machine_key() {
  local macros
  if ! macros=$(steelyard_compile "$(steelyard_native_flag)" -dM -E -x c++ /dev/null); then
    steelyard_fail "cannot run the C++ compiler '${CXX:-c++}'; install g++, or set CXX" || return 1
  fi
  sha256sum <<<"$macros $(steelyard_debian_codename)" | cut -c 1-8
}

# Prints the flag that tunes for this processor, if the compiler knows one.
steelyard_native_flag() {
  if steelyard_compile -march=native -E -x c++ /dev/null >/dev/null; then
    echo -march=native
  fi
}

# Runs the compiler that CMake will choose, leaving out empty arguments.
steelyard_compile() {
  local compiler argument
  read -ra compiler <<<"${CXX:-c++}"
  for argument in "$@"; do
    compiler+=(${argument:+"$argument"})
  done
  "${compiler[@]}" 2>/dev/null
}

# A Serial-only Kokkos, such as Debian's binary package, would quietly leave all cores but one idle; programs that use
# one made for a GPU do not even start without its driver, so such a one has to be named by the caller.
steelyard_machine_has_kokkos() {
  steelyard_cmake_accepts >/dev/null 2>&1 <<'END'
find_package(Kokkos REQUIRED)
string(TOUPPER "${Kokkos_DEVICES}" devices)
list(REMOVE_ITEM devices SERIAL)
if(Kokkos_VERSION VERSION_LESS 3.4 OR NOT devices STREQUAL "OPENMP")
  message(FATAL_ERROR "not usable")
endif()
END
}

# Builds both into the cache, under a name that matches the pattern.
steelyard_build_kokkos() {
  local pattern=$1 version staging=$steelyard_work/prefix prefix
  if steelyard_find_cached "$pattern"; then
    return 0 # made by the set-up we waited for
  fi
  steelyard_say "fetching the Kokkos sources (Debian's source package trilinos, 160 MB, once)"
  if ! steelyard_private_apt_update deb-src "" >>"$steelyard_log" 2>&1; then
    steelyard_fail "cannot reach the Debian package archive (log: $steelyard_log);" \
      "set Kokkos_ROOT to an installed Kokkos" || return 1
  fi
  if ! steelyard_fetch_kokkos_sources >>"$steelyard_log" 2>&1; then
    steelyard_fail "cannot get the Kokkos sources from the Debian archive (log: $steelyard_log);" \
      "set Kokkos_ROOT to an installed Kokkos" || return 1
  fi
  version=$(sed -nE 's/^ *set\(Kokkos_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)\).*/\2/ip' \
    "$steelyard_work/kokkos/CMakeLists.txt" | paste -sd .)
  prefix=$steelyard_cache/${pattern/\*/"$version"}
  steelyard_say "building Kokkos $version (about a minute, once)"
  if ! {
    steelyard_install_kokkos "$staging" &&
      steelyard_install_kokkos_kernels "$staging" &&
      # Kokkos Kernels notes where it found Kokkos
      find "$staging" -name '*.cmake' -exec sed -i "s|$staging|$prefix|g" {} + &&
      mv "$staging" "$prefix"
  } >>"$steelyard_log" 2>&1; then
    steelyard_fail "building Kokkos $version failed (log: $steelyard_log); set Kokkos_ROOT to an installed Kokkos"
  fi
}

steelyard_fetch_kokkos_sources() {
  cd "$steelyard_work" &&
    apt-get -c apt.conf source --download-only --tar-only trilinos &&
    tar -xf trilinos_*.orig.tar.* --strip-components=2 --wildcards --no-wildcards-match-slash \
      '*/packages/kokkos' '*/packages/kokkos-kernels'
}

steelyard_install_kokkos() {
  steelyard_cmake_install "$steelyard_work/kokkos" "$1" \
    -D Kokkos_ENABLE_OPENMP=ON -D Kokkos_ENABLE_SERIAL=ON \
    -D Kokkos_ENABLE_TESTS=OFF -D Kokkos_ENABLE_EXAMPLES=OFF
}

# Instantiation ahead of use takes hours; what the suite calls is instantiated where it is called, or goes to BLAS.
# Naming the form of BLAS symbols spares a Fortran compiler, which would be needed only to find it out.
steelyard_install_kokkos_kernels() {
  steelyard_cmake_install "$steelyard_work/kokkos-kernels" "$1" \
    -D Kokkos_ROOT="$1" -D KokkosKernels_ENABLE_TPL_BLAS=ON -D F77_BLAS_MANGLE='(name,NAME) name ## _' \
    -D KokkosKernels_ADD_DEFAULT_ETI=OFF \
    -D KokkosKernels_INST_DOUBLE=OFF -D KokkosKernels_INST_FLOAT=OFF \
    -D KokkosKernels_INST_LAYOUTLEFT=OFF -D KokkosKernels_INST_LAYOUTRIGHT=OFF
}

# C++17 is what this Kokkos was released for; for its users it is a minimum. It expects <cstdint> to come with other
# headers, which it no longer does with g++ 13 and newer.
steelyard_cmake_install() {
  local source=$1 prefix=$2
  shift 2
  cmake -S "$source" -B "$source-build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$prefix" \
    -D CMAKE_INSTALL_LIBDIR=lib -D CMAKE_CXX_STANDARD=17 -D CMAKE_CXX_EXTENSIONS=OFF \
    -D CMAKE_CXX_FLAGS="$(steelyard_native_flag) -include cstdint" -D CMAKE_POSITION_INDEPENDENT_CODE=ON "$@" &&
    cmake --build "$source-build" &&
    cmake --install "$source-build"
}
