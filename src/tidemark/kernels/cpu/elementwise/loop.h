// Elementwise loops and the driver that runs them over tensors.
//
// A ElementwiseLoop computes a run of consecutive elements; it knows nothing of shapes, threads,
// half types or caches. The driver adds those: it cuts the work into pieces, walks broadcast
// dimensions, converts float16 and bfloat16 block by block, and writes large results past the
// caches.
#pragma once

#include <tidemark/elementwise.h>

namespace tidemark::cpu {

struct ElementwiseLoop {
  const char* op = nullptr;
  LoopFn run = nullptr;
  /// As `run`, but writes past the caches; null where results are no floats. `out` is
  /// aligned to 64 bytes; who reads it on another thread needs a full fence in between.
  LoopFn stream = nullptr;
  DType in = DType::invalid;
  DType out = DType::invalid;
  uint8_t arity = 1;
  /// n must be a multiple of kVectorRun: the vector code and scalar code could differ in the last
  /// bit, and a result must not depend on where in the tensor an element lies.
  bool whole_vectors = false;
  /// Costs much more than reading and writing the element.
  bool heavy = false;
};

inline constexpr int64_t kVectorRun = 16;

struct LoopTable {
  const ElementwiseLoop* loops = nullptr;
  int count = 0;
};

/// Helpers of the driver that profit from SIMD.
struct BlockTable {
  void (*half_to_float)(float* out, const uint16_t* in, int64_t n);
  void (*float_to_half)(uint16_t* out, const float* in, int64_t n);
  void (*bfloat16_to_float)(float* out, const uint16_t* in, int64_t n);
  void (*float_to_bfloat16)(uint16_t* out, const float* in, int64_t n);
  /// Copies past the caches; `out` need not be aligned. What was written is in order with other
  /// writes, and so safe to show to other threads, only after end_stream.
  void (*stream)(void* out, const void* in, int64_t bytes);
  void (*end_stream)();
  /// Repeats one element of `size` bytes.
  void (*fill)(void* out, const void* value, int64_t size, int64_t n);
  /// Loops of three inputs, bool first, by the size of the elements they choose from.
  LoopFn select_1, select_2, select_4, select_8, select_16;
};

inline constexpr int kMaxLoopInputs = 3;

/// What the driver runs: the loop over `loop.in`, on tensors whose elements have these dtypes.
/// Where they differ from the loop's, one side is float16 or bfloat16 and the other float32.
struct LoopCall {
  const ElementwiseLoop* loop = nullptr;
  void* out = nullptr;
  DType out_dtype = DType::invalid;
  const Shape* out_shape = nullptr;
  int64_t out_count = 0;
  const void* in[kMaxLoopInputs] = {};
  DType in_dtype[kMaxLoopInputs] = {};
  DType loop_in[kMaxLoopInputs] = {};  // dtypes the loop reads
  const Shape* in_shape[kMaxLoopInputs] = {};
  int64_t in_count[kMaxLoopInputs] = {};
  LoopParams params;
};

/// The attributes of a call as numbers.
LoopParams params_of(const OpCall& call);

/// Runs the loop over all elements, broadcasting inputs; the first status that is not ok.
LoopStatus run_loop(const LoopCall& call);

/// The loop of an op over these inputs, from the kernel's context; throws for a bad status.
void run_loop(KernelContext& k, const ElementwiseLoop& loop);

[[noreturn, gnu::cold]] void fail_loop(const KernelContext& k, LoopStatus status);

}  // namespace tidemark::cpu
