# bench_cpp, the C++ half of bench/: built by `./dev bench` alone.
# It calls oneDNN itself too, on OpenMP, as the reference that matmul is measured against.

file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/cpp/*.cpp")
file(GLOB whole_api CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/tidemark/tidemark.h")
find_package(OpenMP COMPONENTS CXX)

if(bench_sources AND whole_api AND TARGET tidemark AND TIDEMARK_HAVE_DNNL AND OpenMP_CXX_FOUND)
  add_executable(bench_cpp EXCLUDE_FROM_ALL ${bench_sources})
  target_link_libraries(bench_cpp PRIVATE tidemark tidemark_flags OpenMP::OpenMP_CXX "${DNNL_LIBRARY}")
  target_include_directories(bench_cpp SYSTEM PRIVATE "${DNNL_INCLUDE_DIR}")
endif()
