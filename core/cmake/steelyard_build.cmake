# How every target of the suite is compiled, and the functions that the folders use to declare theirs.
include(GNUInstallDirs)
include(steelyard_commit)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  set(CMAKE_VERIFY_INTERFACE_HEADER_SETS ON)
else()
  # As a part of another project, only what that links is built.
  set_directory_properties(PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
if(NOT DEFINED CMAKE_INSTALL_RPATH)
  set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
endif()

# Sources of the suite include its headers by their paths from the root of the tree, everybody else as steelyard/…: by these
# links, or as they are installed.
set(STEELYARD_HEADERS ${PROJECT_BINARY_DIR}/include/steelyard)
file(MAKE_DIRECTORY ${STEELYARD_HEADERS})
foreach(folder core models partition comm miniapps tests)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${folder} ${STEELYARD_HEADERS}/${folder} SYMBOLIC)
endforeach()

option(STEELYARD_NATIVE "Compile for the processor of this machine" ${PROJECT_IS_TOP_LEVEL})
if(STEELYARD_NATIVE AND NOT CMAKE_CROSSCOMPILING)
  include(CheckCXXCompilerFlag)
  check_cxx_compiler_flag(-march=native STEELYARD_HAS_MARCH_NATIVE)
  if(STEELYARD_HAS_MARCH_NATIVE)
    set(steelyard_processor_options -march=native)
    # GCC 12.2, Debian 12's, stores constants whose tail is zero, such as {8, 8, 0, 0}, as {8, 8, 8, 8} where it may use
    # AVX-512 (F). Such a compiler goes without.
    include(CheckCXXSourceRuns)
    set(CMAKE_REQUIRED_FLAGS "-O3 -march=native")
    check_cxx_source_runs("
      #include <vector>
      __attribute__((noinline)) std::vector<long long> four() { return {8, 8, 0, 0}; }
      int main() { return four()[3] == 0 ? 0 : 1; }" STEELYARD_HAS_CORRECT_CONSTANTS)
    unset(CMAKE_REQUIRED_FLAGS)
    if(NOT STEELYARD_HAS_CORRECT_CONSTANTS)
      check_cxx_compiler_flag(-mno-avx512f STEELYARD_HAS_NO_AVX512F)
      if(STEELYARD_HAS_NO_AVX512F)
        list(APPEND steelyard_processor_options -mno-avx512f)
      endif()
    endif()
    add_compile_options(${steelyard_processor_options})
  endif()
endif()

# steelyard_library(NAME PAIRS … HEADERS … SOURCES … LINK …)
# A library `steelyard::NAME` of this folder; a pair is NAME.hpp and NAME.cpp. Headers are given by their path from here,
# installed, and each compiled alone by the target `all_verify_interface_header_sets`.
# A component of the CMake package, which core/cmake/steelyard-config.cmake.in knows.
function(steelyard_library name)
  cmake_parse_arguments(arg "" "" "PAIRS;HEADERS;SOURCES;LINK" ${ARGN})
  foreach(pair ${arg_PAIRS})
    list(APPEND arg_HEADERS ${pair}.hpp)
    list(APPEND arg_SOURCES ${pair}.cpp)
  endforeach()
  add_library(steelyard_${name} ${arg_SOURCES})
  add_library(steelyard::${name} ALIAS steelyard_${name})
  set_target_properties(steelyard_${name} PROPERTIES EXPORT_NAME ${name})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  list(TRANSFORM arg_HEADERS PREPEND ${STEELYARD_HEADERS}/${folder}/)
  target_sources(steelyard_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_BINARY_DIR}/include FILES ${arg_HEADERS})
  target_include_directories(steelyard_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  target_compile_features(steelyard_${name} PUBLIC cxx_std_20)
  target_link_libraries(steelyard_${name} PUBLIC ${arg_LINK})
  steelyard_warnings(steelyard_${name})
  set_property(GLOBAL APPEND PROPERTY STEELYARD_LIBRARIES ${name})
  if(PROJECT_IS_TOP_LEVEL)
    install(TARGETS steelyard_${name} EXPORT steelyard-${name} COMPONENT libraries
            ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
            FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT libraries)
  endif()
endfunction()

function(steelyard_warnings target)
  if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND NOT Kokkos_ENABLE_CUDA)
    # With names of source files as they are below the root, a compiler's cache serves every clone.
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wnon-virtual-dtor
                                             -fmacro-prefix-map=${PROJECT_SOURCE_DIR}=.)
    if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # It takes source files that are compiled together for headers, which should have no members of local types.
      target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
  endif()
endfunction()
