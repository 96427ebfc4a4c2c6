// Kernels of sort, argsort, top_k and in_top_k.
#include <tidemark/kernel.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"
#include "tidemark/kernels/cpu/sorting/long_sort.h"
#include "tidemark/kernels/cpu/sorting/ordering.h"

namespace tidemark::cpu {

namespace {

/// A tensor as lines along one axis: [outer, size, inner].
struct Lines {
  int64_t outer = 1, size = 1, inner = 1;

  Lines(const Shape& shape, int64_t given_axis) {
    const int axis = normalize_axis(given_axis, shape.rank());
    for (int i = 0; i < axis; ++i) outer *= shape[i];
    size = shape[axis];
    for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
  int64_t count() const { return outer * inner; }
  /// Lines in a piece of parallel work.
  int64_t grain() const { return std::max<int64_t>(1, 4096 / std::max<int64_t>(size, 1)); }
};

/// From [outer, size, inner] to [outer, inner, size], where lines lie together.
void lines_together(const Lines& l, size_t element, void* to, const void* from) {
  StridedCopy copy(element);
  copy.dim(l.outer, l.inner * l.size, l.inner * l.size);
  copy.dim(l.inner, l.size, 1);
  copy.dim(l.size, 1, l.inner);
  copy.run(to, from);
}

void lines_apart(const Lines& l, size_t element, void* to, const void* from) {
  StridedCopy copy(element);
  copy.dim(l.outer, l.inner * l.size, l.inner * l.size);
  copy.dim(l.size, l.inner, 1);
  copy.dim(l.inner, 1, l.size);
  copy.run(to, from);
}

bool is_descending(const KernelContext& k) {
  return k.attr("direction").as_string() == "DESCENDING";
}

template <class T>
void sort_lines(T* values, const Lines& l, bool descending) {
  parallel_for(l.count(), l.grain(), [&](int64_t begin, int64_t end) {
    for (T* line = values + begin * l.size; line != values + end * l.size; line += l.size) {
      if (descending) {
        sort_line(line, line + l.size, comes_before<T, true>);
      } else {
        sort_line(line, line + l.size, comes_before<T, false>);
      }
    }
  });
}

template <class T>
struct Sort {
  static void run(KernelContext& k) {
    if (k.output(0).num_elements() == 0) return;
    const Lines l(k.input(0).shape(), k.attr("axis").as_int());
    if (l.inner == 1) {
      copy_bytes(k.out<void>(0), k.in<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
      return sort_lines(k.out<T>(0), l, is_descending(k));
    }
    T* lines = k.workspace<T>();
    lines_together(l, sizeof(T), lines, k.in<void>(0));
    sort_lines(lines, l, is_descending(k));
    lines_apart(l, sizeof(T), k.out<void>(0), lines);
  }

  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    const Lines l(outputs[0], call.attr("axis").as_int());
    if (l.inner == 1) return 0;
    return static_cast<size_t>(l.count() * l.size) * sizeof(T);
  }
};

/// Positions 0 … size - 1 of a line in the order of its values; equal ones in the order they had.
template <class T, bool Descending>
void argsort_line(int32_t* positions, const T* line, int64_t size) {
  for (int64_t i = 0; i < size; ++i) positions[i] = static_cast<int32_t>(i);
  sort_line(positions, positions + size, [line](int32_t a, int32_t b) {
    if (comes_before<T, Descending>(line[a], line[b])) return true;
    if (comes_before<T, Descending>(line[b], line[a])) return false;
    return a < b;
  });
}

template <class T>
struct Argsort {
  static void run(KernelContext& k) {
    if (k.output(0).num_elements() == 0) return;
    const Lines l(k.input(0).shape(), k.attr("axis").as_int());
    const bool descending = is_descending(k);
    const T* values = k.in<T>(0);
    int32_t* positions = k.out<int32_t>(0);
    if (l.inner > 1) {
      T* lines = k.workspace<T>();
      lines_together(l, sizeof(T), lines, values);
      values = lines;
      positions = reinterpret_cast<int32_t*>(k.workspace<char>() + lines_bytes(l));
    }
    parallel_for(l.count(), l.grain(), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * l.size;
        descending ? argsort_line<T, true>(positions + at, values + at, l.size)
                   : argsort_line<T, false>(positions + at, values + at, l.size);
      }
    });
    if (l.inner > 1) lines_apart(l, sizeof(int32_t), k.out<void>(0), positions);
  }

  static size_t workspace(const OpCall& call, std::span<const Shape> outputs) {
    const Lines l(outputs[0], call.attr("axis").as_int());
    if (l.inner == 1) return 0;
    return lines_bytes(l) + static_cast<size_t>(l.count() * l.size) * sizeof(int32_t);
  }

 private:
  static size_t lines_bytes(const Lines& l) {
    return (static_cast<size_t>(l.count() * l.size) * sizeof(T) + 63) / 64 * 64;
  }
};

/// Keeps the k best positions seen so far in a heap whose top is the worst of them.
template <class T, class I>
void top_k_row(const T* row, int64_t columns, int64_t k, T* values, I* positions) {
  const auto better = [row](I a, I b) {
    if (comes_before<T, true>(row[a], row[b])) return true;
    if (comes_before<T, true>(row[b], row[a])) return false;
    return a < b;
  };
  for (int64_t i = 0; i < k; ++i) positions[i] = static_cast<I>(i);
  std::make_heap(positions, positions + k, better);
  constexpr int64_t kColumnsALook = 1 << 16;
  for (int64_t i = k; k > 0 && i < columns; ++i) {
    if (i % kColumnsALook == 0) check_interrupt();
    // Later ones come after equal earlier ones, so only a truly better value gets in.
    if (!comes_before<T, true>(row[i], row[positions[0]])) continue;
    std::pop_heap(positions, positions + k, better);
    positions[k - 1] = static_cast<I>(i);
    std::push_heap(positions, positions + k, better);
  }
  sort_line(positions, positions + k, better);
  for (int64_t i = 0; i < k; ++i) values[i] = row[positions[i]];
}

template <class T>
struct TopK {
  static void run(KernelContext& c) {
    switch (c.output(1).dtype()) {
      case DType::int16:
        return run_index<int16_t>(c);
      case DType::int32:
        return run_index<int32_t>(c);
      default:
        return run_index<int64_t>(c);
    }
  }

 private:
  template <class I>
  static void run_index(KernelContext& c) {
    if (c.output(0).num_elements() == 0) return;
    const int64_t columns = c.input(0).dim(-1), k = c.output(0).dim(-1);
    const int64_t rows = c.input(0).num_elements() / columns;
    parallel_for(rows, std::max<int64_t>(1, (1 << 14) / columns), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        top_k_row(c.in<T>(0) + i * columns, columns, k, c.out<T>(0) + i * k, c.out<I>(1) + i * k);
      }
    });
  }
};

template <class I>
struct InTopK {
  static void run(KernelContext& k) {
    const int64_t rows = k.output(0).num_elements();
    const int64_t columns = k.input(1).dim(1);
    const int64_t wanted = k.attr("k").as_int();
    for (int64_t r = 0; r < rows; ++r) {
      k.out<bool>(0)[r] = is_in(k.in<float>(1) + r * columns, columns, k.in<I>(0)[r], wanted);
    }
  }

 private:
  /// Rows with a number that is not finite cannot be ranked: false.
  static bool is_in(const float* row, int64_t columns, int64_t target, int64_t k) {
    if (target < 0 || target >= columns) return false;
    int64_t larger = 0;
    for (int64_t i = 0; i < columns; ++i) {
      if (!std::isfinite(row[i])) return false;
      larger += row[i] > row[target];
    }
    return larger < k;
  }
};

#define TIDEMARK_REAL_TYPES                                                                        \
  int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, Half, BFloat16, float, \
      double
const TypedKernelsOf<KernelKind::cpu, Sort, TIDEMARK_REAL_TYPES> sort_kernels("sort");
const TypedKernelsOf<KernelKind::cpu, Argsort, TIDEMARK_REAL_TYPES> argsort_kernels("argsort");
const TypedKernelsOf<KernelKind::cpu, TopK, TIDEMARK_REAL_TYPES> top_k_kernels("top_k");
#undef TIDEMARK_REAL_TYPES
const TypedKernelsOf<KernelKind::cpu, InTopK, int32_t, int64_t> in_top_k_kernels("in_top_k");

}  // namespace

}  // namespace tidemark::cpu
