# libtidemark_gloo.so: bytes between processes by Gloo. The main library opens it with dlopen when a
# group of workers is joined; like libtidemark_dnnl.so it does not link libtidemark.so.

file(GLOB gloo_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/comm/gloo/*.cpp")
find_library(GLOO_LIBRARY gloo)
find_path(GLOO_INCLUDE_DIR gloo/transport/tcp/device.h)

if(TIDEMARK_WITH_GLOO AND GLOO_LIBRARY AND GLOO_INCLUDE_DIR AND gloo_sources)
  add_library(tidemark_gloo SHARED ${gloo_sources})
  target_link_libraries(tidemark_gloo PRIVATE tidemark_flags "${GLOO_LIBRARY}")
  target_include_directories(tidemark_gloo SYSTEM PRIVATE "${GLOO_INCLUDE_DIR}")
  target_link_options(tidemark_gloo PRIVATE -Wl,-Bsymbolic)
  list(APPEND TIDEMARK_PLUGINS tidemark_gloo)
  if(TARGET tidemark)
    add_dependencies(tidemark tidemark_gloo)
  endif()
elseif(TIDEMARK_WITH_GLOO)
  message(STATUS "Tidemark: one process only (install libgloo-dev for several)")
endif()
