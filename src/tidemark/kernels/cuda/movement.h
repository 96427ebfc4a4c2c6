// Kernels that move elements without computing: one strided copy under all of them.
#pragma once

#include <tidemark/kernel.h>

#include <string>
#include <vector>

namespace tidemark::cuda {

class CudaStream;

/// Null: there is none.
const Kernel* find_movement(const OpDef& op, DType key);

/// A box of elements in two layouts.
struct CopyBox {
  std::vector<int64_t> sizes, to_steps, from_steps;  // outermost first, in elements
  int64_t count = 1;

  /// Adds a dimension inside of those so far, as one with the last where both layouts allow it.
  /// Steps of the source may be 0: each element is copied `size` times.
  void dim(int64_t size, int64_t to_step, int64_t from_step);
};

/// The same copy by elements that are larger, as far as both sides lie so; `element_bytes` grows.
CopyBox widened(CopyBox box, size_t& element_bytes, const void* from, const void* to);

/// The function that copies elements of so many bytes (1, 2, 4, 8, 16) over as many dimensions.
/// `is_small`: their number is one of 31 bits.
std::string emit_copy(size_t element_bytes, size_t dims, bool is_small, const std::string& name);
std::vector<uint64_t> copy_arguments(const CopyBox& box, const void* from, void* to);
/// Enqueues it, on the stream's device.
void copy_box(CudaStream& stream, size_t element_bytes, const CopyBox& box, const void* from,
              void* to);

/// From the input of a call to its output; what each op means by its attributes.
CopyBox box_of_broadcast(const Shape& in, const Shape& out);
CopyBox box_of_transpose(const Shape& in, const std::vector<int64_t>& perm);
CopyBox box_of_tile(const Shape& in, const Shape& out);
/// A part of a dense tensor of shape `whole`, to or from a dense tensor of its own.
CopyBox box_of_part(const Shape& whole, const Shape& part, bool is_target_whole);

/// Steps of a dense tensor, in elements.
std::vector<int64_t> dense_steps(const Shape& shape);

}  // namespace tidemark::cuda
