# FFTW's own CMake package knows one precision and points nowhere where a distribution made it with Autotools: finds FFTW
# by its header and libraries and defines FFTW3::fftw3 (double) and FFTW3::fftw3f (float). Where they are found, also
# FFTW3::fftw3_omp and FFTW3::fftw3f_omp, whose plans have OpenMP's threads.
find_path(FFTW3_INCLUDE_DIR fftw3.h)
foreach(name fftw3 fftw3f fftw3_omp fftw3f_omp)
  find_library(${name}_LIBRARY ${name})
  mark_as_advanced(${name}_LIBRARY)
endforeach()
mark_as_advanced(FFTW3_INCLUDE_DIR)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FFTW3 REQUIRED_VARS fftw3_LIBRARY fftw3f_LIBRARY FFTW3_INCLUDE_DIR)
foreach(name fftw3 fftw3f fftw3_omp fftw3f_omp)
  if(FFTW3_FOUND AND ${name}_LIBRARY AND NOT TARGET FFTW3::${name})
    add_library(FFTW3::${name} UNKNOWN IMPORTED)
    set_target_properties(FFTW3::${name} PROPERTIES IMPORTED_LOCATION ${${name}_LIBRARY}
                          INTERFACE_INCLUDE_DIRECTORIES ${FFTW3_INCLUDE_DIR})
    if(name MATCHES "(.*)_omp")
      set_property(TARGET FFTW3::${name} PROPERTY INTERFACE_LINK_LIBRARIES FFTW3::${CMAKE_MATCH_1})
    endif()
  endif()
endforeach()
