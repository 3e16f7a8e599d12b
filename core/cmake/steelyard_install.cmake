# The exported CMake package: find_package(steelyard COMPONENTS …) gives steelyard::base, models, partition and, where they
# were built, images, core, comm, app and tool. `cmake --install BUILD --component libraries` installs it without the programs.
get_property(STEELYARD_LIBRARIES GLOBAL PROPERTY STEELYARD_LIBRARIES)
set(STEELYARD_CORE_PACKAGES CLI11 Kokkos hwloc BLAS ${STEELYARD_DEVICE_PACKAGES})
if(STEELYARD_NEEDS_KOKKOS_KERNELS)
  list(APPEND STEELYARD_CORE_PACKAGES KokkosKernels)
endif()
if(STEELYARD_EMULATED_DEVICE)
  list(APPEND STEELYARD_CORE_PACKAGES "Boost COMPONENTS context" "Eigen3 NO_MODULE")
endif()

include(CMakePackageConfigHelpers)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/steelyard)
configure_package_config_file(${PROJECT_SOURCE_DIR}/core/cmake/steelyard-config.cmake.in
                              ${PROJECT_BINARY_DIR}/steelyard-config.cmake INSTALL_DESTINATION ${destination})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/steelyard-config-version.cmake COMPATIBILITY SameMinorVersion)
foreach(library ${STEELYARD_LIBRARIES})
  install(EXPORT steelyard-${library} NAMESPACE steelyard:: DESTINATION ${destination} COMPONENT libraries)
endforeach()
install(FILES ${PROJECT_BINARY_DIR}/steelyard-config.cmake ${PROJECT_BINARY_DIR}/steelyard-config-version.cmake
        ${PROJECT_SOURCE_DIR}/core/cmake/Findhwloc.cmake DESTINATION ${destination} COMPONENT libraries)
if(TARGET steelyard_app)
  install(FILES ${PROJECT_SOURCE_DIR}/miniapps/app/steelyard_miniapp.cmake ${PROJECT_SOURCE_DIR}/miniapps/app/main.cpp
          ${PROJECT_SOURCE_DIR}/miniapps/app/tool_main.cpp.in ${PROJECT_SOURCE_DIR}/core/cmake/steelyard_commit.cmake
          ${PROJECT_SOURCE_DIR}/core/cmake/program_commit.cpp.in DESTINATION ${destination} COMPONENT libraries)
  # Both tutorials as a project of its own, with the text that walks through them.
  set(example ${CMAKE_INSTALL_DOCDIR}/example)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/miniapps/jacobi ${PROJECT_SOURCE_DIR}/miniapps/heat
          DESTINATION ${example}/miniapps COMPONENT libraries FILES_MATCHING PATTERN "*.?pp")
  install(FILES ${PROJECT_SOURCE_DIR}/tests/package/miniapp/CMakeLists.txt ${PROJECT_SOURCE_DIR}/miniapps/README.md
          DESTINATION ${example} COMPONENT libraries)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/core/packaging/modulefile
        DESTINATION ${CMAKE_INSTALL_DATADIR}/modulefiles/steelyard RENAME ${PROJECT_VERSION})
# bash-completion looks for a file of the command's name.
get_property(mini_apps GLOBAL PROPERTY STEELYARD_MINIAPPS)
foreach(name steelyard ${mini_apps})
  install(FILES ${PROJECT_SOURCE_DIR}/core/packaging/completion.bash
          DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME ${name})
endforeach()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/schemas DESTINATION ${CMAKE_INSTALL_DATADIR}/steelyard COMPONENT libraries)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT libraries)
install(CODE "set(steelyard_installed ${CMAKE_INSTALL_INCLUDEDIR}/steelyard ${destination} ${example})" COMPONENT libraries)
install(SCRIPT ${PROJECT_SOURCE_DIR}/core/cmake/include_as_installed.cmake COMPONENT libraries)
