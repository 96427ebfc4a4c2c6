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

/// A convolution or one of its gradients over channels-last images; leading spatial dimensions of
/// size 1 where there are fewer than three. `a` and `c` of run() are the input's and the output's
/// side, `b` the filter's, in the library's own layout.
struct TidemarkDnnlConvolution {
  /// 0: forward, 1: gradient of the input, 2: gradient of the filter, 3: the gradient of the input
  /// as a forward convolution, for strides of 1 and padding within the window's reach; its filter
  /// comes with each spatial dimension reversed.
  int32_t kind;
  int32_t is_bfloat16;
  int64_t batch, groups, in_channels, out_channels;
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], before[3], after[3];
};

/// Where the elements of a filter lie outside and in the library's layout: strides of its
/// dimensions, in elements. There, an index is what is left after the blocks; the elements of a
/// block lie together, the last one's side by side.
struct TidemarkDnnlLayout {
  int32_t rank, blocks;
  int64_t sizes[6], plain_strides[6], strides[6];
  int64_t block_sizes[4];
  int32_t block_dimensions[4];
};

struct TidemarkDnnlPrimitive;

struct TidemarkDnnlTable {
  /// The highest instruction set it may use, as x86-64 counts levels: 2, 3 or 4. Before all others.
  void (*use_level)(int level);
  /// Null when oneDNN has no fast code for this product on this CPU. May be called from any thread.
  TidemarkDnnlPrimitive* (*create)(const TidemarkDnnlProduct* product);
  /// Bytes of scratch memory each run needs.
  size_t (*scratch_bytes)(const TidemarkDnnlPrimitive* primitive);
  /// Runs on the calling thread alone. Several threads may run one primitive. 0: done.
  int (*run)(TidemarkDnnlPrimitive* primitive, const void* a, const void* b, void* c,
             void* scratch);
  void (*destroy)(TidemarkDnnlPrimitive* primitive);
  /// As create. Where `like` is given the filter has its layout, and `like` converts it.
  TidemarkDnnlPrimitive* (*create_convolution)(const TidemarkDnnlConvolution* convolution,
                                               const TidemarkDnnlPrimitive* like);
  /// Bytes of the filter in the library's layout; of float for the gradient of the filter.
  size_t (*filter_bytes)(const TidemarkDnnlPrimitive* convolution);
  /// 0: `layout` says where elements lie. Otherwise only convert_filter knows.
  int (*filter_layout)(const TidemarkDnnlPrimitive* convolution, TidemarkDnnlLayout* layout);
  /// Between [window..., in_channels / groups, out_channels] and the library's layout: into it, for
  /// the gradient of the filter (of floats, on both sides) out of it. 0: done. For filters whose
  /// filter_layout is not known.
  int (*convert_filter)(TidemarkDnnlPrimitive* convolution, const void* from, void* to);
  /// Bytes that the library has for itself from one run to the next, and the most it may have.
  size_t (*kept_bytes)();
  size_t (*most_kept_bytes)();
};

/// The name looked up after dlopen.
__attribute__((visibility("default"))) const TidemarkDnnlTable* tidemark_dnnl_table();
}
