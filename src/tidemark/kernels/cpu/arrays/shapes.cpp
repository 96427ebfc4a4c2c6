// Kernels of the ops that tell a shape, and of broadcast_to.
#include <tidemark/kernel.h>

#include <limits>

#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/text/string_output.h"

namespace tidemark::cpu {

namespace {

void write_int(KernelContext& k, int64_t index, int64_t value) {
  switch (k.output(0).dtype()) {
    case DType::int64:
      k.out<int64_t>(0)[index] = value;
      return;
    case DType::int32:
      if (value > std::numeric_limits<int32_t>::max()) {
        k.fail("size ", value, " does not fit in int32; ask for out_type=tf.int64");
      }
      k.out<int32_t>(0)[index] = static_cast<int32_t>(value);
      return;
    default:
      k.fail("out_type must be int32 or int64; given ", name_of(k.output(0).dtype()));
  }
}

void shape_kernel(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  for (int i = 0; i < shape.rank(); ++i) write_int(k, i, shape[i]);
}

void rank_kernel(KernelContext& k) { write_int(k, 0, k.input(0).rank()); }
void size_kernel(KernelContext& k) { write_int(k, 0, k.input(0).num_elements()); }

void broadcast_to_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const Shape& out = k.output(0).shape();
  if (k.output(0).num_elements() == 0) return;
  int64_t to_step[Shape::kMaxRank];
  int64_t from_step[Shape::kMaxRank];
  int64_t to = 1, from = 1;
  for (int i = 1; i <= out.rank(); ++i) {
    const int d = out.rank() - i;
    const int64_t size = i <= in.rank() ? in.dim(-i) : 1;
    to_step[d] = to;
    from_step[d] = size == 1 ? 0 : from;
    to *= out[d];
    from *= size;
  }
  StridedCopy copy(size_of(k.input(0).dtype()));
  for (int d = 0; d < out.rank(); ++d) copy.dim(out[d], to_step[d], from_step[d]);
  copy.run(k.out<void>(0), k.in<void>(0));
  own_characters(k, 0, k.input(0));
}

TIDEMARK_KERNEL_OF(cpu, shape, kAny, shape_kernel);
TIDEMARK_KERNEL_OF(cpu, rank, kAny, rank_kernel);
TIDEMARK_KERNEL_OF(cpu, size, kAny, size_kernel);
TIDEMARK_KERNEL_OF(cpu, broadcast_to, kAny, broadcast_to_kernel);

}  // namespace

}  // namespace tidemark::cpu
