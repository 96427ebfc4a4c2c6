# Installs BUILD into a temporary folder, then configures, builds and runs CONSUMER outside the tree,
# found by CMake and by pkg-config. With PACKAGE the Debian package is made and unpacked instead.
#   cmake -D BUILD=build -D CONSUMER=tests/consumer [-D PACKAGE=ON] -P run.cmake

set(temporary "$ENV{TMPDIR}")
if(NOT temporary)
  set(temporary /tmp)
endif()
string(RANDOM LENGTH 12 suffix)
set(folder "${temporary}/tidemark-consumer-${suffix}")

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE status)
  if(status)
    file(REMOVE_RECURSE "${folder}")
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "failed (${status}): ${command}")
  endif()
endfunction()

file(COPY "${CONSUMER}/CMakeLists.txt" "${CONSUMER}/main.cpp" DESTINATION "${folder}/source")
if(PACKAGE)
  # Compressing takes most of the time, and is not what can go wrong.
  run(${CMAKE_COMMAND} -E chdir "${BUILD}" ${CMAKE_CPACK_COMMAND} -G DEB -B "${folder}/package"
    -D CPACK_DEBIAN_COMPRESSION_TYPE=none)
  file(GLOB package "${folder}/package/*.deb")
  run(dpkg-deb -x "${package}" "${folder}/root")
  file(RENAME "${folder}/root/usr" "${folder}/installed")
else()
  run(${CMAKE_COMMAND} --install "${BUILD}" --component dev --prefix "${folder}/installed")
endif()
run(${CMAKE_COMMAND} -S "${folder}/source" -B "${folder}/build" -G Ninja
  -D CMAKE_BUILD_TYPE=Release "-DCMAKE_PREFIX_PATH=${folder}/installed")
run(${CMAKE_COMMAND} --build "${folder}/build")
run("${folder}/build/consumer")
find_program(pkg_config pkg-config)
find_program(compiler c++)
if(pkg_config AND compiler)
  set(ENV{PKG_CONFIG_PATH} "${folder}/installed/lib/pkgconfig")
  execute_process(COMMAND "${pkg_config}" --cflags --libs tidemark
    OUTPUT_VARIABLE flags OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags)
  run("${compiler}" -std=c++20 "${folder}/source/main.cpp" -o "${folder}/by_pkg_config" ${flags}
    "-Wl,-rpath,${folder}/installed/lib")
  run("${folder}/by_pkg_config")
endif()
file(REMOVE_RECURSE "${folder}")
