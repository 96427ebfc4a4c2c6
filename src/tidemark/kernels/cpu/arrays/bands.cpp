// Several diagonals at once, taken out of matrices and put into them.
#include <tidemark/kernel.h>

#include <algorithm>

#include "tidemark/base/serial_for.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/strided_copy.h"

namespace tidemark::cpu {

namespace {

/// Where the diagonals of one matrix lie, in it and packed.
struct Band {
  int64_t rows, columns, low, high, width;
  bool upper_left, lower_left;  // on which side the shorter ones begin

  Band(const KernelContext& k, const Tensor& matrix, const Tensor& packed)
      : rows(matrix.dim(-2)),
        columns(matrix.dim(-1)),
        low(k.attr("k_low").as_int()),
        high(k.attr("k_high").as_int()),
        width(packed.dim(-1)) {
    const std::string& align = k.attr("align").as_string();
    upper_left = align.starts_with("LEFT");
    lower_left = align.ends_with("LEFT");
  }
  int64_t count() const { return high - low + 1; }

  /// Calls fn(place in the matrix, place in the packed rows, length) for every diagonal; elements
  /// lie columns + 1 apart in the matrix. Stops between them.
  template <class Fn>
  void for_each(const Fn& fn) const {
    for (int64_t d = high; d >= low; --d) {
      const int64_t length = std::max<int64_t>(
          0, std::min(rows + std::min<int64_t>(d, 0), columns - std::max<int64_t>(d, 0)));
      const bool left = (d >= 0 && upper_left) || (d <= 0 && lower_left);
      check_interrupt();
      fn(d >= 0 ? d : -d * columns, (high - d) * width + (left ? 0 : width - length), length);
    }
  }
};

int64_t matrices_in(const Tensor& t) {
  int64_t count = 1;
  for (int i = 0; i + 2 < t.rank(); ++i) count *= t.dim(i);
  return count;
}

template <class E>
void take(KernelContext& k) {
  const Band band(k, k.input(0), k.output(0));
  const int64_t area = band.rows * band.columns, packed = band.count() * band.width;
  const E padding = *k.in<E>(1);
  parallel_for(matrices_in(k.input(0)), std::max<int64_t>(1, 4096 / std::max<int64_t>(packed, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t m = begin; m < end; ++m) {
                   const E* from = k.in<E>(0) + m * area;
                   E* to = k.out<E>(0) + m * packed;
                   serial_for(packed, [&](int64_t first, int64_t last) {
                     std::fill(to + first, to + last, padding);
                   });
                   band.for_each([&](int64_t in_matrix, int64_t in_packed, int64_t length) {
                     for (int64_t i = 0; i < length; ++i) {
                       to[in_packed + i] = from[in_matrix + i * (band.columns + 1)];
                     }
                   });
                 }
               });
}

template <class E>
void put(KernelContext& k) {
  const Band band(k, k.input(0), k.input(1));
  const int64_t area = band.rows * band.columns, packed = band.count() * band.width;
  parallel_for(matrices_in(k.input(0)), std::max<int64_t>(1, 4096 / std::max<int64_t>(packed, 1)),
               [&](int64_t begin, int64_t end) {
                 for (int64_t m = begin; m < end; ++m) {
                   const E* from = k.in<E>(1) + m * packed;
                   E* to = k.out<E>(0) + m * area;
                   band.for_each([&](int64_t in_matrix, int64_t in_packed, int64_t length) {
                     for (int64_t i = 0; i < length; ++i) {
                       to[in_matrix + i * (band.columns + 1)] = from[in_packed + i];
                     }
                   });
                 }
               });
}

void diag_parts_kernel(KernelContext& k) {
  with_element_type(size_of(k.input(0).dtype()), [&](auto element) { take<decltype(element)>(k); });
}

void set_diags_kernel(KernelContext& k) {
  if (k.out<void>(0) != k.in<void>(0)) {
    copy_bytes(k.out<void>(0), k.in<void>(0), static_cast<int64_t>(k.output(0).nbytes()));
  }
  with_element_type(size_of(k.input(0).dtype()), [&](auto element) { put<decltype(element)>(k); });
}

TIDEMARK_KERNEL_OF(cpu, diag_parts, kPlain, diag_parts_kernel);
TIDEMARK_KERNEL_OF(cpu, set_diags, kPlain, set_diags_kernel);

}  // namespace

}  // namespace tidemark::cpu
