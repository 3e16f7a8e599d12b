# steelyard_add_commit(TARGET TEMPLATE [NAME=VALUE…]): compiles TEMPLATE, which is called *.cpp.in, into TARGET. At every
# build, @commit@ in it becomes the commit of the project that calls this, or unknown where git does not track it,
# @dirty@ whether there are uncommitted changes, and @NAME@ its VALUE.
function(steelyard_add_commit target template)
  cmake_path(GET template STEM LAST_ONLY source)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_${source})
  list(TRANSFORM ARGN PREPEND -D OUTPUT_VARIABLE values)
  add_custom_target(${target}_commit BYPRODUCTS ${output} COMMENT ""
    COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DTEMPLATE=${template} -DOUTPUT=${output} ${values}
            -P ${CMAKE_CURRENT_FUNCTION_LIST_FILE} VERBATIM)
  target_sources(${target} PRIVATE ${output})
  add_dependencies(${target} ${target}_commit)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  set(commit unknown)
  set(dirty false)
  # A folder that some other project's repository ignores has no commit.
  execute_process(COMMAND git -C ${SOURCE} ls-files --error-unmatch CMakeLists.txt RESULT_VARIABLE untracked
                  OUTPUT_QUIET ERROR_QUIET)
  if(NOT untracked)
    execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE)
    execute_process(COMMAND git -C ${SOURCE} status --porcelain OUTPUT_VARIABLE changes)
    if(changes)
      set(dirty true)
    endif()
  endif()
  # Written only where it changes, so that nothing is compiled again for nothing.
  configure_file(${TEMPLATE} ${OUTPUT} @ONLY)
endif()
