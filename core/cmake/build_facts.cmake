# Runs at every build: writes the header that says which commit this binary is of. Rewritten only when that changed, so
# that nothing is compiled again for nothing. Arguments: SOURCE, OUTPUT, VERSION, COMPILER, FLAGS.
execute_process(COMMAND git -C ${SOURCE} rev-parse HEAD OUTPUT_VARIABLE commit RESULT_VARIABLE failed
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(dirty false)
if(failed)
  set(commit unknown)
else()
  execute_process(COMMAND git -C ${SOURCE} status --porcelain OUTPUT_VARIABLE changes ERROR_QUIET)
  if(changes)
    set(dirty true)
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
#define STEELYARD_VERSION "@VERSION@"
#define STEELYARD_COMMIT "@commit@"
#define STEELYARD_DIRTY @dirty@
#define STEELYARD_COMPILER "@COMPILER@"
#define STEELYARD_FLAGS "@FLAGS@"
]])
