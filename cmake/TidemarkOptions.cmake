# Flags shared by every target, and the build types.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or Sanitize" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
# Sanitized builds keep assertions and stay quick enough to run the whole suite.
set(CMAKE_CXX_FLAGS_SANITIZE "-O1 -g")

# Everything lands in one folder, so that a program finds libtidemark_dnnl.so beside itself.
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
# Files are then the same before and after installing, and can be packaged by copying.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
set(CMAKE_INSTALL_RPATH "$ORIGIN")

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Paths below the base are hashed relative to it: what one checkout compiled, another one finds.
  # Without the sloppiness nothing that reads a precompiled header is found at all.
  set(CMAKE_CXX_COMPILER_LAUNCHER env "CCACHE_BASEDIR=${PROJECT_SOURCE_DIR}"
    CCACHE_SLOPPINESS=pch_defines,time_macros "${CCACHE_PROGRAM}")
  add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=.")
endif()

# What every target of ours is compiled with; `target_link_libraries(t PRIVATE tidemark_flags)`.
add_library(tidemark_flags INTERFACE)
target_compile_options(tidemark_flags INTERFACE
  -fno-omit-frame-pointer -Wall -Wextra -Wno-psabi $<$<BOOL:${TIDEMARK_WERROR}>:-Werror>)
target_include_directories(tidemark_flags INTERFACE
  "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/src" "${PROJECT_BINARY_DIR}/include")

if(TIDEMARK_SANITIZE)
  add_compile_options(-fsanitize=${TIDEMARK_SANITIZE})
  add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
  if(TIDEMARK_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(TIDEMARK_SANITIZE MATCHES "thread")
    # g++ warns that fences are invisible to the thread sanitizer; each one needs a reason anyway.
    add_compile_options(-Wno-tsan)
  endif()
endif()

# What nearly every file includes is parsed once for all files of one set of flags: a third less
# time to compile them. Headers of our own are not in it; a change to one compiles what includes it.
set(TIDEMARK_PRECOMPILED_HEADERS <algorithm> <array> <atomic> <cmath> <cstdint> <cstring> <functional>
  <limits> <map> <memory> <mutex> <numeric> <optional> <span> <sstream> <string> <string_view> <tuple>
  <unordered_map> <utility> <variant> <vector>)
