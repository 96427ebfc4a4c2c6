# fuzz_sanitized: the fuzzers of `fuzz` with the address and undefined-behaviour sanitizers in all that
# reads files and in what that is made of. Built when asked for: cmake --build build --target
# fuzz_sanitized. Kernels are the library's objects as they are; `./dev asan` has those.
if(TARGET fuzz AND NOT TIDEMARK_SANITIZE)
  set(checked "src/tidemark/(base|tensor|graph|trace|io)/")
  file(GLOB_RECURSE checked_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/*.cpp")
  list(FILTER checked_sources INCLUDE REGEX "${checked}")
  list(FILTER checked_sources EXCLUDE REGEX "_test\\.cpp$|/base/text/re2/|/base/codecs/plugin/")
  set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  add_library(tidemark_checked_objects OBJECT EXCLUDE_FROM_ALL ${checked_sources})
  target_link_libraries(tidemark_checked_objects PRIVATE tidemark_flags)
  target_compile_definitions(tidemark_checked_objects PRIVATE TIDEMARK_BUILDING=1)
  target_compile_options(tidemark_checked_objects PRIVATE -O1 ${sanitizers})
  target_precompile_headers(tidemark_checked_objects PRIVATE ${TIDEMARK_PRECOMPILED_HEADERS})
  add_dependencies(tidemark_checked_objects tidemark_ops_header)
  add_executable(fuzz_sanitized EXCLUDE_FROM_ALL ${fuzz_sources}
    $<TARGET_OBJECTS:tidemark_checked_objects>)
  foreach(objects IN LISTS TIDEMARK_OBJECT_LIBRARIES)
    target_sources(fuzz_sanitized PRIVATE $<FILTER:$<TARGET_OBJECTS:${objects}>,EXCLUDE,${checked}>)
  endforeach()
  target_compile_definitions(fuzz_sanitized PRIVATE TIDEMARK_BUILDING=1)
  target_compile_options(fuzz_sanitized PRIVATE -O1 ${sanitizers})
  target_link_libraries(fuzz_sanitized PRIVATE tidemark_flags ${TIDEMARK_SYSTEM_LIBRARIES})
  target_link_options(fuzz_sanitized PRIVATE ${sanitizers})
  add_dependencies(fuzz_sanitized ${TIDEMARK_PLUGINS})
  if(TARGET tidemark_serve_objects)
    tidemark_link_server(fuzz_sanitized)
  endif()
endif()

# fuzz_guided: coverage-guided fuzzing of what reads bytes of others, by clang's libFuzzer. Built when
# asked for: cmake --build --preset fuzz. The files it is guided by are compiled once more, with
# g++'s calls at each block; all others are the library's objects as they are.

find_program(TIDEMARK_CLANG NAMES clang clang-14 clang-15 clang-16 clang-19)
set(TIDEMARK_LIBFUZZER "")
if(TIDEMARK_CLANG AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  execute_process(
    COMMAND "${TIDEMARK_CLANG}" -print-file-name=libclang_rt.fuzzer-${CMAKE_SYSTEM_PROCESSOR}.a
    OUTPUT_VARIABLE TIDEMARK_LIBFUZZER OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
endif()
if(NOT EXISTS "${TIDEMARK_LIBFUZZER}" OR NOT TARGET tidemark_serve_objects OR NOT TARGET fuzz)
  message(STATUS "Tidemark: without fuzz_guided (it takes clang, what the model server needs, and tests)")
  return()
endif()

# Regular expressions over paths below src/tidemark/; CMake takes nine parentheses in one.
set(guiding
  "serve/(access|http_server|inference_api|inference_types|json|server|tensorflow_api)"
  "io/(graph_reader|model_reader|saved_model|tensor_file)"
  "io/onnx/(messages|tensors|file|interpreter|model|call)"
  "io/safetensors/header" "io/safetensors/file"
  "io/tflite/flatbuffer" "io/tflite/contents" "io/tflite/lowering"
  "io/weights/(npy|numpy|pickle|torch|weights_file)"
  "io/zip_archive" "io/inspect"
  "io/keras/hdf5"
  "io/tensorflow/[a-z_]+"
  "profile/analysis" "profile/reader" "profile/replay"
  "base/codecs/gif" "base/codecs/image_header"
  "kernels/cpu/io/bytes" "kernels/cpu/io/images")
list(JOIN guiding "|" guiding)
set(guiding "src/tidemark/(${guiding})\\.cpp")

file(GLOB_RECURSE guiding_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/*.cpp")
list(FILTER guiding_sources INCLUDE REGEX "${guiding}$")
list(FILTER guiding_sources EXCLUDE REGEX "_test\\.cpp$")
add_library(tidemark_guiding_objects OBJECT EXCLUDE_FROM_ALL ${guiding_sources})
target_link_libraries(tidemark_guiding_objects PRIVATE tidemark_flags)
target_compile_definitions(tidemark_guiding_objects PRIVATE TIDEMARK_BUILDING=1)
target_compile_options(tidemark_guiding_objects PRIVATE -fsanitize-coverage=trace-pc,trace-cmp)
target_include_directories(tidemark_guiding_objects SYSTEM PRIVATE "${BOOST_BEAST_INCLUDE}")
add_dependencies(tidemark_guiding_objects tidemark_ops_header)

file(GLOB guided_sources CONFIGURE_DEPENDS
  "${PROJECT_SOURCE_DIR}/tests/fuzz/*.cpp" "${PROJECT_SOURCE_DIR}/tests/fuzz/guided/*.cpp")
list(REMOVE_ITEM guided_sources "${PROJECT_SOURCE_DIR}/tests/fuzz/main.cpp")
add_executable(fuzz_guided EXCLUDE_FROM_ALL ${guided_sources}
  $<TARGET_OBJECTS:tidemark_guiding_objects>)
foreach(objects IN LISTS TIDEMARK_OBJECT_LIBRARIES ITEMS tidemark_serve_objects)
  target_sources(fuzz_guided PRIVATE
    $<FILTER:$<TARGET_OBJECTS:${objects}>,EXCLUDE,${guiding}>)
endforeach()
target_compile_definitions(fuzz_guided PRIVATE TIDEMARK_BUILDING=1)
target_link_libraries(fuzz_guided PRIVATE tidemark_flags "${TIDEMARK_LIBFUZZER}"
  ${TIDEMARK_SYSTEM_LIBRARIES} ${serve_libraries})
# See tests/fuzz/guided/coverage.cpp.
target_link_options(fuzz_guided PRIVATE -Wl,-z,muldefs)
# Where it is packed for another machine (tests/fuzz/pack), libraries, and those they need, are beside it.
foreach(program fuzz_guided fuzz)
  set_target_properties(${program} PROPERTIES BUILD_RPATH "$ORIGIN/lib")
  target_link_options(${program} PRIVATE -Wl,--disable-new-dtags)
endforeach()
add_dependencies(fuzz_guided ${TIDEMARK_PLUGINS})
