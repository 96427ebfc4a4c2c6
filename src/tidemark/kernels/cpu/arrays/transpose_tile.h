// Transposes a small tile: to[y * to_step + x] = from[x * from_step + y].
#pragma once

#include <cstdint>

namespace tidemark::cpu {

/// Elements along each side of a tile: large enough to use up each page that is touched, small
/// enough for the lines of one side to stay in the first cache.
template <class T>
inline constexpr int64_t kTransposeTile = sizeof(T) >= 8   ? 32
                                          : sizeof(T) == 4 ? 32
                                                           : 64;

/// Blocks of N x N elements go through registers: N loads, log2(N) rounds of interleaving, N
/// stores.
template <class T>
struct RegisterBlock {
  static constexpr int kSide = 1;
};

template <class T, int N>
struct VectorBlock {
  static constexpr int kSide = N;
  typedef T Vector __attribute__((vector_size(N * sizeof(T)), aligned(sizeof(T)), may_alias));

  [[gnu::always_inline]] static void run(T* to, int64_t to_step, const T* from, int64_t from_step) {
    Vector rows[N];
    // Unrolled, the rows stay in registers.
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) rows[i] = *reinterpret_cast<const Vector*>(from + i * from_step);
#pragma GCC unroll 4
    for (int round = 1; round < N; round *= 2) {
      Vector next[N];
#pragma GCC unroll 8
      for (int i = 0; i < N / 2; ++i) {
        next[2 * i] = interleave(rows[i], rows[i + N / 2], 0);
        next[2 * i + 1] = interleave(rows[i], rows[i + N / 2], N / 2);
      }
#pragma GCC unroll 16
      for (int i = 0; i < N; ++i) rows[i] = next[i];
    }
#pragma GCC unroll 16
    for (int i = 0; i < N; ++i) *reinterpret_cast<Vector*>(to + i * to_step) = rows[i];
  }

 private:
  typedef T Plain __attribute__((vector_size(N * sizeof(T))));
  /// a[first], b[first], a[first + 1], b[first + 1], …: N of them.
  [[gnu::always_inline]] static Plain interleave(Plain a, Plain b, int first) {
    if constexpr (N == 2) {
      return first == 0 ? __builtin_shufflevector(a, b, 0, 2) : __builtin_shufflevector(a, b, 1, 3);
    } else if constexpr (N == 4) {
      return first == 0 ? __builtin_shufflevector(a, b, 0, 4, 1, 5)
                        : __builtin_shufflevector(a, b, 2, 6, 3, 7);
    } else if constexpr (N == 8) {
      return first == 0 ? __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
                        : __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
    } else {
      static_assert(N == 16);
      return first == 0 ? __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6,
                                                  22, 7, 23)
                        : __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13,
                                                  29, 14, 30, 15, 31);
    }
  }
};

template <>
struct RegisterBlock<uint8_t> : VectorBlock<uint8_t, 16> {};
template <>
struct RegisterBlock<uint16_t> : VectorBlock<uint16_t, 8> {};
template <>
struct RegisterBlock<uint32_t> : VectorBlock<uint32_t, 4> {};
template <>
struct RegisterBlock<uint64_t> : VectorBlock<uint64_t, 2> {};

/// `height` rows of the target, `width` elements each.
template <class T>
void transpose_tile(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t height,
                    int64_t width) {
  constexpr int kSide = RegisterBlock<T>::kSide;
  int64_t y = 0;
  if constexpr (kSide > 1) {
    for (; y + kSide <= height; y += kSide) {
      int64_t x = 0;
      for (; x + kSide <= width; x += kSide) {
        RegisterBlock<T>::run(to + y * to_step + x, to_step, from + x * from_step + y, from_step);
      }
      for (; x < width; ++x) {
        for (int64_t i = y; i < y + kSide; ++i) to[i * to_step + x] = from[x * from_step + i];
      }
    }
  }
  for (; y < height; ++y) {
    for (int64_t x = 0; x < width; ++x) to[y * to_step + x] = from[x * from_step + y];
  }
}

}  // namespace tidemark::cpu
