# The gRPC services of the model server: our .proto files made into C++, and what speaks them.
# Gives grpc_sources, grpc_generated (the folder of the headers) and PkgConfig::GRPC.

find_package(PkgConfig REQUIRED)
pkg_check_modules(GRPC REQUIRED IMPORTED_TARGET grpc++ protobuf)
find_program(PROTOC protoc REQUIRED)
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

set(grpc_folder "${PROJECT_SOURCE_DIR}/src/tidemark/serve/grpc")
set(grpc_generated "${PROJECT_BINARY_DIR}/generated/grpc")
file(MAKE_DIRECTORY "${grpc_generated}")
file(GLOB grpc_protos CONFIGURE_DEPENDS "${grpc_folder}/protos/*.proto")
set(grpc_made "")
foreach(proto IN LISTS grpc_protos)
  cmake_path(GET proto STEM name)
  foreach(kind pb grpc.pb)
    list(APPEND grpc_made "${grpc_generated}/${name}.${kind}.cc" "${grpc_generated}/${name}.${kind}.h")
  endforeach()
endforeach()
add_custom_command(OUTPUT ${grpc_made}
  COMMAND "${PROTOC}" "-I${grpc_folder}/protos" "--cpp_out=${grpc_generated}"
    "--grpc_out=${grpc_generated}" "--plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN}" ${grpc_protos}
  DEPENDS ${grpc_protos} VERBATIM)
# Not our style, not our warnings.
set_source_files_properties(${grpc_made} PROPERTIES COMPILE_OPTIONS "-w")

file(GLOB grpc_sources CONFIGURE_DEPENDS "${grpc_folder}/*.cpp")
list(FILTER grpc_sources EXCLUDE REGEX "/absent\\.cpp$|_test\\.cpp$")
list(APPEND grpc_sources ${grpc_made})
