# What makes programs of mini-apps, here and in any project that has found the installed package. Two files beside this one
# are their main().

# steelyard_add_miniapp(NAME SOURCE… [LINK LIBRARY…])
# The program NAME, with the options, models, distribution, prediction, checks and results of every mini-app. One of its
# sources has STEELYARD_MINIAPP(NAME, …). All are compiled for the processor that the suite was compiled for, so that they
# compute the same bits as in the tree.
function(steelyard_add_miniapp name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "LINK")
  add_library(steelyard_${name}_app STATIC ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(steelyard_${name}_app PUBLIC ${arg_LINK} steelyard::app)
  target_compile_options(steelyard_${name}_app PRIVATE ${steelyard_processor_options})
  add_executable(${name} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/main.cpp)
  target_link_libraries(${name} PRIVATE steelyard_${name}_app)
  target_compile_definitions(${name} PRIVATE STEELYARD_MINIAPP_MAKER=make_${name})
  steelyard_name_commit(${name})
endfunction()

# steelyard_add_tool(NAME MINIAPP…)
# The program NAME: all commands of the tool `steelyard`, of which `measure`, `predict` and `conformance` know these
# mini-apps. Needs the component `tool`.
function(steelyard_add_tool name)
  steelyard_write_main(${name} tool_main ${ARGN})
  add_executable(${name} ${CMAKE_CURRENT_BINARY_DIR}/${name}_main.cpp)
  list(TRANSFORM ARGN PREPEND steelyard_ OUTPUT_VARIABLE libraries)
  list(TRANSFORM libraries APPEND _app)
  target_link_libraries(${name} PRIVATE ${libraries} steelyard::tool)
  steelyard_name_commit(${name})
endfunction()

# Writes NAME_main.cpp, whose main() calls steelyard::tool::FUNCTION with these mini-apps.
function(steelyard_write_main name function)
  set(declarations "")
  set(calls "")
  foreach(app ${ARGN})
    string(APPEND declarations "std::unique_ptr<MiniApp> make_${app}();\n")
    string(APPEND calls "  apps.push_back(steelyard::make_${app}());\n")
  endforeach()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tool_main.cpp.in ${name}_main.cpp @ONLY)
endfunction()

# Results of a program outside the tree name the commit of its project.
function(steelyard_name_commit program)
  if(NOT PROJECT_NAME STREQUAL "steelyard")
    steelyard_add_commit(${program} ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/program_commit.cpp.in)
  endif()
endfunction()
