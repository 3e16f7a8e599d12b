# Kokkos and Kokkos Kernels: the caller's, the machine's, or built here from a source archive that holds both. Sourced by
# setup.bash.
# shellcheck disable=SC2154  # setup.bash sets steelyard_cache, _prefix, _log and _work

# The Python package that carries both, as upstream released them.
steelyard_kokkos_version=4.5.01
steelyard_kokkos_package=pycompadre
steelyard_kokkos_archive=pycompadre-1.7.6.tar.gz
steelyard_kokkos_sha256=c766ec4d445ce076069be4b8c51a23ffac4ee79ea949ca86446bfd8c299b154c

# steelyard_provide_kokkos [ARCHITECTURE]: for hosts, or for a CUDA device such as sm_90 too.
steelyard_provide_kokkos() {
  local architecture=${1:-} name
  if steelyard_is_given Kokkos; then
    return 0
  fi
  name=$(steelyard_kokkos_name "$architecture") || return 1
  if [[ ! -e $steelyard_cache/$name ]]; then
    if [[ -z $architecture ]] && { steelyard_machine_has_kokkos || ! steelyard_is_debian; }; then
      return 0 # without either, CMake will say what is missing
    fi
    steelyard_fill_cache "kokkos${architecture:+-$architecture}" steelyard_build_kokkos "$name" "$architecture" || return 1
  fi
  steelyard_add_prefix "$steelyard_cache/$name"
}

# Prints the name of the installation in the cache, which differs by compilers, the processor's instructions and the
# system release, so that one cache serves different machines. The predefined macros spell out the first two.
steelyard_kokkos_name() {
  local macros flag
  flag=$(steelyard_native_flag)
  if ! macros=$(steelyard_compile ${flag:+"$flag"} -dM -E -x c++ /dev/null); then
    steelyard_fail "cannot run the C++ compiler '${CXX:-c++}'; install g++, or set CXX" || return 1
  fi
  if [[ -n $1 ]]; then macros+=$(nvcc --version); fi
  echo "kokkos-$steelyard_kokkos_version${1:+-$1}-$(sha256sum <<<"$macros $(steelyard_debian_codename)" | cut -c 1-8)"
}

# Prints the flag that tunes for this processor, if the compiler knows one.
steelyard_native_flag() {
  if steelyard_compile -march=native -E -x c++ /dev/null >/dev/null; then
    echo -march=native
  fi
}

# Runs the compiler that CMake will choose.
steelyard_compile() {
  local compiler
  read -ra compiler <<<"${CXX:-c++}"
  "${compiler[@]}" "$@" 2>/dev/null
}

# A Serial-only Kokkos, such as Debian's binary package, would quietly leave all cores but one idle; programs that use
# one made for a GPU do not even start without its driver, so such a one has to be named by the caller.
steelyard_machine_has_kokkos() {
  steelyard_cmake_accepts >/dev/null 2>&1 <<'END'
find_package(Kokkos REQUIRED)
string(TOUPPER "${Kokkos_DEVICES}" devices)
list(REMOVE_ITEM devices SERIAL)
if(Kokkos_VERSION VERSION_LESS 4.5 OR NOT devices STREQUAL "OPENMP")
  message(FATAL_ERROR "not usable")
endif()
END
}

# Builds both into the folder NAME of the cache, Kokkos Kernels for hosts alone: devices have their vendor's BLAS.
steelyard_build_kokkos() {
  local name=$1 architecture=$2 prefix=$steelyard_work/prefix
  local failed=("failed (log: $steelyard_log); set Kokkos_ROOT to an installed Kokkos")
  if [[ -e $steelyard_cache/$name ]]; then
    return 0 # made by the set-up we waited for
  fi
  steelyard_say "fetching the sources of Kokkos $steelyard_kokkos_version (6 MB, once)"
  if ! steelyard_fetch_kokkos >>"$steelyard_log" 2>&1; then
    steelyard_fail "fetching $steelyard_kokkos_archive from the Python package index ${failed[*]}" || return 1
  fi
  steelyard_say "building Kokkos $steelyard_kokkos_version${architecture:+ for CUDA devices of $architecture} (minutes, once)"
  if ! {
    if [[ -n $architecture ]]; then
      steelyard_install_kokkos_for_cuda "$prefix" "$architecture"
    else
      steelyard_install_kokkos "$prefix" && steelyard_install_kokkos_kernels "$prefix"
    fi &&
      # Kokkos Kernels notes where it found Kokkos
      find "$prefix" -name '*.cmake' -exec sed -i "s|$prefix|$steelyard_cache/$name|g" {} + &&
      mv "$prefix" "$steelyard_cache/$name"
  } >>"$steelyard_log" 2>&1; then
    steelyard_fail "building Kokkos $steelyard_kokkos_version ${failed[*]}"
  fi
}

# Downloads the archive from the package index that pip is configured for; pip itself would build it.
steelyard_fetch_kokkos() {
  if ! python3 -c 'import pip' 2>/dev/null && steelyard_is_debian; then
    steelyard_install_packages python3-pip || return 1
  fi
  cd "$steelyard_work" &&
    python3 - "$steelyard_kokkos_package" "$steelyard_kokkos_archive" <<'END' &&
import html, os, re, subprocess, sys, urllib.parse, urllib.request
from pip._internal.models.index import PyPI

package, archive = sys.argv[1:]
configured = subprocess.run([sys.executable, "-m", "pip", "config", "get", "global.index-url"], capture_output=True, text=True)
index = os.environ.get("PIP_INDEX_URL") or configured.stdout.strip() or PyPI.simple_url
page = urllib.parse.urljoin(index.rstrip("/") + "/", package + "/")
with urllib.request.urlopen(page, timeout=60) as answer:
    links = re.findall(r'<a[^>]*href="([^"]+)"[^>]*>\s*' + re.escape(archive), answer.read().decode())
if not links:
    sys.exit(f"{page} has no {archive}")
with urllib.request.urlopen(urllib.parse.urljoin(page, html.unescape(links[0])), timeout=600) as answer, open(archive, "wb") as file:
    file.write(answer.read())
END
    sha256sum --check <<<"$steelyard_kokkos_sha256  $steelyard_kokkos_archive" &&
    tar -xzf "$steelyard_kokkos_archive" --strip-components=1 --wildcards '*/kokkos' '*/kokkos-kernels'
}

steelyard_install_kokkos() {
  local prefix=$1
  shift
  steelyard_cmake_install "$steelyard_work/kokkos" "$prefix" \
    -D CMAKE_CXX_FLAGS="$(steelyard_native_flag)" \
    -D Kokkos_ENABLE_OPENMP=ON -D Kokkos_ENABLE_SERIAL=ON "$@"
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

# steelyard_install_kokkos_for_cuda PREFIX ARCHITECTURE. Kokkos names architectures by their generation, HOPPER90 for sm_90;
# it is given the newest one that it knows up to that at hand, whose intermediate code newer devices translate.
steelyard_install_kokkos_for_cuda() {
  local prefix=$1 wanted=${2#sm_} generation
  generation=$(sed -nE 's/.*check_cuda_arch\(([A-Z]+[0-9]+) +sm_([0-9]+)\).*/\2 \1/ip' \
    "$steelyard_work/kokkos/cmake/kokkos_arch.cmake" | sort -n | awk -v wanted="$wanted" '$1 <= wanted { name = $2 } END { print name }')
  [[ -n $generation ]] || { echo "Kokkos $steelyard_kokkos_version knows no device like sm_$wanted"; return 1; }
  if [[ ! $(nvcc --version) =~ release\ ([0-9]+) ]]; then return 1; fi
  if ((BASH_REMATCH[1] >= 13)); then steelyard_adapt_kokkos_to_cuda_13 "${generation##*[A-Z]}" || return 1; fi
  steelyard_install_kokkos "$prefix" -D CMAKE_CXX_COMPILER="$steelyard_work/kokkos/bin/nvcc_wrapper" \
    -D Kokkos_ENABLE_CUDA=ON -D "Kokkos_ARCH_$generation=ON"
}

# CUDA 13 changed parameters of three functions and dropped sm_70. Kokkos follows from 5.0 on.
# steelyard_adapt_kokkos_to_cuda_13 NUMBER: of the architecture.
steelyard_adapt_kokkos_to_cuda_13() {
  local location='cudaMemLocation{cudaMemLocationTypeDevice,'
  sed -i -e 's/\(cudaGraphAddDependencies(graph, from, to,\) numDependencies/\1 nullptr, numDependencies/' \
    -e "s/\(cudaMemAdvise(devPtr, count, advice,\) device)/\1 $location device})/" \
    -e "s/\(cudaMemPrefetchAsync(devPtr, count,\) dstDevice,/\1 $location dstDevice}, 0,/" \
    "$steelyard_work/kokkos/core/src/Cuda/Kokkos_Cuda_Instance.hpp" &&
    sed -i "s/^default_arch=.*/default_arch=sm_$1/" "$steelyard_work/kokkos/bin/nvcc_wrapper"
}

steelyard_cmake_install() {
  local source=$1 prefix=$2
  shift 2
  cmake -S "$source" -B "$source-build" -G Ninja -D CMAKE_BUILD_TYPE=Release -D CMAKE_INSTALL_PREFIX="$prefix" \
    -D CMAKE_INSTALL_LIBDIR=lib -D CMAKE_CXX_STANDARD=20 -D CMAKE_CXX_EXTENSIONS=OFF \
    -D CMAKE_POSITION_INDEPENDENT_CODE=ON "$@" &&
    cmake --build "$source-build" &&
    cmake --install "$source-build"
}
