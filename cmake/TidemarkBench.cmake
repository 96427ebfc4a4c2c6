# bench_cpp, the C++ half of bench/; built only when asked for: cmake --build build -t bench_cpp

file(GLOB bench_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/bench/cpp/*.cpp")
find_package(OpenMP QUIET COMPONENTS CXX)

if(bench_sources AND TARGET tidemark AND TIDEMARK_HAVE_DNNL AND OpenMP_CXX_FOUND)
  add_executable(bench_cpp EXCLUDE_FROM_ALL ${bench_sources})
  # oneDNN called directly, on OpenMP's threads, is what matmul is compared with.
  target_include_directories(bench_cpp SYSTEM PRIVATE "${DNNL_INCLUDE_DIR}")
  target_include_directories(bench_cpp PRIVATE "${PROJECT_SOURCE_DIR}/src")  # the Ledger, alone
  target_link_libraries(bench_cpp PRIVATE
    tidemark tidemark_flags "${DNNL_LIBRARY}" OpenMP::OpenMP_CXX)
  if(TARGET tidemark_ops_header)
    add_dependencies(bench_cpp tidemark_ops_header)
  endif()
endif()

# What cases/cpp_one_file.py times and weighs.
if(TARGET tidemark_static AND PROJECT_IS_TOP_LEVEL)
  add_executable(bench_start EXCLUDE_FROM_ALL "${PROJECT_SOURCE_DIR}/bench/start/start.cpp")
  target_link_libraries(bench_start PRIVATE tidemark_static)
  target_link_options(bench_start PRIVATE -s)
endif()
