// Kernels of pad and of the gradient of its mirroring modes.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/combine.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/ops/strided_spec.h"

namespace tidemark::cpu {

namespace {

using movement::int_at;

/// What a mirroring mode repeats: SYMMETRIC the edge too, REFLECT not.
enum class Mode { constant, reflect, symmetric };

Mode mode_of(const KernelContext& k) {
  const char first = k.attr("mode").as_string()[0];
  return first == 'C' || first == 'c'   ? Mode::constant
         : first == 'R' || first == 'r' ? Mode::reflect
                                        : Mode::symmetric;
}

/// The position in [0, size) that a position before, in or after it mirrors.
int64_t mirrored(int64_t position, int64_t size, Mode mode) {
  const int64_t edge = mode == Mode::symmetric ? 1 : 0;
  if (position < 0) return -position - edge;
  return position < size ? position : 2 * (size - 1) - position + edge;
}

int64_t count_rows(const Shape& shape) {
  int64_t rows = 1;
  for (int i = 0; i < shape.rank() - 1; ++i) rows *= shape[i];
  return rows;
}

/// The number of the row (last dimension) of the inner tensor that a row of the padded one mirrors.
int64_t mirrored_row(const KernelContext& k, const Shape& outer, const Shape& inner, Mode mode,
                     int64_t row) {
  int64_t source = 0, step = 1;
  for (int i = outer.rank() - 2; i >= 0; --i) {
    const int64_t at = row % outer[i] - int_at(k.input(1), 2 * i);
    row /= outer[i];
    source += mirrored(at, inner[i], mode) * step;
    step *= inner[i];
  }
  return source;
}

void copy_inner_box(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const Shape& out = k.output(0).shape();
  int64_t from[Shape::kMaxRank], to[Shape::kMaxRank];
  int64_t from_step = 1, to_step = 1, offset = 0;
  for (int i = in.rank() - 1; i >= 0; --i) {
    from[i] = from_step;
    to[i] = to_step;
    offset += int_at(k.input(1), 2 * i) * to_step;
    from_step *= in[i];
    to_step *= out[i];
  }
  const size_t element = size_of(k.input(0).dtype());
  StridedCopy copy(element);
  for (int i = 0; i < in.rank(); ++i) copy.dim(in[i], to[i], from[i]);
  copy.run(k.out<char>(0) + offset * static_cast<int64_t>(element), k.in<void>(0));
}

void pad_constant(KernelContext& k) {
  const size_t element = size_of(k.output(0).dtype());
  with_element_type(element, [&](auto type) {
    using T = decltype(type);
    const T value = *k.in<T>(2);
    T* to = k.out<T>(0);
    parallel_for(k.output(0).num_elements(), kCopyGrainBytes / static_cast<int64_t>(sizeof(T)),
                 [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, value); });
  });
  copy_inner_box(k);
}

template <class T>
void pad_mirrored(KernelContext& k, Mode mode) {
  const Shape& in = k.input(0).shape();
  const Shape& out = k.output(0).shape();
  const int last = out.rank() - 1;
  const int64_t width = out[last], inner = in[last];
  const int64_t before = int_at(k.input(1), 2 * last);
  const int64_t grain =
      std::max<int64_t>(1, kCopyGrainBytes / (width * static_cast<int64_t>(sizeof(T))));
  parallel_for(count_rows(out), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      T* to = k.out<T>(0) + row * width;
      const T* from = k.in<T>(0) + mirrored_row(k, out, in, mode, row) * inner;
      for (int64_t i = 0; i < before; ++i) to[i] = from[mirrored(i - before, inner, mode)];
      std::copy(from, from + inner, to + before);
      for (int64_t i = before + inner; i < width; ++i) {
        to[i] = from[mirrored(i - before, inner, mode)];
      }
    }
  });
}

/// Both the tensor's and the constant's characters are needed, so elements go one by one.
void pad_strings(KernelContext& k, Mode mode) {
  const Shape& in = k.input(0).shape();
  const Shape& out = k.output(0).shape();
  StringWriter writer(k, 0);
  const int64_t count = k.output(0).num_elements();
  for (int64_t e = 0; e < count; ++e) {
    int64_t rest = e, source = 0, step = 1;
    for (int i = out.rank() - 1; i >= 0; --i) {
      int64_t at = rest % out[i] - int_at(k.input(1), 2 * i);
      rest /= out[i];
      if (mode != Mode::constant) at = mirrored(at, in[i], mode);
      const bool inside = at >= 0 && at < in[i];
      source = inside && source >= 0 ? source + at * step : -1;
      step *= in[i];
    }
    writer.put(e, source >= 0 ? k.input(0).string_at(source) : k.input(2).string_at(0));
  }
}

void pad_kernel(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  const Mode mode = mode_of(k);
  if (k.output(0).dtype() == DType::string) return pad_strings(k, mode);
  if (mode == Mode::constant || k.output(0).rank() == 0) return pad_constant(k);
  with_element_type(size_of(k.output(0).dtype()),
                    [&](auto type) { pad_mirrored<decltype(type)>(k, mode); });
}

void mirror_pad_grad_kernel(KernelContext& k) {
  const Mode mode = mode_of(k);
  const Shape& outer = k.input(0).shape();
  const Shape& inner = k.output(0).shape();
  const DType dtype = k.output(0).dtype();
  zero_bytes(k.out<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
  if (k.input(0).num_elements() == 0) return;
  const CombineRow add = combine_row(Combine::add, dtype);
  const auto element = static_cast<int64_t>(size_of(dtype));
  if (outer.rank() == 0) return add(k.out<void>(0), k.in<void>(0), 1);
  const int last = outer.rank() - 1;
  const int64_t width = outer[last], size = inner[last];
  const int64_t before = int_at(k.input(1), 2 * last);
  const int64_t rows = count_rows(outer);
  for (int64_t row = 0; row < rows; ++row) {  // in order: several rows go to one
    char* to = k.out<char>(0) + mirrored_row(k, outer, inner, mode, row) * size * element;
    const char* from = k.in<char>(0) + row * width * element;
    add(to, from + before * element, size);
    for (int64_t i = 0; i < width; ++i) {
      if (i == before) i += size;
      if (i < width) add(to + mirrored(i - before, size, mode) * element, from + i * element, 1);
    }
  }
}

TIDEMARK_KERNEL_OF(cpu, pad, kAny, pad_kernel);
TIDEMARK_KERNEL_OF(cpu, mirror_pad_grad, kNumeric, mirror_pad_grad_kernel);

}  // namespace

}  // namespace tidemark::cpu
