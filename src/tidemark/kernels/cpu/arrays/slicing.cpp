// Kernels of slices that are not views.
#include <tidemark/kernel.h>

#include <algorithm>
#include <cstdlib>

#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cpu {

namespace {

using movement::int_at;
using movement::SliceMasks;
using movement::StridedSpec;

enum class Direction { take, put };

/// Copies between a dense tensor and the box that `spec` describes inside one of shape `whole`.
void copy_box(Direction direction, const StridedSpec& spec, const Shape& whole, size_t element,
              void* to, const void* from) {
  int64_t whole_step[Shape::kMaxRank];
  int64_t dense_step[Shape::kMaxRank];
  int64_t step = 1, dense = 1, offset = 0;
  for (int i = spec.rank - 1; i >= 0; --i) {
    const StridedSpec::Dim& d = spec.dims[i];
    if (d.size == 0) return;
    offset += d.begin * step;
    whole_step[i] = d.size > 1 ? d.stride * step : 0;  // one element: its stride may be anything
    dense_step[i] = dense;
    dense *= d.size;
    step *= whole[i];
  }
  const int64_t bytes = offset * static_cast<int64_t>(element);
  StridedCopy copy(element);
  for (int i = 0; i < spec.rank; ++i) {
    const bool take = direction == Direction::take;
    copy.dim(spec.dims[i].size, take ? dense_step[i] : whole_step[i],
             take ? whole_step[i] : dense_step[i]);
  }
  if (direction == Direction::take) {
    copy.run(to, static_cast<const char*>(from) + bytes);
  } else {
    copy.run(static_cast<char*>(to) + bytes, from);
  }
}

StridedSpec spec_of(const KernelContext& k, const Shape& whole) {
  StridedSpec spec;
  movement::resolve_strided_slice(spec, k.call().op.name(), whole, k.input(1), k.input(2),
                                  k.input(3), SliceMasks::of(k.call()));
  return spec;
}

void slice_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  StridedSpec spec;
  spec.rank = in.rank();
  for (int i = 0; i < in.rank(); ++i) {
    spec.dims[i] = {int_at(k.input(1), i), 1, k.output(0).shape()[i]};
  }
  copy_box(Direction::take, spec, in, size_of(k.input(0).dtype()), k.out<void>(0), k.in<void>(0));
  own_characters(k, 0, k.input(0));
}

void strided_slice_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  copy_box(Direction::take, spec_of(k, in), in, size_of(k.input(0).dtype()), k.out<void>(0),
           k.in<void>(0));
  own_characters(k, 0, k.input(0));
}

void strided_slice_grad_kernel(KernelContext& k) {
  const Tensor& out = k.output(0);
  zero_bytes(k.out<void>(0), static_cast<int64_t>(out.nbytes()));
  copy_box(Direction::put, spec_of(k, out.shape()), out.shape(), size_of(out.dtype()),
           k.out<void>(0), k.in<void>(4));
}

void slice_update_kernel(KernelContext& k) {
  const Tensor& out = k.output(0);
  if (k.out<void>(0) != k.in<void>(0)) {
    copy_bytes(k.out<void>(0), k.in<void>(0), static_cast<int64_t>(out.nbytes()));
  }
  copy_box(Direction::put, spec_of(k, out.shape()), out.shape(), size_of(out.dtype()),
           k.out<void>(0), k.in<void>(4));
}

TIDEMARK_KERNEL_OF(cpu, slice, kAny, slice_kernel);
TIDEMARK_KERNEL_OF(cpu, strided_slice, kAny, strided_slice_kernel);
TIDEMARK_KERNEL_OF(cpu, strided_slice_grad, kIndex, strided_slice_grad_kernel);
TIDEMARK_KERNEL_OF(cpu, tensor_strided_slice_update, kPlain, slice_update_kernel);

}  // namespace

}  // namespace tidemark::cpu
