# libtidemark_re2.so: regular expressions by RE2. The main library opens it with dlopen on the first
# pattern; like libtidemark_dnnl.so it does not link libtidemark.so.

file(GLOB re2_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/base/text/re2/*.cpp")
find_library(RE2_LIBRARY re2)
find_path(RE2_INCLUDE_DIR re2/re2.h)

if(RE2_LIBRARY AND RE2_INCLUDE_DIR AND re2_sources)
  add_library(tidemark_re2 SHARED ${re2_sources})
  target_link_libraries(tidemark_re2 PRIVATE tidemark_flags "${RE2_LIBRARY}")
  target_include_directories(tidemark_re2 SYSTEM PRIVATE "${RE2_INCLUDE_DIR}")
  target_link_options(tidemark_re2 PRIVATE -Wl,-Bsymbolic)
  list(APPEND TIDEMARK_PLUGINS tidemark_re2)
  if(TARGET tidemark)
    add_dependencies(tidemark tidemark_re2)
  endif()
else()
  message(STATUS "Tidemark: without regular expressions (install libre2-dev)")
endif()
