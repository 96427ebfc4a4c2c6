// Kernels of concat, stack, unstack, split, tile and repeat.
#include <tidemark/kernel.h>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cpu {

namespace {

using movement::int_at;

int64_t product(const Shape& shape, int begin, int end) {
  int64_t result = 1;
  for (int i = begin; i < end; ++i) result *= shape[i];
  return result;
}

/// The outputs of a joining op are `outer` blocks; input i gives `run(i)` elements to each.
template <class RunOf>
void join(KernelContext& k, int64_t outer, const RunOf& run_of) {
  int64_t block = 0;
  for (int i = 0; i < k.num_inputs(); ++i) block += run_of(i);
  if (outer == 0 || block == 0) return;
  if (k.output(0).dtype() == DType::string) {
    StringWriter writer(k, 0);
    int64_t index = 0;
    for (int64_t o = 0; o < outer; ++o) {
      for (int i = 0; i < k.num_inputs(); ++i) {
        const int64_t run = run_of(i);
        for (int64_t j = 0; j < run; ++j) writer.put(index++, k.input(i).string_at(o * run + j));
      }
    }
    return;
  }
  const size_t element = size_of(k.output(0).dtype());
  char* to = k.out<char>(0);
  for (int i = 0; i < k.num_inputs(); ++i) {
    const int64_t run = run_of(i);
    StridedCopy copy(element);
    copy.dim(outer, block, run);
    copy.dim(run, 1, 1);
    copy.run(to, k.in<void>(i));
    to += run * static_cast<int64_t>(element);
  }
}

void concat_kernel(KernelContext& k) {
  const Shape& out = k.output(0).shape();
  const int axis = normalize_axis(k.attr("axis").as_int(), out.rank());
  const int64_t inner = product(out, axis + 1, out.rank());
  join(k, product(out, 0, axis), [&](int i) { return k.input(i).dim(axis) * inner; });
}

void stack_kernel(KernelContext& k) {
  const Shape& out = k.output(0).shape();
  const int axis = normalize_axis(k.attr("axis").as_int(), out.rank());
  const int64_t inner = product(out, axis + 1, out.rank());
  join(k, product(out, 0, axis), [&](int) { return inner; });
}

/// Output i takes `run_of(i)` elements from each of `outer` blocks of the input.
template <class RunOf>
void take_apart(KernelContext& k, int64_t outer, const RunOf& run_of) {
  const size_t element = size_of(k.input(0).dtype());
  const char* from = k.in<char>(0);
  int64_t block = 0;
  for (int i = 0; i < k.num_outputs(); ++i) block += run_of(i);
  for (int i = 0; i < k.num_outputs(); ++i) {
    const int64_t run = run_of(i);
    StridedCopy copy(element);
    copy.dim(outer, run, block);
    copy.dim(run, 1, 1);
    copy.run(k.out<void>(i), from);
    own_characters(k, i, k.input(0));
    from += run * static_cast<int64_t>(element);
  }
}

void unstack_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const int axis = normalize_axis(k.attr("axis").as_int(), in.rank());
  const int64_t inner = product(in, axis + 1, in.rank());
  take_apart(k, product(in, 0, axis), [&](int) { return inner; });
}

void split_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const int axis = normalize_axis(k.attr("axis").as_int(), in.rank());
  const int64_t inner = product(in, axis + 1, in.rank());
  take_apart(k, product(in, 0, axis), [&](int i) { return k.output(i).dim(axis) * inner; });
}

/// A dimension of n elements taken m times is two: m with no step in the source, and n.
void tile_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  if (k.output(0).num_elements() == 0) return;
  int64_t step[Shape::kMaxRank];
  int64_t outer_step[Shape::kMaxRank];
  int64_t to = 1, from = 1;
  int64_t to_step[Shape::kMaxRank];
  for (int i = in.rank() - 1; i >= 0; --i) {
    step[i] = from;
    to_step[i] = to;
    outer_step[i] = to * in[i];
    from *= in[i];
    to *= k.output(0).shape()[i];
  }
  StridedCopy copy(size_of(k.input(0).dtype()));
  // The copies of the outermost dimensions go outside, so that rows of the target are written in
  // order; a tensor of 254 dimensions repeated along all of them would need twice as many, so
  // those of size 1 or with one copy are left out by dim().
  for (int i = 0; i < in.rank(); ++i) {
    copy.dim(int_at(k.input(1), i), outer_step[i], 0);
    copy.dim(in[i], to_step[i], step[i]);
  }
  copy.run(k.out<void>(0), k.in<void>(0));
  own_characters(k, 0, k.input(0));
}

void repeat_kernel(KernelContext& k) {
  const Tensor& in = k.input(0);
  const bool flat = k.attr("axis").is_none();
  const int axis = flat ? 0 : normalize_axis(k.attr("axis").as_int(), in.rank());
  const int64_t outer = flat ? 1 : product(in.shape(), 0, axis);
  const int64_t size = flat ? in.num_elements() : in.dim(axis);
  const int64_t inner = flat ? 1 : product(in.shape(), axis + 1, in.rank());
  const bool same = k.input(1).num_elements() == 1;
  if (k.output(0).num_elements() == 0) return;
  StridedCopy all(size_of(in.dtype()));
  if (same) {
    const int64_t times = int_at(k.input(1), 0);
    all.dim(outer * size, times * inner, inner);
    all.dim(times, inner, 0);
    all.dim(inner, 1, 1);
    all.run(k.out<void>(0), in.raw_data());
    return own_characters(k, 0, in);
  }
  const int64_t row = inner * static_cast<int64_t>(size_of(in.dtype()));
  const char* from = k.in<char>(0);
  char* to = k.out<char>(0);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < size; ++i, from += row) {
      if (i % 4096 == 0) check_interrupt();
      const int64_t times = int_at(k.input(1), i);
      StridedCopy copy(size_of(in.dtype()));
      copy.dim(times, inner, 0);
      copy.dim(inner, 1, 1);
      copy.run(to, from);
      to += times * row;
    }
  }
  own_characters(k, 0, in);
}

TIDEMARK_KERNEL_OF(cpu, concat, kAny, concat_kernel);
TIDEMARK_KERNEL_OF(cpu, stack, kAny, stack_kernel);
TIDEMARK_KERNEL_OF(cpu, unstack, kAny, unstack_kernel);
TIDEMARK_KERNEL_OF(cpu, split, kAny, split_kernel);
TIDEMARK_KERNEL_OF(cpu, tile, kAny, tile_kernel);
TIDEMARK_KERNEL_OF(cpu, repeat, kAny, repeat_kernel);

}  // namespace

}  // namespace tidemark::cpu
