// Kernels of transpose, reverse, roll, pad and reverse_sequence.
#include <tidemark/kernel.h>

#include <algorithm>
#include <complex>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cpu {

namespace {

using movement::int_at;

/// Steps of a dense tensor, in elements.
void dense_steps(const Shape& shape, int64_t* step) {
  int64_t next = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    step[i] = next;
    next *= shape[i];
  }
}

template <class R>
void conjugate(std::complex<R>* values, int64_t count) {
  parallel_for(count, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) values[i] = std::conj(values[i]);
  });
}

void transpose_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const Shape& out = k.output(0).shape();
  const int rank = in.rank();
  if (k.output(0).num_elements() == 0) return;
  int64_t from[Shape::kMaxRank], to[Shape::kMaxRank];
  dense_steps(in, from);
  dense_steps(out, to);
  const Attr& perm = k.attr("perm");
  StridedCopy copy(size_of(k.input(0).dtype()));
  for (int i = 0; i < rank; ++i) {
    const int64_t axis = perm.is_none() ? rank - 1 - i : perm.as_ints()[static_cast<size_t>(i)];
    copy.dim(out[i], to[i], from[axis < 0 ? axis + rank : axis]);
  }
  copy.run(k.out<void>(0), k.in<void>(0));
  own_characters(k, 0, k.input(0));
  if (!k.attr("conjugate").as_bool()) return;
  const int64_t count = k.output(0).num_elements();
  if (k.output(0).dtype() == DType::complex64) conjugate(k.out<std::complex<float>>(0), count);
  if (k.output(0).dtype() == DType::complex128) conjugate(k.out<std::complex<double>>(0), count);
}

void reverse_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  if (k.output(0).num_elements() == 0) return;
  int64_t step[Shape::kMaxRank];
  bool backward[Shape::kMaxRank] = {};
  dense_steps(in, step);
  for (int64_t axis : k.attr("axis").as_ints()) backward[axis < 0 ? axis + in.rank() : axis] = true;
  int64_t first = 0;
  StridedCopy copy(size_of(k.input(0).dtype()));
  for (int i = 0; i < in.rank(); ++i) {
    if (backward[i]) first += (in[i] - 1) * step[i];
    copy.dim(in[i], step[i], backward[i] ? -step[i] : step[i]);
  }
  const size_t element = size_of(k.input(0).dtype());
  copy.run(k.out<void>(0), k.in<char>(0) + first * static_cast<int64_t>(element));
  own_characters(k, 0, k.input(0));
}

/// Along each rolled dimension there are two pieces; all their combinations are copied.
class Roll {
 public:
  explicit Roll(KernelContext& k) : k_(k), shape_(k.input(0).shape()) {
    dense_steps(shape_, step_);
    const Ints& axes = k.attr("axis").as_ints();
    for (int i = 0; i < shape_.rank(); ++i) shift_[i] = 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      const int axis = normalize_axis(axes[i], shape_.rank());
      const int64_t size = shape_[axis];
      const int64_t by = int_at(k.input(1), static_cast<int64_t>(i)) % size;
      shift_[axis] = (shift_[axis] + by + size) % size;
    }
  }
  void run() { choose(0, 0, 0); }

 private:
  void choose(int axis, int64_t to, int64_t from) {
    if (axis == shape_.rank()) return copy(to, from);
    count_[axis] = shape_[axis] - shift_[axis];
    choose(axis + 1, to + shift_[axis] * step_[axis], from);
    if (shift_[axis] == 0) return;
    const int64_t kept = count_[axis];
    count_[axis] = shift_[axis];
    choose(axis + 1, to, from + kept * step_[axis]);
    count_[axis] = kept;
  }
  void copy(int64_t to, int64_t from) {
    const auto element = static_cast<int64_t>(size_of(k_.input(0).dtype()));
    StridedCopy copy(static_cast<size_t>(element));
    for (int i = 0; i < shape_.rank(); ++i) copy.dim(count_[i], step_[i], step_[i]);
    copy.run(k_.out<char>(0) + to * element, k_.in<char>(0) + from * element);
  }

  KernelContext& k_;
  const Shape& shape_;
  int64_t step_[Shape::kMaxRank];
  int64_t shift_[Shape::kMaxRank];
  int64_t count_[Shape::kMaxRank];
};

void roll_kernel(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  Roll(k).run();
  own_characters(k, 0, k.input(0));
}

void reverse_sequence_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const int rank = in.rank();
  const Attr& batch_attr = k.attr("batch_axis");
  const int seq = normalize_axis(k.attr("seq_axis").as_int(), rank);
  const int batch = normalize_axis(batch_attr.is_none() ? 0 : batch_attr.as_int(), rank);
  for (int64_t b = 0; b < in[batch]; ++b) {
    const int64_t length = int_at(k.input(1), b);
    if (length < 0 || length > in[seq]) {
      k.fail("seq_lens(", b, ") is ", length, "; allowed is [0, ", in[seq],
             "], the size of dimension ", seq);
    }
  }
  if (k.output(0).num_elements() == 0) return;
  int64_t step[Shape::kMaxRank];
  dense_steps(in, step);
  const auto element = static_cast<int64_t>(size_of(k.input(0).dtype()));
  for (int64_t b = 0; b < in[batch]; ++b) {
    const int64_t length = int_at(k.input(1), b);
    const int64_t start = b * step[batch];
    for (const bool head : {true, false}) {
      const int64_t begin = head ? 0 : length;
      const int64_t count = head ? length : in[seq] - length;
      StridedCopy copy(static_cast<size_t>(element));
      for (int i = 0; i < rank; ++i) {
        if (i == batch) continue;
        copy.dim(i == seq ? count : in[i], step[i], i == seq && head ? -step[i] : step[i]);
      }
      const int64_t to = start + begin * step[seq];
      const int64_t from = start + (head ? std::max<int64_t>(length - 1, 0) : begin) * step[seq];
      copy.run(k.out<char>(0) + to * element, k.in<char>(0) + from * element);
    }
  }
  own_characters(k, 0, k.input(0));
}

TIDEMARK_KERNEL_OF(cpu, transpose, kAny, transpose_kernel);
TIDEMARK_KERNEL_OF(cpu, reverse, kAny, reverse_kernel);
TIDEMARK_KERNEL_OF(cpu, roll, kAny, roll_kernel);
TIDEMARK_KERNEL_OF(cpu, reverse_sequence, kAny, reverse_sequence_kernel);

}  // namespace

}  // namespace tidemark::cpu
