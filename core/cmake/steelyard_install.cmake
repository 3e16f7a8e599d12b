# The exported CMake package: find_package(steelyard) gives steelyard::base, models, partition and, where they were built,
# core, images and comm.
include(CMakePackageConfigHelpers)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/steelyard)
configure_package_config_file(${PROJECT_SOURCE_DIR}/core/cmake/steelyard-config.cmake.in
                              ${PROJECT_BINARY_DIR}/steelyard-config.cmake INSTALL_DESTINATION ${destination})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/steelyard-config-version.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT steelyard-targets NAMESPACE steelyard:: DESTINATION ${destination})
install(FILES ${PROJECT_BINARY_DIR}/steelyard-config.cmake ${PROJECT_BINARY_DIR}/steelyard-config-version.cmake
        ${PROJECT_SOURCE_DIR}/core/cmake/Findhwloc.cmake DESTINATION ${destination})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
