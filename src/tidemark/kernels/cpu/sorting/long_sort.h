// Sorting that may take seconds, and can be stopped meanwhile.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "tidemark/base/interrupt.h"

namespace tidemark::cpu {

/// Splits a line of at least three: none of the second part comes before one of the first, and
/// neither part is empty. Returns where the second begins.
template <class T, class Before>
T* split_line(T* begin, T* end, Before before) {
  constexpr int64_t kSwapsALook = 1 << 14;
  // The one in the middle of three: another is not before it, another not after it.
  T low = *begin, pivot = begin[(end - begin) / 2], high = end[-1];
  if (before(pivot, low)) std::swap(pivot, low);
  if (before(high, pivot)) pivot = before(high, low) ? low : high;
  T *left = begin - 1, *right = end;
  for (int64_t swaps = 1;; ++swaps) {
    do ++left;
    while (before(*left, pivot));
    do --right;
    while (before(pivot, *right));
    if (left >= right) return right + 1;
    std::swap(*left, *right);
    if (swaps % kSwapsALook == 0) check_interrupt();
  }
}

/// std::sort, by a strict weak order. Stopped it leaves the values in any order.
template <class T, class Before>
void sort_line(T* begin, T* end, Before before) {
  constexpr int64_t kPiece = 1 << 16;  // some milliseconds
  // Lines made to be split badly are left to std::sort, which knows better.
  int splits = 2 * std::bit_width(static_cast<uint64_t>(end - begin));
  for (; end - begin > kPiece && splits > 0; --splits) {
    T* const middle = split_line(begin, end, before);
    if (middle - begin < end - middle) {
      sort_line(begin, middle, before);
      begin = middle;
    } else {
      sort_line(middle, end, before);
      end = middle;
    }
    check_interrupt();
  }
  std::sort(begin, end, before);
}

}  // namespace tidemark::cpu
