// Kernels of gather, gather_nd, one_hot, nonzero and boolean_mask.
#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>
#include <string>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/indices.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/text/string_output.h"
#include "tidemark/kernels/row_counts.h"

namespace tidemark::cpu {

namespace {

/// In pieces where it is long.
void copy_run(void* to, const void* from, int64_t bytes) {
  if (bytes > kCopyGrainBytes) return copy_bytes(to, from, bytes);
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

/// Copies `count` rows of `row` elements; source row i starts at from + row_of(i) * row.
template <class T, class RowOf>
void copy_rows(T* to, const T* from, int64_t count, int64_t row, const RowOf& row_of) {
  const int64_t bytes = row * static_cast<int64_t>(sizeof(T));
  const int64_t grain = std::max<int64_t>(1, kCopyGrainBytes / std::max<int64_t>(bytes, 4));
  parallel_for(count, grain, [&](int64_t begin, int64_t end) {
    if (row == 1) {
      for (int64_t i = begin; i < end; ++i) to[i] = from[row_of(i)];
    } else if (bytes <= 64) {
      for (int64_t i = begin; i < end; ++i) {
        const T* source = from + row_of(i) * row;
        for (int64_t j = 0; j < row; ++j) to[i * row + j] = source[j];
      }
    } else {
      for (int64_t i = begin; i < end; ++i) {
        copy_run(to + i * row, from + row_of(i) * row, bytes);
      }
    }
  });
}

template <class I>
void gather(KernelContext& k) {
  const GatherLayout g(k.input(0).shape(), k.input(1).shape(), k.attr("axis"),
                       k.attr("batch_dims").as_int());
  const I* indices = k.in<I>(1);
  check_indices(k, indices, k.input(1), g.limit);
  if (k.output(0).num_elements() == 0) return;
  with_element_type(size_of(k.input(0).dtype()), [&](auto element) {
    using T = decltype(element);
    T* to = k.out<T>(0);
    const T* from = k.in<T>(0);
    if (g.batch * g.outer == 1) {
      copy_rows(to, from, g.count, g.inner, [&](int64_t i) { return int64_t{indices[i]}; });
      return;
    }
    copy_rows(to, from, g.batch * g.outer * g.count, g.inner, [&](int64_t i) {
      const int64_t block = i / g.count;
      return block * g.limit + indices[block / g.outer * g.count + i % g.count];
    });
  });
  own_characters(k, 0, k.input(0));
}

void gather_kernel(KernelContext& k) {
  switch (k.input(1).dtype()) {
    case DType::int16:
      return gather<int16_t>(k);
    case DType::int32:
      return gather<int32_t>(k);
    default:
      return gather<int64_t>(k);
  }
}

template <class I>
void gather_nd(KernelContext& k) {
  const int batch_dims = static_cast<int>(k.attr("batch_dims").as_int());
  const PointLayout p(k.input(0).shape(), k.input(1).shape(), batch_dims);
  const I* indices = k.in<I>(1);
  check_points(k, p, indices, k.input(0).shape(), "params");
  if (k.output(0).num_elements() == 0) return;
  with_element_type(size_of(k.input(0).dtype()), [&](auto element) {
    using T = decltype(element);
    copy_rows(k.out<T>(0), k.in<T>(0), p.count, p.inner,
              [&](int64_t i) { return p.row(indices, i); });
  });
  own_characters(k, 0, k.input(0));
}

void gather_nd_kernel(KernelContext& k) {
  switch (k.input(1).dtype()) {
    case DType::int16:
      return gather_nd<int16_t>(k);
    case DType::int32:
      return gather_nd<int32_t>(k);
    default:
      return gather_nd<int64_t>(k);
  }
}

template <class I, class T>
void one_hot(KernelContext& k) {
  const Shape& out = k.output(0).shape();
  const int axis = normalize_axis(k.attr("axis").as_int(), out.rank());
  const int64_t depth = out[axis];
  int64_t inner = 1;
  for (int i = axis + 1; i < out.rank(); ++i) inner *= out[i];
  const T on = *k.in<T>(2), off = *k.in<T>(3);
  const I* indices = k.in<I>(0);
  T* to = k.out<T>(0);
  const int64_t total = k.output(0).num_elements();
  parallel_for(total, kCopyGrainBytes / static_cast<int64_t>(sizeof(T)),
               [&](int64_t begin, int64_t end) { std::fill(to + begin, to + end, off); });
  if (total == 0) return;
  const int64_t count = k.input(0).num_elements();
  parallel_for(count, 1 << 14, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto index = static_cast<int64_t>(indices[i]);
      if (index < 0 || index >= depth) continue;
      to[(i / inner * depth + index) * inner + i % inner] = on;
    }
  });
}

template <class I>
struct OneHot {
  static void run(KernelContext& k) {
    with_element_type(size_of(k.output(0).dtype()),
                      [&](auto element) { one_hot<I, decltype(element)>(k); });
  }
};

void nonzero_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const bool* condition = k.in<bool>(0);
  int64_t* to = k.out<int64_t>(0);
  const int64_t count = k.input(0).num_elements();
  const int rank = in.rank();
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) {
    if (i % (1 << 16) == 0) check_interrupt();
    if (!condition[i]) continue;
    ++found;
    int64_t rest = i;
    for (int d = rank - 1; d >= 0; --d) {
      to[d] = rest % in[d];
      rest /= in[d];
    }
    to += rank;
  }
  k.set_rows(0, found);
}

/// For devices that run these kernels: how many elements are true.
template <int kMask>
void count_true(KernelContext& k) {
  const bool* mask = k.in<bool>(kMask);
  *k.out<int64_t>(0) = std::count(mask, mask + k.input(kMask).num_elements(), true);
}

void boolean_mask_kernel(KernelContext& k) {
  const Shape& in = k.input(0).shape();
  const Shape& mask_shape = k.input(1).shape();
  const Attr& attr = k.attr("axis");
  const int axis = attr.is_none() ? 0 : normalize_axis(attr.as_int(), in.rank());
  int64_t outer = 1, inner = 1;
  for (int i = 0; i < axis; ++i) outer *= in[i];
  for (int i = axis + mask_shape.rank(); i < in.rank(); ++i) inner *= in[i];
  const bool* mask = k.in<bool>(1);
  const int64_t size = k.input(1).num_elements();
  const int64_t row = inner * static_cast<int64_t>(size_of(k.input(0).dtype()));
  const char* from = k.in<char>(0);
  char* to = k.out<char>(0);
  for (int64_t o = 0; o < outer; ++o) {
    int64_t next_look = 0;
    for (int64_t i = 0; i < size;) {
      int64_t end = i;  // a run of true elements is copied at once
      while (end < size && mask[end]) ++end;
      if (end > i) copy_run(to, from + i * row, (end - i) * row);
      to += (end - i) * row;
      if (i >= next_look) {
        next_look = i + (1 << 16);
        check_interrupt();
      }
      i = end + 1;
    }
    from += size * row;
  }
  own_characters(k, 0, k.input(0));
}

TIDEMARK_KERNEL_OF(cpu, gather, kAny, gather_kernel);
TIDEMARK_KERNEL_OF(cpu, gather_nd, kAny, gather_nd_kernel);
TIDEMARK_KERNEL_OF(cpu, nonzero, kBool, nonzero_kernel);
TIDEMARK_KERNEL_OF(cpu, boolean_mask, kAny, boolean_mask_kernel);
const bool masks_are_counted = register_row_count(nonzero_kernel, count_true<0>) &&
                               register_row_count(boolean_mask_kernel, count_true<1>);
const TypedKernelsOf<KernelKind::cpu, OneHot, uint8_t, int8_t, int32_t, int64_t> one_hot_kernels(
    "one_hot");

}  // namespace

}  // namespace tidemark::cpu
