// What libraries give that carry bytes from one process to another: libtidemark_gloo.so by TCP,
// libtidemark_mpi.so as mpirun has it. Functions that can fail return 0 when they did not, and
// write why into `error` otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct TidemarkMesh;        // connections of one process to all others
struct TidemarkMeshBuffer;  // memory that is sent from or received into

struct TidemarkMeshError {
  char text[512];
};

enum TidemarkMeshWait { kMeshDone = 0, kMeshWoken = 1, kMeshFailed = 2 };

struct TidemarkMeshTable {
  /// Listens on the address; null: it failed. `milliseconds`: how long anything may take.
  TidemarkMesh* (*open)(int rank, int size, const char* address, int64_t milliseconds,
                        TidemarkMeshError* error);
  /// Where the others reach this process: `size` addresses of equal length, one after the other.
  const char* (*addresses)(TidemarkMesh* mesh, size_t* bytes);
  /// `all[r]`: what addresses() gave on rank r.
  int (*connect)(TidemarkMesh* mesh, const char* const* all, size_t bytes,
                 TidemarkMeshError* error);
  /// Buffers may outlive the connections; what waits for them fails.
  void (*disconnect)(TidemarkMesh* mesh);
  void (*close)(TidemarkMesh* mesh);

  TidemarkMeshBuffer* (*buffer)(TidemarkMesh* mesh, void* data, size_t bytes,
                                TidemarkMeshError* error);
  void (*drop)(TidemarkMeshBuffer* buffer);
  int (*send)(TidemarkMeshBuffer* buffer, int to, uint64_t slot, size_t offset, size_t bytes,
              TidemarkMeshError* error);
  int (*receive)(TidemarkMeshBuffer* buffer, int from, uint64_t slot, size_t offset, size_t bytes,
                 TidemarkMeshError* error);
  /// Until one send, or one receipt, is done; kMeshWoken: wake() was called.
  int (*wait_sent)(TidemarkMeshBuffer* buffer, int64_t milliseconds, TidemarkMeshError* error);
  int (*wait_received)(TidemarkMeshBuffer* buffer, int64_t milliseconds, TidemarkMeshError* error);
  void (*wake)(TidemarkMeshBuffer* buffer);
};

/// Of libtidemark_gloo.so.
const TidemarkMeshTable* tidemark_gloo_table();

}  // extern "C"
