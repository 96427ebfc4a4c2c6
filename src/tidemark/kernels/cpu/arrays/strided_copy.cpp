#include "tidemark/kernels/cpu/arrays/strided_copy.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/arrays/repeat.h"
#include "tidemark/kernels/cpu/arrays/transpose_tile.h"

namespace tidemark::cpu {

namespace {

/// One row: `count` elements with a step on either side.
template <class T>
void copy_row(T* to, int64_t to_step, const T* from, int64_t from_step, int64_t count) {
  if (to_step == 1 && from_step == 1) {
    if (count * sizeof(T) <= 32) {  // short rows are not worth a call
      for (int64_t i = 0; i < count; ++i) to[i] = from[i];
    } else {
      std::memcpy(to, from, static_cast<size_t>(count) * sizeof(T));
    }
  } else if (to_step == 1 && from_step == 0) {
    const T value = *from;
    if (count <= 32) {  // short rows are not worth a call
      std::fill(to, to + count, value);
    } else {
      repeat_bytes(to, count * static_cast<int64_t>(sizeof(T)), &value, sizeof(T));
    }
  } else if (to_step == 1) {
    for (int64_t i = 0; i < count; ++i) to[i] = from[i * from_step];
  } else {
    for (int64_t i = 0; i < count; ++i) to[i * to_step] = from[i * from_step];
  }
}

}  // namespace

void copy_bytes(void* to, const void* from, int64_t bytes) {
  parallel_for(bytes, kCopyGrainBytes * 4, [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<char*>(to) + begin, static_cast<const char*>(from) + begin,
                static_cast<size_t>(end - begin));
  });
}

void zero_bytes(void* to, int64_t bytes) {
  parallel_for(bytes, kCopyGrainBytes * 4, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(to) + begin, 0, static_cast<size_t>(end - begin));
  });
}

void StridedCopy::dim(int64_t size, int64_t to_step, int64_t from_step) {
  if (size == 0) empty_ = true;
  if (size <= 1) return;
  // A dimension that continues the one outside of it in both layouts is one with it.
  const int outer = rank_ - 1;
  if (rank_ > 0 && to_[outer] == to_step * size && from_[outer] == from_step * size) {
    size_[outer] *= size;
    to_[outer] = to_step;
    from_[outer] = from_step;
    return;
  }
  size_[rank_] = size;
  to_[rank_] = to_step;
  from_[rank_++] = from_step;
}

void StridedCopy::run(void* to, const void* from) {
  if (empty_) return;
  if (rank_ == 0) {
    std::memcpy(to, from, element_bytes_);
    return;
  }
  const int last = rank_ - 1;
  int across = -1;  // the dimension along which the source lies together, if not the last
  if (to_[last] == 1 && from_[last] != 1 && from_[last] != 0) {
    for (int i = 0; i < last; ++i) {
      if (from_[i] == 1) across = i;
    }
  }
  with_element_type(element_bytes_, [&](auto element) {
    using T = decltype(element);
    if (across >= 0 && size_[across] >= 4 && size_[last] >= 4) {
      run_tiles(static_cast<T*>(to), static_cast<const T*>(from), across);
    } else {
      run_rows(static_cast<T*>(to), static_cast<const T*>(from));
    }
  });
}

template <class T>
void StridedCopy::run_rows(T* to, const T* from) const {
  const int last = rank_ - 1;
  int64_t total = 1;
  for (int i = 0; i < rank_; ++i) total *= size_[i];
  const int64_t grain = std::max<int64_t>(1, kCopyGrainBytes / static_cast<int64_t>(sizeof(T)));
  parallel_for(total, grain, [&](int64_t begin, int64_t end) {
    int64_t index[Shape::kMaxRank];
    T* target = to;
    const T* source = from;
    int64_t rest = begin;
    for (int i = last; i >= 0; --i) {
      index[i] = rest % size_[i];
      rest /= size_[i];
      target += index[i] * to_[i];
      source += index[i] * from_[i];
    }
    for (int64_t done = begin; done < end;) {
      const int64_t count = std::min(size_[last] - index[last], end - done);
      copy_row(target, to_[last], source, from_[last], count);
      done += count;
      if (done >= end) break;
      target -= index[last] * to_[last];  // back to the row's start, then to the next row
      source -= index[last] * from_[last];
      index[last] = 0;
      for (int i = last - 1; i >= 0; --i) {
        target += to_[i];
        source += from_[i];
        if (++index[i] < size_[i]) break;
        target -= size_[i] * to_[i];
        source -= size_[i] * from_[i];
        index[i] = 0;
      }
    }
  });
}

/// The plane of `across` and the last dimension is copied tile by tile, so that each cache line of
/// either side is used up while it is there.
template <class T>
void StridedCopy::run_tiles(T* to, const T* from, int across) const {
  constexpr int64_t kTile = kTransposeTile<T>;
  const int last = rank_ - 1;
  const int64_t tiles_across = (size_[across] + kTile - 1) / kTile;
  const int64_t tiles_along = (size_[last] + kTile - 1) / kTile;
  int64_t planes = 1;
  for (int i = 0; i < last; ++i) planes *= i == across ? 1 : size_[i];
  const int64_t tiles = planes * tiles_across * tiles_along;
  const int64_t tile_bytes = kTile * kTile * static_cast<int64_t>(sizeof(T));
  const int64_t grain = std::max<int64_t>(1, kCopyGrainBytes / tile_bytes);
  parallel_for(tiles, grain, [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      int64_t rest = tile;
      const int64_t x = rest % tiles_along * kTile;
      rest /= tiles_along;
      const int64_t y = rest % tiles_across * kTile;
      rest /= tiles_across;
      T* target = to + y * to_[across] + x;
      const T* source = from + y + x * from_[last];
      for (int i = last - 1; i >= 0; --i) {
        if (i == across) continue;
        target += rest % size_[i] * to_[i];
        source += rest % size_[i] * from_[i];
        rest /= size_[i];
      }
      transpose_tile(target, to_[across], source, from_[last], std::min(kTile, size_[across] - y),
                     std::min(kTile, size_[last] - x));
    }
  });
}

}  // namespace tidemark::cpu
