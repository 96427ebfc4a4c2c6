# libtidemark_cuda.so: what calls CUDA. The main library opens it with dlopen when a GPU is asked
# for; it opens the driver, NVRTC and the others by name when they are first needed, and links none.
#
# The backend itself (kernels/cuda/) is part of the main library and needs no header of CUDA's: the
# two meet in tables of plain functions, which tests fill with a driver of their own.

if(NOT TIDEMARK_CUDA)
  return()
endif()

find_package(CUDAToolkit 12.4 REQUIRED)
file(GLOB cuda_plugin_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/src/tidemark/kernels/cuda/plugin/*.cpp")
add_library(tidemark_cuda SHARED ${cuda_plugin_sources})
target_link_libraries(tidemark_cuda PRIVATE tidemark_flags ${CMAKE_DL_LIBS})
target_include_directories(tidemark_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_compile_definitions(tidemark_cuda PRIVATE TIDEMARK_BUILDING=1)
target_link_options(tidemark_cuda PRIVATE -Wl,-Bsymbolic)
# Where dlopen finds the toolkit it was built with, after what the system has.
set_target_properties(tidemark_cuda PROPERTIES
  BUILD_RPATH "${CUDAToolkit_LIBRARY_DIR}" INSTALL_RPATH "${CUDAToolkit_LIBRARY_DIR}")
list(APPEND TIDEMARK_PLUGINS tidemark_cuda)
if(TARGET tidemark)
  add_dependencies(tidemark tidemark_cuda)
endif()
message(STATUS "Tidemark: with CUDA ${CUDAToolkit_VERSION}")
