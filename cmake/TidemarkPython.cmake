# The _tidemark extension, laid out as the importable package build/python/tidemark/.

file(GLOB_RECURSE python_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/src/*.cpp")
file(GLOB_RECURSE python_files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/python/tidemark"
  "${PROJECT_SOURCE_DIR}/python/tidemark/*.py" "${PROJECT_SOURCE_DIR}/python/tidemark/*.pyi"
  "${PROJECT_SOURCE_DIR}/python/tidemark/*.css" "${PROJECT_SOURCE_DIR}/python/tidemark/*.js"
  "${PROJECT_SOURCE_DIR}/python/tidemark/*.tsv" "${PROJECT_SOURCE_DIR}/python/tidemark/*.gz"
  "${PROJECT_SOURCE_DIR}/python/tidemark/py.typed")

# Links the package's Python files into the build tree, and drops links whose file is gone.
function(tidemark_link_python_files package)
  file(GLOB_RECURSE present "${package}/*")
  foreach(path IN LISTS present)
    if(IS_SYMLINK "${path}" AND path MATCHES "\\.(py|pyi|typed|css|js|tsv)$")
      file(REMOVE "${path}")
    endif()
  endforeach()
  foreach(file IN LISTS python_files)
    cmake_path(GET file PARENT_PATH folder)
    file(MAKE_DIRECTORY "${package}/${folder}")
    file(CREATE_LINK "${PROJECT_SOURCE_DIR}/python/tidemark/${file}" "${package}/${file}" SYMBOLIC)
  endforeach()
endfunction()

# The project's own .venv, where there is one, knows nanobind; any other Python has to be named.
if(NOT Python_EXECUTABLE AND NOT SKBUILD AND EXISTS "${PROJECT_SOURCE_DIR}/.venv/bin/python")
  set(Python_EXECUTABLE "${PROJECT_SOURCE_DIR}/.venv/bin/python")
endif()
find_package(Python 3.10 COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module)

if(TIDEMARK_PYTHON AND python_sources AND TARGET tidemark AND Python_Development.Module_FOUND)
  execute_process(COMMAND "${Python_EXECUTABLE}" -m nanobind --cmake_dir
    OUTPUT_VARIABLE nanobind_folder OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET RESULT_VARIABLE nanobind_missing)
  if(nanobind_missing)
    message(STATUS "Tidemark: without Python (no nanobind in ${Python_EXECUTABLE})")
  else()
    find_package(nanobind CONFIG REQUIRED PATHS "${nanobind_folder}" NO_DEFAULT_PATH)
    set(package "${PROJECT_BINARY_DIR}/python/tidemark")
    tidemark_link_python_files("${package}")

    nanobind_add_module(_tidemark NB_STATIC NOMINSIZE ${python_sources})
    # Bindings that convert and call once a program or a run, and not once an op: loading the package
    # touches all of their code.
    file(GLOB module_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/python/src/*_module.cpp")
    list(FILTER module_sources EXCLUDE REGEX "/session_module\\.cpp$")
    set_source_files_properties(${module_sources} PROPERTIES
      COMPILE_OPTIONS "$<$<CONFIG:Release>:-Os>" SKIP_PRECOMPILE_HEADERS ON)  # those are for -O2
    target_link_libraries(_tidemark PRIVATE tidemark tidemark_flags)
    target_link_options(_tidemark PRIVATE ${TIDEMARK_HIDE_LIBRARIES})
    target_include_directories(_tidemark PRIVATE "${PROJECT_SOURCE_DIR}/python/src")
    target_precompile_headers(_tidemark PRIVATE ${TIDEMARK_PRECOMPILED_HEADERS} <nanobind/nanobind.h>)
    set_target_properties(_tidemark PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${package}")
    get_target_property(nanobind_headers nanobind-static INTERFACE_INCLUDE_DIRECTORIES)
    if(nanobind_headers)
      # Warnings inside nanobind's headers are not ours to mend.
      target_include_directories(_tidemark SYSTEM PRIVATE ${nanobind_headers})
    endif()

    # The extension looks for the libraries in its own folder ($ORIGIN), the command line for the
    # server. What a program needs is a target of its own; the server is built with everything else.
    foreach(library IN ITEMS tidemark ${TIDEMARK_PLUGINS} tidemark-serve)
      if(TARGET ${library})
        add_custom_command(TARGET _tidemark POST_BUILD
          COMMAND ${CMAKE_COMMAND} -E create_symlink
            "$<TARGET_FILE:${library}>" "${package}/$<TARGET_FILE_NAME:${library}>" VERBATIM)
      endif()
    endforeach()
    add_custom_target(tidemark_package DEPENDS _tidemark ${TIDEMARK_PLUGINS})
  endif()
endif()
