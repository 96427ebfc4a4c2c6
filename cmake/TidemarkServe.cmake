# tidemark-serve: the model server, a program of its own over libtidemark.so. It needs Boost's
# headers and simdjson; without them the rest is built all the same.

file(GLOB serve_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/serve/*.cpp")
list(FILTER serve_sources EXCLUDE REGEX "_test\\.cpp$")
find_path(BOOST_BEAST_INCLUDE boost/beast/http.hpp)
find_library(SIMDJSON_LIBRARY simdjson)

if(TARGET tidemark AND serve_sources AND BOOST_BEAST_INCLUDE AND SIMDJSON_LIBRARY)
  set(serve_library_sources ${serve_sources})
  list(FILTER serve_library_sources EXCLUDE REGEX "/main\\.cpp$")
  add_library(tidemark_serve_objects OBJECT ${serve_library_sources})
  target_link_libraries(tidemark_serve_objects PRIVATE tidemark_flags)
  target_include_directories(tidemark_serve_objects SYSTEM PRIVATE "${BOOST_BEAST_INCLUDE}")
  add_dependencies(tidemark_serve_objects tidemark_ops_header)
  add_executable(tidemark-serve "${PROJECT_SOURCE_DIR}/src/tidemark/serve/main.cpp"
    $<TARGET_OBJECTS:tidemark_serve_objects>)
  target_link_libraries(tidemark-serve PRIVATE tidemark tidemark_flags "${SIMDJSON_LIBRARY}")
  set_target_properties(tidemark-serve PROPERTIES
    INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

  # Links the server's objects into a test that holds the library's.
  function(tidemark_link_server target)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:tidemark_serve_objects>)
    target_link_libraries(${target} PRIVATE "${SIMDJSON_LIBRARY}")
  endfunction()
else()
  message(STATUS "Tidemark: without the model server (install libboost-dev and libsimdjson-dev)")
endif()
