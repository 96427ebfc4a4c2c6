# libtidemark_mpi.so: bytes between processes by MPI, where mpirun started them. The main library opens
# it with dlopen when such a group is joined; it does not link libtidemark.so.

file(GLOB mpi_sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/src/tidemark/comm/mpi/*.cpp")
if(TIDEMARK_WITH_MPI)
  set(MPI_CXX_SKIP_MPICXX ON)
  find_package(MPI QUIET COMPONENTS CXX)
endif()

if(TIDEMARK_WITH_MPI AND MPI_CXX_FOUND AND mpi_sources)
  add_library(tidemark_mpi SHARED ${mpi_sources})
  target_link_libraries(tidemark_mpi PRIVATE tidemark_flags MPI::MPI_CXX)
  list(APPEND TIDEMARK_PLUGINS tidemark_mpi)
  if(TARGET tidemark)
    add_dependencies(tidemark tidemark_mpi)
  endif()
endif()
