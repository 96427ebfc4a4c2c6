# One test program per layer (test_base, test_memory, ...) from src/tidemark/<layer>/**/*_test.cpp,
# and test_cpp from tests/cpp/*_test.cpp. Each holds the library's objects.

find_package(GTest REQUIRED)

function(tidemark_add_test name)
  if(NOT ARGN)
    return()
  endif()
  add_executable(${name} ${ARGN})
  tidemark_link_objects(${name})
  target_link_libraries(${name} PRIVATE GTest::gtest GTest::gtest_main)
  # Made by the first test, read by the others.
  get_property(precompiled GLOBAL PROPERTY TIDEMARK_PRECOMPILED_TEST)
  if(precompiled)
    target_precompile_headers(${name} REUSE_FROM ${precompiled})
  else()
    target_precompile_headers(${name} PRIVATE ${TIDEMARK_PRECOMPILED_HEADERS} <gtest/gtest.h>)
    set_property(GLOBAL PROPERTY TIDEMARK_PRECOMPILED_TEST ${name})
  endif()
  if(TIDEMARK_PLUGINS)
    add_dependencies(${name} ${TIDEMARK_PLUGINS})
  endif()
  if(TARGET tidemark_ops_header)
    add_dependencies(${name} tidemark_ops_header)
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
endfunction()

file(GLOB layers CONFIGURE_DEPENDS LIST_DIRECTORIES true "${PROJECT_SOURCE_DIR}/src/tidemark/*")
foreach(folder IN LISTS layers)
  if(IS_DIRECTORY "${folder}")
    cmake_path(GET folder FILENAME layer)
    if(layer STREQUAL "serve" AND NOT TARGET tidemark_serve_objects)
      continue()
    endif()
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${folder}/*_test.cpp")
    tidemark_add_test(test_${layer} ${sources})
  endif()
endforeach()
if(TARGET test_serve)
  tidemark_link_server(test_serve)
endif()
file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/cpp/*_test.cpp")
tidemark_add_test(test_cpp ${sources})

# Loaded before a program that must not call the system's allocator. Sanitizers are there first.
if(NOT TIDEMARK_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  add_library(count_allocations MODULE "${PROJECT_SOURCE_DIR}/tests/support/count_allocations.cpp")
  target_link_libraries(count_allocations PRIVATE tidemark_flags)
endif()

# A weak symbol compiled for AVX could be the copy the linker keeps for every CPU.
if(TIDEMARK_ISA_OBJECT_LIBRARIES AND NOT TIDEMARK_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL "Release")
  foreach(level IN LISTS TIDEMARK_ISA_LEVELS)
    add_test(NAME isa_symbols_${level}
      COMMAND "${Python_EXECUTABLE}" "${PROJECT_SOURCE_DIR}/tools/checks/isa_symbols.py"
        --nm "${CMAKE_NM}" --level ${level}
        $<FILTER:$<TARGET_OBJECTS:tidemark_isa_${level}>,INCLUDE,\\.o$>
      COMMAND_EXPAND_LISTS)
  endforeach()
endif()

# A program outside the tree builds against what `cmake --install` gives.
file(GLOB whole_api CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/tidemark/tidemark.h")
if(whole_api AND TARGET tidemark AND NOT TIDEMARK_SANITIZE)
  add_test(NAME consumer
    COMMAND ${CMAKE_COMMAND}
      -D "BUILD=${PROJECT_BINARY_DIR}" -D "CONSUMER=${PROJECT_SOURCE_DIR}/tests/consumer"
      -P "${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake")
endif()
