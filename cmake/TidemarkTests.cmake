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

# Loaded before a program: one that must not call the system's allocator, one that gets no thread.
# Sanitizers are there first.
if(NOT TIDEMARK_SANITIZE AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  foreach(loaded count_allocations fail_thread)
    add_library(${loaded} MODULE "${PROJECT_SOURCE_DIR}/tests/support/${loaded}.cpp")
    target_link_libraries(${loaded} PRIVATE tidemark_flags ${CMAKE_DL_LIBS})
  endforeach()
endif()

# Stands in for libtidemark_cuda.so where there is no GPU: tests/python/fake_gpu.py.
add_library(fake_gpu MODULE "${PROJECT_SOURCE_DIR}/tests/support/fake_gpu.cpp")
target_link_libraries(fake_gpu PRIVATE tidemark_flags ${CMAKE_DL_LIBS})
target_compile_definitions(fake_gpu PRIVATE TIDEMARK_BUILDING=1)
set_target_properties(fake_gpu PROPERTIES
  OUTPUT_NAME tidemark_cuda LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/fake_gpu")

# They do what Keras and Python's functions do, and read what Keras saved: tests/python/test_cpp_*.py.
file(GLOB function_twin_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tests/support/function_twin*.cpp")
set(keras_twin_sources "${PROJECT_SOURCE_DIR}/tests/support/keras_twin.cpp")
set(keras_files_sources "${PROJECT_SOURCE_DIR}/tests/support/keras_files.cpp")
set(written_models_sources "${PROJECT_SOURCE_DIR}/tests/support/written_models.cpp")
foreach(program keras_twin keras_files function_twin written_models)
  add_executable(${program} ${${program}_sources})
  target_link_libraries(${program} PRIVATE tidemark)
  target_compile_options(${program} PRIVATE -Wall -Wextra)
endforeach()

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
  # The same against the Debian package, where such packages can be made.
  find_program(TIDEMARK_DPKG_SHLIBDEPS dpkg-shlibdeps)
  if(TIDEMARK_DPKG_SHLIBDEPS AND PROJECT_IS_TOP_LEVEL)
    add_test(NAME consumer_of_the_debian_package
      COMMAND ${CMAKE_COMMAND} -D PACKAGE=ON
        -D "BUILD=${PROJECT_BINARY_DIR}" -D "CONSUMER=${PROJECT_SOURCE_DIR}/tests/consumer"
        -P "${PROJECT_SOURCE_DIR}/tests/consumer/run.cmake")
  endif()
endif()
