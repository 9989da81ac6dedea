# The revision that is built, as a C string: git's, else that of a source archive (.revision). Run with -DSOURCE= -DOUT=; OUT is
# written when it differs alone, so that nothing is compiled for it.
set(revision "")
if(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git -C ${SOURCE} rev-parse --short=12 HEAD OUTPUT_VARIABLE revision
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
elseif(EXISTS ${SOURCE}/.revision)
  file(STRINGS ${SOURCE}/.revision revision LIMIT_COUNT 1)
endif()
if(NOT revision MATCHES "^[0-9a-f]+$")
  set(revision unknown)
endif()
set(text "#include \"server/build.h\"\n\nconst char dg_build_revision[] = \"${revision}\";\n")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT text STREQUAL "${before}")
  file(WRITE ${OUT} "${text}")
endif()
