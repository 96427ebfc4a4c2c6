# One program per examples/*.cpp (against the public API, as a user's) and per tests/fuzz/*.cpp
# (against the objects, as a test).

function(tidemark_add_programs prefix folder)
  file(GLOB programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  foreach(source IN LISTS programs)
    cmake_path(GET source STEM name)
    add_executable(${prefix}${name} "${source}")
    if(folder MATCHES "fuzz")
      tidemark_link_objects(${prefix}${name})
    else()
      target_link_libraries(${prefix}${name} PRIVATE tidemark)
      target_compile_options(${prefix}${name} PRIVATE -Wall -Wextra)
    endif()
  endforeach()
endfunction()

if(TARGET tidemark AND PROJECT_IS_TOP_LEVEL)
  tidemark_add_programs(example_ examples)
  if(TIDEMARK_TESTS)
    tidemark_add_programs(fuzz_ tests/fuzz)
  endif()
endif()
