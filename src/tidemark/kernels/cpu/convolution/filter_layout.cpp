#include "tidemark/kernels/cpu/convolution/filter_layout.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "tidemark/base/thread_pool.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kGrain = 16 << 10;  // elements
constexpr int64_t kTogether = 4;

}  // namespace

FilterLayout::FilterLayout(const TidemarkDnnlLayout& layout, int reversed, int64_t element_size)
    : rank_(layout.rank), element_size_(element_size) {
  int64_t blocks[kMostDimensions], inside = 1;
  std::fill_n(blocks, kMostDimensions, 1);
  for (int b = 0; b < layout.blocks; ++b) {
    blocks[layout.block_dimensions[b]] *= layout.block_sizes[b];
    inside *= layout.block_sizes[b];
  }
  if (inside > kMostInside) return;
  for (int d = 0; d < rank_; ++d) {
    if (layout.sizes[d] % blocks[d] != 0) return;
    sizes_[d] = layout.sizes[d] / blocks[d];
    strides_[d] = layout.strides[d];
    plain_strides_[d] = layout.plain_strides[d] * blocks[d];
    count_ *= sizes_[d];
    if (d < rank_ - reversed) continue;
    if (blocks[d] != 1) return;
    first_ += (sizes_[d] - 1) * plain_strides_[d];
    plain_strides_[d] = -plain_strides_[d];
  }
  walk_rows_together();
  inside_.resize(static_cast<size_t>(inside));
  for (int64_t e = 0; e < inside; ++e) {
    int64_t index[kMostDimensions] = {}, unit = inside, rest = e;
    for (int b = 0; b < layout.blocks; ++b) {
      unit /= layout.block_sizes[b];
      int64_t& at = index[layout.block_dimensions[b]];
      at = at * layout.block_sizes[b] + rest / unit;
      rest %= unit;
    }
    int64_t& offset = inside_[static_cast<size_t>(e)];
    for (int d = 0; d < rank_; ++d) offset += index[d] * layout.plain_strides[d];
  }
  const auto goes_on = [&](int64_t e) {
    return inside_[static_cast<size_t>(e)] == inside_[static_cast<size_t>(e - e % run_)] + e % run_;
  };
  for (run_ = inside; run_ > 1; run_ /= 2) {
    bool all = inside % run_ == 0;
    for (int64_t e = 0; e < inside && all; ++e) all = goes_on(e);
    if (all) break;
  }
}

/// A block is a piece of many rows on the plain side: a few blocks that share those rows are
/// walked one after the other, so that more of each row is used at a time.
void FilterLayout::walk_rows_together() {
  int along = 0;
  for (int d = 1; d < rank_; ++d) {
    if (std::abs(plain_strides_[d]) < std::abs(plain_strides_[along])) along = d;
  }
  if (rank_ == kMostDimensions || sizes_[along] % kTogether != 0) return;
  sizes_[rank_] = kTogether;
  plain_strides_[rank_] = plain_strides_[along];
  strides_[rank_] = strides_[along];
  ++rank_;
  sizes_[along] /= kTogether;
  plain_strides_[along] *= kTogether;
  strides_[along] *= kTogether;
}

template <class Block>
void FilterLayout::for_blocks(Block block) const {
  const int64_t inside = static_cast<int64_t>(inside_.size());
  parallel_for(count_, std::max<int64_t>(1, kGrain / inside), [&](int64_t begin, int64_t end) {
    int64_t index[kMostDimensions] = {}, plain = first_, blocked = 0, rest = begin;
    for (int d = rank_ - 1; d >= 0; --d) {
      index[d] = rest % sizes_[d];
      rest /= sizes_[d];
      plain += index[d] * plain_strides_[d];
      blocked += index[d] * strides_[d];
    }
    for (int64_t i = begin; i < end; ++i) {
      block(plain, blocked);
      for (int d = rank_ - 1; d >= 0; --d) {
        plain += plain_strides_[d];
        blocked += strides_[d];
        if (++index[d] < sizes_[d]) break;
        plain -= sizes_[d] * plain_strides_[d];
        blocked -= sizes_[d] * strides_[d];
        index[d] = 0;
      }
    }
  });
}

template <class T>
void FilterLayout::gather(const T* plain, T* blocked) const {
  const int64_t inside = static_cast<int64_t>(inside_.size());
  const int64_t* offsets = inside_.data();
  for_blocks([=, this](int64_t from, int64_t to) {
    T* out = blocked + to;
    if (run_ == 1) {
      for (int64_t e = 0; e < inside; ++e) out[e] = plain[from + offsets[e]];
      return;
    }
    for (int64_t e = 0; e < inside; e += run_) {
      std::memcpy(out + e, plain + from + offsets[e], static_cast<size_t>(run_) * sizeof(T));
    }
  });
}

void FilterLayout::into(const void* plain, void* blocked) const {
  if (element_size_ == 4) {
    gather(static_cast<const uint32_t*>(plain), static_cast<uint32_t*>(blocked));
  } else {
    gather(static_cast<const uint16_t*>(plain), static_cast<uint16_t*>(blocked));
  }
}

void FilterLayout::sum_out_of(const char* blocked, int64_t parts, int64_t stride,
                              float* plain) const {
  const int64_t inside = static_cast<int64_t>(inside_.size());
  for_blocks([=, this](int64_t to, int64_t from) {
    alignas(64) float sums[kMostInside];
    const char* part = blocked + from * static_cast<int64_t>(sizeof(float));
    std::memcpy(sums, part, static_cast<size_t>(inside) * sizeof(float));
    for (int64_t p = 1; p < parts; ++p) {
      const float* next = reinterpret_cast<const float*>(part + p * stride);
      for (int64_t e = 0; e < inside; ++e) sums[e] += next[e];
    }
    for (int64_t e = 0; e < inside; e += run_) {
      std::memcpy(plain + to + inside_[static_cast<size_t>(e)], sums + e,
                  static_cast<size_t>(run_) * sizeof(float));
    }
  });
}

}  // namespace tidemark::cpu
