# libtidemark_serve.so and tidemark-serve: the model server, for programs of one's own
# (<tidemark/serve.h>) and as a program, both over libtidemark.so. It needs Boost's
# headers and simdjson; without them the rest is built all the same. TLS needs OpenSSL;
# gRPC, which is off unless asked for, Debian's libgrpc++-dev and protobuf-compiler-grpc.

file(GLOB serve_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/serve/*.cpp")
list(FILTER serve_sources EXCLUDE REGEX "_test\\.cpp$")
find_path(BOOST_BEAST_INCLUDE boost/beast/http.hpp)
find_library(SIMDJSON_LIBRARY simdjson)
if(TIDEMARK_TLS)
  find_package(OpenSSL 3.0 QUIET)
endif()

if(TARGET tidemark AND serve_sources AND BOOST_BEAST_INCLUDE AND SIMDJSON_LIBRARY)
  set(serve_library_sources ${serve_sources})
  list(FILTER serve_library_sources EXCLUDE REGEX "/main\\.cpp$")
  add_library(tidemark_serve_objects OBJECT ${serve_library_sources})
  target_link_libraries(tidemark_serve_objects PRIVATE tidemark_flags)
  target_include_directories(tidemark_serve_objects SYSTEM PRIVATE "${BOOST_BEAST_INCLUDE}")
  target_precompile_headers(tidemark_serve_objects PRIVATE ${TIDEMARK_PRECOMPILED_HEADERS})
  add_dependencies(tidemark_serve_objects tidemark_ops_header)
  set(serve_libraries "${SIMDJSON_LIBRARY}")
  if(TIDEMARK_TLS AND OpenSSL_FOUND)
    target_compile_definitions(tidemark_serve_objects PRIVATE TIDEMARK_TLS)
    list(APPEND serve_libraries OpenSSL::SSL OpenSSL::Crypto)
  else()
    message(STATUS "Tidemark: a model server without TLS (install libssl-dev for it)")
  endif()
  if(TIDEMARK_GRPC)
    include(TidemarkGrpc)
    target_sources(tidemark_serve_objects PRIVATE ${grpc_sources})
    target_include_directories(tidemark_serve_objects SYSTEM PRIVATE "${grpc_generated}")
    list(APPEND serve_libraries PkgConfig::GRPC)
  else()
    target_sources(tidemark_serve_objects PRIVATE
      "${PROJECT_SOURCE_DIR}/src/tidemark/serve/grpc/absent.cpp")
  endif()
  add_library(tidemark_serve SHARED $<TARGET_OBJECTS:tidemark_serve_objects>)
  add_library(Tidemark::serve ALIAS tidemark_serve)
  set_target_properties(tidemark_serve PROPERTIES EXPORT_NAME serve INSTALL_RPATH "$ORIGIN")
  target_link_libraries(tidemark_serve PUBLIC tidemark PRIVATE tidemark_flags ${serve_libraries})
  target_link_options(tidemark_serve PRIVATE ${TIDEMARK_HIDE_LIBRARIES})
  add_executable(tidemark-serve "${PROJECT_SOURCE_DIR}/src/tidemark/serve/main.cpp"
    $<TARGET_OBJECTS:tidemark_serve_objects>)
  target_link_libraries(tidemark-serve PRIVATE tidemark tidemark_flags ${serve_libraries})
  set_target_properties(tidemark-serve PROPERTIES
    INSTALL_RPATH "$ORIGIN;$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")

  # Links the server's objects into a test that holds the library's.
  function(tidemark_link_server target)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:tidemark_serve_objects>)
    target_link_libraries(${target} PRIVATE ${serve_libraries})
  endfunction()
else()
  message(STATUS "Tidemark: without the model server (install libboost-dev and libsimdjson-dev)")
endif()
