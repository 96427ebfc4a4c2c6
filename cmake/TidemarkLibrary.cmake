# libtidemark.so. Its sources are object libraries, so that tests reach hidden symbols too.

# Layers up to `ops` know every op definition; the generator of <tidemark/ops.h> links them alone,
# and the layers after them may include what it writes.
set(TIDEMARK_DEFINITION_LAYERS base memory tensor tables graph ops)

file(GLOB_RECURSE tidemark_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/*.cpp")
list(FILTER tidemark_sources EXCLUDE REGEX "_test\\.cpp$")
list(FILTER tidemark_sources EXCLUDE REGEX
  "/kernels/cpu/dnnl/|/kernels/cuda/plugin/|/base/text/re2/|/comm/(gloo|mpi)/|/base/codecs/plugin/|/src/tidemark/serve/")
set(tidemark_isa_sources ${tidemark_sources})
list(FILTER tidemark_isa_sources INCLUDE REGEX "/kernels/cpu/isa/")
list(FILTER tidemark_sources EXCLUDE REGEX "/kernels/cpu/isa/")

list(JOIN TIDEMARK_DEFINITION_LAYERS "|" definition_layers)
set(tidemark_definition_sources ${tidemark_sources})
list(FILTER tidemark_definition_sources INCLUDE REGEX "/src/tidemark/(${definition_layers})/")
list(FILTER tidemark_sources EXCLUDE REGEX "/src/tidemark/(${definition_layers})/")

# --- Instruction-set levels: each kernels/cpu/isa/*.cpp is compiled once per level, in a namespace
# --- named by the macro TIDEMARK_ISA, and chosen at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(TIDEMARK_ISA_LEVELS v2 v3 v4)
else()
  set(TIDEMARK_ISA_LEVELS generic)
endif()
set(tidemark_isa_flags_generic "")
set(tidemark_isa_flags_v2 -march=x86-64-v2)
set(tidemark_isa_flags_v3 -march=x86-64-v3)
set(tidemark_isa_flags_v4 -march=x86-64-v4 -mprefer-vector-width=512)

# TIDEMARK_ISA_LEVELS(X) expands to X(v2) X(v3) X(v4).
list(TRANSFORM TIDEMARK_ISA_LEVELS REPLACE "(.+)" "X(\\1)" OUTPUT_VARIABLE isa_levels_applied)
list(JOIN isa_levels_applied " " isa_levels_applied)
target_compile_options(tidemark_flags INTERFACE "-DTIDEMARK_ISA_LEVELS(X)=${isa_levels_applied}")

set(TIDEMARK_SYSTEM_LIBRARIES m dl pthread)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
  list(PREPEND TIDEMARK_SYSTEM_LIBRARIES mvec)
endif()

set(TIDEMARK_OBJECT_LIBRARIES "")
set(TIDEMARK_ISA_OBJECT_LIBRARIES "")

# An object library of the given sources; none where there are no sources yet.
function(tidemark_add_objects name)
  if(NOT ARGN)
    return()
  endif()
  # Levels have flags of their own.
  if(TARGET tidemark_definition_objects AND NOT name MATCHES "_isa_")
    set(precompiled REUSE_FROM tidemark_definition_objects)
  else()
    set(precompiled PRIVATE ${TIDEMARK_PRECOMPILED_HEADERS})
  endif()
  add_library(${name} OBJECT ${ARGN})
  target_link_libraries(${name} PRIVATE tidemark_flags)
  target_compile_definitions(${name} PRIVATE TIDEMARK_BUILDING=1)
  target_precompile_headers(${name} ${precompiled})
  set(TIDEMARK_OBJECT_LIBRARIES ${TIDEMARK_OBJECT_LIBRARIES} ${name} PARENT_SCOPE)
endfunction()

# tidemark_embed(TEXT NAMESPACE NAME FILE): the text as a constant of the library, in a source file of its own.
function(tidemark_embed text namespace name file)
  set(source "${PROJECT_BINARY_DIR}/generated/${file}.cpp")
  add_custom_command(
    OUTPUT "${source}"
    COMMAND ${CMAKE_COMMAND} -D "FROM=${text}" -D "TO=${source}" -D "NAMESPACE=${namespace}" -D "NAME=${name}"
      -P "${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake"
    DEPENDS "${text}" "${PROJECT_SOURCE_DIR}/cmake/EmbedText.cmake"
    VERBATIM)
  set(tidemark_sources ${tidemark_sources} "${source}" PARENT_SCOPE)
endfunction()

# The texts of kernels for GPUs: the special functions and elements.h stand in front, the others are included by name
# (kernels/cuda/texts.cpp).
file(GLOB cuda_texts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/kernels/cuda/device/*.h")
list(APPEND cuda_texts "${PROJECT_SOURCE_DIR}/src/tidemark/kernels/special_functions.h")
foreach(text IN LISTS cuda_texts)
  get_filename_component(name "${text}" NAME_WE)
  tidemark_embed("${text}" tidemark::cuda::texts ${name} cuda_${name})
endforeach()
# What TensorFlow's operations look like (tools/record_op_defs.py), for those who write its graphs.
tidemark_embed("${PROJECT_SOURCE_DIR}/src/tidemark/io/tensorflow/op_defs.tsv" tidemark::io::tensorflow op_forms
  tensorflow_op_forms)

tidemark_add_objects(tidemark_definition_objects ${tidemark_definition_sources})
# Eigen's headers, for Cholesky and LU decompositions (kernels/cpu/linalg/solving.cpp).
find_path(TIDEMARK_EIGEN_INCLUDE Eigen/Core PATH_SUFFIXES eigen3)
if(TIDEMARK_EIGEN_INCLUDE)
  list(FILTER tidemark_sources EXCLUDE REGEX "/linalg/without_eigen\\.cpp$")
  set_source_files_properties("${PROJECT_SOURCE_DIR}/src/tidemark/kernels/cpu/linalg/solving.cpp"
    PROPERTIES COMPILE_OPTIONS "-isystem;${TIDEMARK_EIGEN_INCLUDE}")
else()
  list(FILTER tidemark_sources EXCLUDE REGEX "/linalg/solving\\.cpp$")
  message(STATUS "Tidemark: without Cholesky and LU decompositions (install libeigen3-dev)")
endif()
tidemark_add_objects(tidemark_objects ${tidemark_sources})
# xbyak's headers, for fused programs as machine code (kernels/cpu/fusion/); without them these are
# interpreted.
find_path(TIDEMARK_XBYAK_INCLUDE xbyak/xbyak.h)
set(tidemark_fusion_sources ${tidemark_sources})
list(FILTER tidemark_fusion_sources INCLUDE REGEX "/kernels/cpu/fusion/emit")
if(TIDEMARK_XBYAK_INCLUDE AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(xbyak_options -DTIDEMARK_WITH_XBYAK=1)
  if(NOT TIDEMARK_XBYAK_INCLUDE IN_LIST CMAKE_CXX_IMPLICIT_INCLUDE_DIRECTORIES)
    list(APPEND xbyak_options -isystem "${TIDEMARK_XBYAK_INCLUDE}")
  endif()
  set_source_files_properties(${tidemark_fusion_sources} PROPERTIES COMPILE_OPTIONS "${xbyak_options}")
else()
  message(STATUS "Tidemark: fused programs are interpreted (install libxbyak-dev)")
endif()
foreach(level IN LISTS TIDEMARK_ISA_LEVELS)
  set(target tidemark_isa_${level})
  tidemark_add_objects(${target} ${tidemark_isa_sources})
  if(TARGET ${target})
    target_compile_options(${target} PRIVATE
      $<$<CONFIG:Release>:-O3> -fno-math-errno -fno-trapping-math ${tidemark_isa_flags_${level}})
    target_compile_definitions(${target} PRIVATE TIDEMARK_ISA=${level})
    list(APPEND TIDEMARK_ISA_OBJECT_LIBRARIES ${target})
  endif()
endforeach()

# --- <tidemark/ops.h> and the functions behind it are written from the op registry by a program
# --- built here.
file(GLOB opgen_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/tools/opgen/*.cpp")
if(opgen_sources AND TARGET tidemark_definition_objects)
  set(TIDEMARK_OPS_HEADER "${PROJECT_BINARY_DIR}/include/tidemark/ops.h")
  set(ops_functions "${PROJECT_BINARY_DIR}/generated/ops_functions.cpp")
  file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include/tidemark" "${PROJECT_BINARY_DIR}/generated")
  add_executable(tidemark_opgen ${opgen_sources} $<TARGET_OBJECTS:tidemark_definition_objects>)
  target_link_libraries(tidemark_opgen PRIVATE tidemark_flags ${TIDEMARK_SYSTEM_LIBRARIES})
  add_custom_command(
    OUTPUT "${TIDEMARK_OPS_HEADER}" "${ops_functions}"
    # An unchanged file keeps its time, so that what includes it is not compiled again.
    COMMAND tidemark_opgen "${TIDEMARK_OPS_HEADER}.new" "${ops_functions}.new"
    COMMAND ${CMAKE_COMMAND} -E copy_if_different "${TIDEMARK_OPS_HEADER}.new" "${TIDEMARK_OPS_HEADER}"
    COMMAND ${CMAKE_COMMAND} -E copy_if_different "${ops_functions}.new" "${ops_functions}"
    DEPENDS tidemark_opgen
    COMMENT "Writing <tidemark/ops.h> from the op definitions"
    VERBATIM)
  add_custom_target(tidemark_ops_header DEPENDS "${TIDEMARK_OPS_HEADER}" "${ops_functions}")
  tidemark_add_objects(tidemark_ops_functions "${ops_functions}")
  foreach(objects IN LISTS TIDEMARK_OBJECT_LIBRARIES)
    if(NOT objects STREQUAL "tidemark_definition_objects")
      add_dependencies(${objects} tidemark_ops_header)
    endif()
  endforeach()
endif()

# Links every object of the library into `target`, and what they need.
function(tidemark_link_objects target)
  foreach(objects IN LISTS TIDEMARK_OBJECT_LIBRARIES)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  target_link_libraries(${target} PRIVATE tidemark_flags ${TIDEMARK_SYSTEM_LIBRARIES})
  target_compile_definitions(${target} PRIVATE TIDEMARK_BUILDING=1)
endfunction()

# What comes out of archives is not ours to export. Some compilers link the C++ library that way:
# its symbols would meet those of the library that the process has already.
set(TIDEMARK_HIDE_LIBRARIES -Wl,--exclude-libs,ALL
  "-Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exported.map")

# Tidemark::static: the library as part of a program, made when one asks for it. Definitions and
# kernels register themselves and are taken as a whole; of the rest only what the program uses.
# Plugins (oneDNN, image codecs, regular expressions, Gloo, MPI) are not part of it.
if(TIDEMARK_OBJECT_LIBRARIES AND NOT TIDEMARK_SANITIZE)
  set(registering "/src/tidemark/kernels/|/profile/at_start\\.cpp")
  add_library(tidemark_registering STATIC EXCLUDE_FROM_ALL
    $<TARGET_OBJECTS:tidemark_definition_objects>
    $<FILTER:$<TARGET_OBJECTS:tidemark_objects>,INCLUDE,${registering}>)
  foreach(objects IN LISTS TIDEMARK_ISA_OBJECT_LIBRARIES)
    target_sources(tidemark_registering PRIVATE $<TARGET_OBJECTS:${objects}>)
  endforeach()
  add_library(tidemark_rest STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:tidemark_ops_functions>
    $<FILTER:$<TARGET_OBJECTS:tidemark_objects>,EXCLUDE,${registering}>)
  add_library(tidemark_static INTERFACE)
  add_library(Tidemark::static ALIAS tidemark_static)
  foreach(part tidemark_registering tidemark_rest)
    set_target_properties(${part} PROPERTIES LINKER_LANGUAGE CXX)
  endforeach()
  target_link_libraries(tidemark_static INTERFACE
    "$<LINK_LIBRARY:WHOLE_ARCHIVE,tidemark_registering>" tidemark_rest ${TIDEMARK_SYSTEM_LIBRARIES})
  target_link_options(tidemark_static INTERFACE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  target_compile_features(tidemark_static INTERFACE cxx_std_20)
  target_include_directories(tidemark_static INTERFACE
    "${PROJECT_SOURCE_DIR}/include" "${PROJECT_BINARY_DIR}/include")
endif()

if(TIDEMARK_OBJECT_LIBRARIES)
  add_library(tidemark SHARED)
  add_library(Tidemark::tidemark ALIAS tidemark)
  set_target_properties(tidemark PROPERTIES LINKER_LANGUAGE CXX)
  tidemark_link_objects(tidemark)
  target_compile_features(tidemark PUBLIC cxx_std_20)
  target_link_options(tidemark PRIVATE -Wl,-Bsymbolic ${TIDEMARK_HIDE_LIBRARIES} -Wl,--no-undefined)
  if(TIDEMARK_SANITIZE)
    # The sanitizer's run-time lives in the program, so its symbols stay undefined here.
    set_property(TARGET tidemark PROPERTY LINK_OPTIONS -Wl,-Bsymbolic ${TIDEMARK_HIDE_LIBRARIES})
  endif()
  target_include_directories(tidemark INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  if(TARGET tidemark_ops_header)
    add_dependencies(tidemark tidemark_ops_header)
  endif()
endif()
