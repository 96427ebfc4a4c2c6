// What libtidemark_mpi.so gives: a mesh, and how processes that mpirun started find each other.
#pragma once

#include "tidemark/comm/mesh_table.h"

extern "C" {

struct TidemarkMpiTable {
  TidemarkMeshTable mesh;
  /// Starts MPI where it has not been; which of how many processes this is.
  int (*start)(int* rank, int* size, TidemarkMeshError* error);
  /// `all`: everybody's `own`, of so many bytes each, by rank.
  int (*share)(const void* own, size_t bytes, void* all, TidemarkMeshError* error);
};

const TidemarkMpiTable* tidemark_mpi_table();

}  // extern "C"
