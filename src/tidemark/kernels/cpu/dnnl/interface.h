// Where libtidemark.so and libtidemark_dnnl.so meet: plain C functions, nothing else. The second is
// opened with dlopen on the first product that needs it.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

/// C[m, n] = A[m, k] * B[k, n]; strides count elements, C's columns are contiguous.
struct TidemarkDnnlProduct {
  int32_t is_bfloat16;  // otherwise float
  int64_t m, n, k;
  int64_t a_row_stride, a_column_stride;
  int64_t b_row_stride, b_column_stride;
  int64_t c_row_stride;
};

struct TidemarkDnnlPrimitive;

struct TidemarkDnnlTable {
  /// Null when oneDNN has no fast code for this product on this CPU. May be called from any thread.
  TidemarkDnnlPrimitive* (*create)(const TidemarkDnnlProduct* product);
  /// Bytes of scratch memory each run needs.
  size_t (*scratch_bytes)(const TidemarkDnnlPrimitive* primitive);
  /// Runs on the calling thread alone. Several threads may run one primitive. 0: done.
  int (*run)(TidemarkDnnlPrimitive* primitive, const void* a, const void* b, void* c,
             void* scratch);
  void (*destroy)(TidemarkDnnlPrimitive* primitive);
};

/// The name looked up after dlopen.
__attribute__((visibility("default"))) const TidemarkDnnlTable* tidemark_dnnl_table();
}
