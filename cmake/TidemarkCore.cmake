# The library of another build folder, for an extension of another Python.

foreach(needed libtidemark.so include/tidemark/ops.h)
  if(NOT EXISTS "${TIDEMARK_CORE}/${needed}")
    message(FATAL_ERROR "${TIDEMARK_CORE} holds no ${needed}; build it first: ./dev build")
  endif()
endforeach()

add_library(tidemark SHARED IMPORTED)
set_target_properties(tidemark PROPERTIES
  IMPORTED_LOCATION "${TIDEMARK_CORE}/libtidemark.so"
  INTERFACE_INCLUDE_DIRECTORIES "${PROJECT_SOURCE_DIR}/include;${TIDEMARK_CORE}/include"
  INTERFACE_COMPILE_FEATURES cxx_std_20)
set(TIDEMARK_PLUGINS "")
