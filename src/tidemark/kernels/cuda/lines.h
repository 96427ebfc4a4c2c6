// Tensors as lines along one axis, for kernels whose threads work on a line together.
#pragma once

#include "tidemark/kernels/cuda/device_function.h"

namespace tidemark::cuda {

/// [outer, n, inner] around an axis: as device/loops.h has it.
struct Lines {
  int64_t count = 1, n = 1, inner = 1;

  Lines(const Shape& shape, int axis) {
    for (int d = 0; d < shape.rank(); ++d) {
      if (d == axis) continue;
      count *= shape[d];
      if (d > axis) inner *= shape[d];
    }
    n = shape[axis];
  }
  /// Of the last dimension.
  static Lines rows(const Shape& shape) { return {shape, shape.rank() - 1}; }

  /// Who works on a line. A thread each, unless lines are long and next to nothing would lie side
  /// by side, or there are too few to keep a GPU busy.
  bool has_blocks() const {
    constexpr int64_t kShort = 32, kLong = 1024, kMany = 1 << 14;
    return inner == 1 ? n > kShort : n >= kLong && count < kMany;
  }
  const char* worker() const { return has_blocks() ? "tm::WholeBlock" : "tm::OneThread"; }
  /// Enqueues a kernel whose first type is the worker.
  void run(CudaStream& stream, const DeviceFunction& function, Words arguments) const {
    if (has_blocks()) {
      function.run_blocks(stream, count, std::move(arguments));
    } else {
      function.run(stream, count, std::move(arguments));
    }
  }
};

inline void add_word(Words& words, const Lines& lines) {
  words.insert(words.end(), {static_cast<uint64_t>(lines.count), static_cast<uint64_t>(lines.n),
                             static_cast<uint64_t>(lines.inner)});
}

}  // namespace tidemark::cuda
