// Kernels of softmax, log_softmax, the cross entropies with logits, and their gradients.

#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/softmax_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(SoftmaxTable, softmax_table);

const SoftmaxTable& softmax_loops() {
  static const SoftmaxTable* const table = &TIDEMARK_FOR_LEVEL(softmax_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainElements = 16 << 10;
constexpr int64_t kColumns = 64;  // done together when the axis is not the last

int64_t rows_per_piece(int64_t n) {
  return std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, n));
}

const SoftmaxLoops& loops_for(const Tensor& t) {
  return softmax_loops().loops[static_cast<int>(t.dtype())];
}

/// Calls each(line, offset of its first element in bytes) for all lines along the axis.
template <class Each>
void for_each_line(const Tensor& t, const Attr& axis_attr, Each each) {
  if (t.num_elements() == 0) return;
  const int axis = normalize_axis(axis_attr.is_none() ? -1 : axis_attr.as_int(), t.rank());
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= t.dim(d);
  for (int d = axis + 1; d < t.rank(); ++d) inner *= t.dim(d);
  const int64_t n = t.dim(axis), size = static_cast<int64_t>(size_of(t.dtype()));
  const int64_t width = std::min(inner, kColumns), across = (inner + width - 1) / width;
  parallel_for(outer * across, rows_per_piece(n * width), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % across * width;
      each(SoftmaxLine{n, inner, std::min(width, inner - first)},
           (i / across * n * inner + first) * size);
    }
  });
}

template <bool kLog>
void softmax_run(KernelContext& k) {
  const char* x = k.in<char>(0);
  char* y = k.out<char>(0);
  const SoftmaxLoops& loops = loops_for(k.input(0));
  for_each_line(k.input(0), k.attr("axis"), [&](const SoftmaxLine& line, int64_t at) {
    loops.softmax(line, x + at, y + at, kLog);
  });
}

template <bool kLog>
void softmax_grad_run(KernelContext& k) {
  const char *y = k.in<char>(0), *dy = k.in<char>(1);
  char* dx = k.out<char>(0);
  const SoftmaxLoops& loops = loops_for(k.input(0));
  for_each_line(k.input(0), k.attr("axis"), [&](const SoftmaxLine& line, int64_t at) {
    loops.gradient(line, y + at, dy + at, dx + at, kLog);
  });
}

// --- cross entropies ----------------------------------------------------------------------------

double read(const Tensor& t, int64_t i) {
  switch (t.dtype()) {
    case DType::float64:
      return t.data<double>()[i];
    case DType::float16:
      return static_cast<float>(t.data<Half>()[i]);
    case DType::bfloat16:
      return static_cast<float>(t.data<BFloat16>()[i]);
    default:
      return t.data<float>()[i];
  }
}

void write(const Tensor& t, int64_t i, double value) {
  switch (t.dtype()) {
    case DType::float64:
      t.mutable_data<double>()[i] = value;
      break;
    case DType::float16:
      t.mutable_data<Half>()[i] = Half(static_cast<float>(value));
      break;
    case DType::bfloat16:
      t.mutable_data<BFloat16>()[i] = BFloat16(static_cast<float>(value));
      break;
    default:
      t.mutable_data<float>()[i] = static_cast<float>(value);
  }
}

/// Rows of the last dimension of the logits.
struct LogitRows {
  int64_t rows, n, bytes;
  explicit LogitRows(const Tensor& logits)
      : n(logits.dim(-1)), bytes(n * static_cast<int64_t>(size_of(logits.dtype()))) {
    rows = 1;
    for (int d = 0; d + 1 < logits.rank(); ++d) rows *= logits.dim(d);
  }
  template <class Each>
  void for_each(Each each) const {
    parallel_for(rows, rows_per_piece(n), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) each(r);
    });
  }
};

int64_t label_at(KernelContext& k, const Tensor& labels, int64_t row, int64_t classes) {
  const int64_t label =
      labels.dtype() == DType::int64 ? labels.data<int64_t>()[row] : labels.data<int32_t>()[row];
  if (label < 0 || label >= classes) {
    k.fail("Received a label value of ", label, " which is outside the valid range of [0, ",
           classes, "); it stands in row ", row);
  }
  return label;
}

void sparse_cross_entropy_run(KernelContext& k) {
  const Tensor &logits = k.input(0), &labels = k.input(1);
  const SoftmaxLoops& loops = loops_for(logits);
  const LogitRows all(logits);
  const char* x = k.in<char>(0);
  all.for_each([&](int64_t r) {
    const int64_t label = label_at(k, labels, r, all.n);
    const double lse = loops.log_sum_exp(x + r * all.bytes, all.n);
    write(k.output(0), r, lse - read(logits, r * all.n + label));
    write(k.output(1), r, lse);
  });
}

void sparse_cross_entropy_grad_run(KernelContext& k) {
  const Tensor &logits = k.input(0), &labels = k.input(1);
  const SoftmaxLoops& loops = loops_for(logits);
  const LogitRows all(logits);
  all.for_each([&](int64_t r) {
    loops.cross_entropy_gradient(k.in<char>(0) + r * all.bytes, nullptr,
                                 label_at(k, labels, r, all.n), all.n, read(k.input(2), r),
                                 read(k.input(3), r), k.out<char>(0) + r * all.bytes);
  });
}

void cross_entropy_run(KernelContext& k) {
  const SoftmaxLoops& loops = loops_for(k.input(0));
  const LogitRows all(k.input(0));
  all.for_each([&](int64_t r) {
    const char* x = k.in<char>(0) + r * all.bytes;
    const double lse = loops.log_sum_exp(x, all.n);
    write(k.output(0), r, loops.cross_entropy(k.in<char>(1) + r * all.bytes, x, all.n, lse));
    write(k.output(1), r, lse);
  });
}

void cross_entropy_grad_run(KernelContext& k) {
  const SoftmaxLoops& loops = loops_for(k.input(0));
  const LogitRows all(k.input(0));
  all.for_each([&](int64_t r) {
    loops.cross_entropy_gradient(k.in<char>(0) + r * all.bytes, k.in<char>(1) + r * all.bytes, 0,
                                 all.n, read(k.input(2), r), read(k.input(3), r),
                                 k.out<char>(0) + r * all.bytes);
  });
}

TIDEMARK_KERNEL_OF(cpu, softmax, kFloats, softmax_run<false>);
TIDEMARK_KERNEL_OF(cpu, log_softmax, kFloats, softmax_run<true>);
TIDEMARK_KERNEL_OF(cpu, softmax_grad, kFloats, softmax_grad_run<false>);
TIDEMARK_KERNEL_OF(cpu, log_softmax_grad, kFloats, softmax_grad_run<true>);
TIDEMARK_KERNEL_OF(cpu, sparse_softmax_cross_entropy, kFloats, sparse_cross_entropy_run);
TIDEMARK_KERNEL_OF(cpu, sparse_softmax_cross_entropy_grad, kFloats, sparse_cross_entropy_grad_run);
TIDEMARK_KERNEL_OF(cpu, softmax_cross_entropy, kFloats, cross_entropy_run);
TIDEMARK_KERNEL_OF(cpu, softmax_cross_entropy_grad, kFloats, cross_entropy_grad_run);

}  // namespace

}  // namespace tidemark::cpu
