// Kernels that are strided copies and no more: strided slices, split, unstack, reverse, roll,
// repeat, diagonals.

#include <algorithm>

#include "tidemark/kernels/cuda/device_function.h"
#include "tidemark/kernels/cuda/movement.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cuda {

namespace {

using movement::int_at;
using movement::StridedSpec;

template <class T>
T* moved(T* data, int64_t elements, size_t size) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(data) +
                              static_cast<uintptr_t>(elements * static_cast<int64_t>(size)));
}

StridedSpec spec_of(const KernelContext& k, const Shape& whole) {
  StridedSpec spec;
  movement::resolve_strided_slice(spec, k.call().op.name(), whole, k.input(1), k.input(2),
                                  k.input(3), movement::SliceMasks::of(k.call()));
  return spec;
}

/// The elements that a strided slice takes of a tensor, and a dense tensor of them.
struct SliceBox {
  CopyBox box;
  int64_t first = 0;  // element of the whole

  SliceBox(const StridedSpec& spec, const Shape& whole, bool is_target_whole) {
    const std::vector<int64_t> steps = dense_steps(whole);
    int64_t dense = 1;
    for (int d = 0; d < spec.rank; ++d) dense *= spec.dims[d].size;
    for (int d = 0; d < spec.rank; ++d) {
      const StridedSpec::Dim& dim = spec.dims[d];
      if (dim.size == 0) {
        box.count = 0;
        return;
      }
      dense /= dim.size;
      const int64_t step = steps[static_cast<size_t>(d)];
      first += dim.begin * step;
      const int64_t in_whole = dim.stride * step;
      box.dim(dim.size, is_target_whole ? in_whole : dense, is_target_whole ? dense : in_whole);
    }
  }
};

void run_strided_slice(KernelContext& k) {
  const Shape& whole = k.input(0).shape();
  const SliceBox slice(spec_of(k, whole), whole, false);
  const size_t size = size_of(k.output(0).dtype());
  copy_box(cuda_stream_of(k), size, slice.box, moved(k.in<void>(0), slice.first, size),
           k.out<void>(0));
}

/// Puts an input where the slice is.
void put_slice(KernelContext& k, int input) {
  const Shape& whole = k.output(0).shape();
  const SliceBox slice(spec_of(k, whole), whole, true);
  const size_t size = size_of(k.output(0).dtype());
  copy_box(cuda_stream_of(k), size, slice.box, k.in<void>(input),
           moved(k.out<void>(0), slice.first, size));
}

void zero_output(KernelContext& k) {
  if (k.output(0).nbytes() == 0) return;
  cuda_stream_of(k).fill_zeros(k.out<void>(0), k.output(0).nbytes());
}
/// Unless the output is where the input was.
void copy_first_input(KernelContext& k) {
  if (k.output(0).nbytes() == 0 || k.out<void>(0) == k.in<void>(0)) return;
  cuda_stream_of(k).copy_here(k.out<void>(0), k.in<void>(0), k.output(0).nbytes());
}

void run_strided_slice_grad(KernelContext& k) {
  zero_output(k);
  put_slice(k, 4);
}
void run_slice_update(KernelContext& k) {
  copy_first_input(k);
  put_slice(k, 4);
}

// --- split, unstack -----------------------------------------------------------------------------

int64_t product(const Shape& shape, int begin, int end) {
  int64_t result = 1;
  for (int d = begin; d < end; ++d) result *= shape[d];
  return result;
}

void run_split(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const int axis = normalize_axis(k.attr("axis").as_int(), in.rank());
  const int64_t outer = product(in, 0, axis), block = product(in, axis, in.rank());
  const size_t size = size_of(k.input(0).dtype());
  int64_t first = 0;
  for (int i = 0; i < k.num_outputs(); ++i) {
    const int64_t run = outer == 0 ? 0 : k.output(i).num_elements() / outer;
    CopyBox box;
    box.dim(outer, run, block);
    box.dim(run, 1, 1);
    copy_box(cuda_stream_of(k), size, box, moved(k.in<void>(0), first, size), k.out<void>(i));
    first += run;
  }
}

// --- reverse, roll, repeat ----------------------------------------------------------------------

void run_reverse(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  if (in.num_elements() == 0) return;
  const std::vector<int64_t> steps = dense_steps(in);
  std::vector<bool> is_reversed(steps.size());
  for (const int64_t axis : k.attr("axis").as_ints()) {
    is_reversed[static_cast<size_t>(normalize_axis(axis, in.rank()))] = true;
  }
  CopyBox box;
  int64_t first = 0;
  for (int d = 0; d < in.rank(); ++d) {
    const auto at = static_cast<size_t>(d);
    if (is_reversed[at]) first += (in[d] - 1) * steps[at];
    box.dim(in[d], steps[at], is_reversed[at] ? -steps[at] : steps[at]);
  }
  const size_t size = size_of(k.input(0).dtype());
  copy_box(cuda_stream_of(k), size, box, moved(k.in<void>(0), first, size), k.out<void>(0));
}

/// One dimension after the other would take memory between them: all combinations of the two
/// pieces of each are copied.
void run_roll(KernelContext& k) {
  const Shape& shape = k.input(0).shape();
  if (shape.num_elements() == 0) return;
  const std::vector<int64_t> steps = dense_steps(shape);
  std::vector<int64_t> shifts(steps.size());
  const Ints& axes = k.attr("axis").as_ints();
  for (size_t i = 0; i < axes.size(); ++i) {
    const int axis = normalize_axis(axes[i], shape.rank());
    int64_t& shift = shifts[static_cast<size_t>(axis)];
    const int64_t by = int_at(k.input(1), static_cast<int64_t>(i)) % shape[axis];
    shift = (shift + by + shape[axis]) % shape[axis];
  }
  std::vector<int> rolled;
  for (int d = 0; d < shape.rank(); ++d) {
    if (shifts[static_cast<size_t>(d)] != 0) rolled.push_back(d);
  }
  const size_t size = size_of(k.input(0).dtype());
  for (uint64_t piece = 0; piece < uint64_t{1} << rolled.size(); ++piece) {
    std::vector<int64_t> sizes(shape.begin(), shape.end());
    int64_t from = 0, to = 0;
    for (size_t r = 0; r < rolled.size(); ++r) {
      const auto at = static_cast<size_t>(rolled[r]);
      const bool wraps = piece >> r & 1;
      const int64_t kept = sizes[at] - shifts[at];
      (wraps ? from : to) += (wraps ? kept : shifts[at]) * steps[at];
      sizes[at] = wraps ? shifts[at] : kept;
    }
    CopyBox box;
    for (size_t d = 0; d < sizes.size(); ++d) box.dim(sizes[d], steps[d], steps[d]);
    copy_box(cuda_stream_of(k), size, box, moved(k.in<void>(0), from, size),
             moved(k.out<void>(0), to, size));
  }
}

void run_repeat(KernelContext& k) {
  const Tensor& in = k.input(0);
  const bool is_flat = k.attr("axis").is_none();
  const int axis = is_flat ? 0 : normalize_axis(k.attr("axis").as_int(), in.rank());
  const int64_t outer = is_flat ? 1 : product(in.shape(), 0, axis);
  const int64_t rows = is_flat ? in.num_elements() : in.dim(axis);
  const int64_t inner = is_flat ? 1 : product(in.shape(), axis + 1, in.rank());
  const size_t size = size_of(in.dtype());
  const bool is_same = k.input(1).num_elements() == 1;
  int64_t to = 0;
  const int64_t whole = outer == 0 ? 0 : k.output(0).num_elements() / outer;
  for (int64_t i = 0; i < (is_same ? 1 : rows); ++i) {
    const int64_t times = int_at(k.input(1), i);
    CopyBox box;
    box.dim(outer, whole, rows * inner);
    box.dim(is_same ? rows : 1, times * inner, inner);
    box.dim(times, inner, 0);
    box.dim(inner, 1, 1);
    copy_box(cuda_stream_of(k), size, box, moved(k.in<void>(0), i * inner, size),
             moved(k.out<void>(0), to, size));
    to += times * inner;
  }
}

// --- Diagonals ----------------------------------------------------------------------------------

/// Between diagonal `offset` of matrices and vectors.
void copy_diagonal(KernelContext& k, const Tensor& matrices, bool is_target_matrix,
                   const void* from, void* to) {
  if (matrices.num_elements() == 0) return;
  const int64_t rows = matrices.dim(-2), columns = matrices.dim(-1);
  const int64_t offset = k.attr("k").as_int(), matrix = rows * columns;
  const int64_t length =
      std::min(rows + std::min<int64_t>(offset, 0), columns - std::max<int64_t>(offset, 0));
  if (length <= 0) return;
  const int64_t first = offset >= 0 ? offset : -offset * columns;
  const size_t size = size_of(matrices.dtype());
  const int64_t count = matrices.num_elements() / matrix;
  CopyBox box;
  box.dim(count, is_target_matrix ? matrix : length, is_target_matrix ? length : matrix);
  box.dim(length, is_target_matrix ? columns + 1 : 1, is_target_matrix ? 1 : columns + 1);
  copy_box(cuda_stream_of(k), size, box, is_target_matrix ? from : moved(from, first, size),
           is_target_matrix ? moved(to, first, size) : to);
}

void run_diag_part(KernelContext& k) {
  copy_diagonal(k, k.input(0), false, k.in<void>(0), k.out<void>(0));
}
void run_diag(KernelContext& k) {
  zero_output(k);
  copy_diagonal(k, k.output(0), true, k.in<void>(0), k.out<void>(0));
}
void run_set_diag(KernelContext& k) {
  copy_first_input(k);
  copy_diagonal(k, k.output(0), true, k.in<void>(1), k.out<void>(0));
}

TIDEMARK_KERNEL_OF(cuda, strided_slice, kPlain, run_strided_slice);
TIDEMARK_KERNEL_OF(cuda, strided_slice_grad, kIndex, run_strided_slice_grad);
TIDEMARK_KERNEL_OF(cuda, tensor_strided_slice_update, kPlain, run_slice_update);
TIDEMARK_KERNEL_OF(cuda, split, kPlain, run_split);
TIDEMARK_KERNEL_OF(cuda, unstack, kPlain, run_split);
TIDEMARK_KERNEL_OF(cuda, reverse, kPlain, run_reverse);
TIDEMARK_KERNEL_OF(cuda, roll, kPlain, run_roll);
TIDEMARK_KERNEL_OF(cuda, repeat, kPlain, run_repeat);
TIDEMARK_KERNEL_OF(cuda, diag_part, kPlain, run_diag_part);
TIDEMARK_KERNEL_OF(cuda, diag, kPlain, run_diag);
TIDEMARK_KERNEL_OF(cuda, set_diag, kPlain, run_set_diag);

}  // namespace

}  // namespace tidemark::cuda
