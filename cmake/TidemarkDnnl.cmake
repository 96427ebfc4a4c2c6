# libtidemark_dnnl.so: the kernels that call oneDNN. The main library opens it with dlopen on the
# first convolution or bfloat16 product, so that a process without them does not map oneDNN.
#
# It does not link libtidemark.so: the two meet in plain C functions and pointers handed over, so
# that a test program with the library's objects inside it does not get a second runtime.

file(GLOB dnnl_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/kernels/cpu/dnnl/*.cpp")
list(FILTER dnnl_sources EXCLUDE REGEX "_test\\.cpp$")
find_library(DNNL_LIBRARY dnnl)
find_path(DNNL_INCLUDE_DIR dnnl.h)

set(TIDEMARK_HAVE_DNNL OFF)
if(TIDEMARK_WITH_DNNL AND DNNL_LIBRARY AND DNNL_INCLUDE_DIR)
  set(TIDEMARK_HAVE_DNNL ON)
else()
  message(STATUS "Tidemark: without oneDNN (install libdnnl-dev for faster matmul and convolution)")
endif()

if(TIDEMARK_HAVE_DNNL AND dnnl_sources)
  add_library(tidemark_dnnl SHARED ${dnnl_sources})
  target_link_libraries(tidemark_dnnl PRIVATE tidemark_flags "${DNNL_LIBRARY}" gomp)
  target_include_directories(tidemark_dnnl SYSTEM PRIVATE "${DNNL_INCLUDE_DIR}")
  target_compile_definitions(tidemark_dnnl PRIVATE TIDEMARK_BUILDING=1)
  target_link_options(tidemark_dnnl PRIVATE -Wl,-Bsymbolic)
  list(APPEND TIDEMARK_PLUGINS tidemark_dnnl)
  if(TARGET tidemark)
    add_dependencies(tidemark tidemark_dnnl)
  endif()
endif()
