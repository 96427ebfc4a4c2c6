// What libtidemark_gloo.so gives: bytes from one process to another over TCP, by Gloo. Functions
// that can fail return 0 when they did not, and write why into `error` otherwise.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct TidemarkGlooMesh;    // connections of one process to all others
struct TidemarkGlooBuffer;  // memory that is sent from or received into

struct TidemarkGlooError {
  char text[512];
};

enum TidemarkGlooWait { kGlooDone = 0, kGlooWoken = 1, kGlooFailed = 2 };

struct TidemarkGlooTable {
  /// Listens on the address; null: it failed. `milliseconds`: how long anything may take.
  TidemarkGlooMesh* (*open)(int rank, int size, const char* address, int64_t milliseconds,
                            TidemarkGlooError* error);
  /// Where the others reach this process: `size` addresses of equal length, one after the other.
  const char* (*addresses)(TidemarkGlooMesh* mesh, size_t* bytes);
  /// `all[r]`: what addresses() gave on rank r.
  int (*connect)(TidemarkGlooMesh* mesh, const char* const* all, size_t bytes,
                 TidemarkGlooError* error);
  /// Buffers may outlive the connections; what waits for them fails.
  void (*disconnect)(TidemarkGlooMesh* mesh);
  void (*close)(TidemarkGlooMesh* mesh);

  TidemarkGlooBuffer* (*buffer)(TidemarkGlooMesh* mesh, void* data, size_t bytes,
                                TidemarkGlooError* error);
  void (*drop)(TidemarkGlooBuffer* buffer);
  int (*send)(TidemarkGlooBuffer* buffer, int to, uint64_t slot, size_t offset, size_t bytes,
              TidemarkGlooError* error);
  int (*receive)(TidemarkGlooBuffer* buffer, int from, uint64_t slot, size_t offset, size_t bytes,
                 TidemarkGlooError* error);
  /// Until one send, or one receipt, is done; kGlooWoken: wake() was called.
  int (*wait_sent)(TidemarkGlooBuffer* buffer, int64_t milliseconds, TidemarkGlooError* error);
  int (*wait_received)(TidemarkGlooBuffer* buffer, int64_t milliseconds, TidemarkGlooError* error);
  void (*wake)(TidemarkGlooBuffer* buffer);
};

const TidemarkGlooTable* tidemark_gloo_table();

}  // extern "C"
