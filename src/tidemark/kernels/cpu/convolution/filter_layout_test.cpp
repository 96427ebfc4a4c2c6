#include "tidemark/kernels/cpu/convolution/filter_layout.h"

#include <gtest/gtest.h>

#include <vector>

namespace tidemark::cpu {
namespace {

/// [out 128, in 32, height 3, width 2] in blocks of 16 in and 16 out; outside [height, width, in,
/// out].
TidemarkDnnlLayout blocked() {
  TidemarkDnnlLayout layout{};
  layout.rank = 4;
  layout.blocks = 2;
  const int64_t sizes[] = {128, 32, 3, 2}, plain[] = {1, 128, 2 * 32 * 128, 32 * 128};
  const int64_t strides[] = {2 * 6 * 256, 6 * 256, 2 * 256, 256};
  for (int d = 0; d < 4; ++d) {
    layout.sizes[d] = sizes[d];
    layout.plain_strides[d] = plain[d];
    layout.strides[d] = strides[d];
  }
  layout.block_sizes[0] = layout.block_sizes[1] = 16;
  layout.block_dimensions[0] = 1;
  layout.block_dimensions[1] = 0;
  return layout;
}

size_t blocked_index(int64_t o, int64_t i, int64_t h, int64_t w) {
  return static_cast<size_t>(((((o / 16 * 2 + i / 16) * 3 + h) * 2 + w) * 16 + i % 16) * 16 +
                             o % 16);
}

template <class T>
void check_into(int reversed) {
  std::vector<T> plain(128 * 32 * 6), moved(plain.size());
  for (size_t i = 0; i < plain.size(); ++i) plain[i] = static_cast<T>(i * 7);
  const FilterLayout layout(blocked(), reversed, sizeof(T));
  ASSERT_TRUE(layout.known());
  layout.into(plain.data(), moved.data());
  size_t next = 0;
  for (int64_t h = 0; h < 3; ++h) {
    for (int64_t w = 0; w < 2; ++w) {
      for (int64_t i = 0; i < 32; ++i) {
        for (int64_t o = 0; o < 128; ++o, ++next) {
          const size_t at =
              reversed ? blocked_index(o, i, 2 - h, 1 - w) : blocked_index(o, i, h, w);
          ASSERT_EQ(moved[at], plain[next]);
        }
      }
    }
  }
}

TEST(FilterLayout, MovesIntoBlocks) {
  check_into<uint32_t>(0);
  check_into<uint16_t>(0);
}

TEST(FilterLayout, ReversesTheWindow) { check_into<uint32_t>(2); }

TEST(FilterLayout, AddsUpPartsOnTheWayOut) {
  const size_t count = 128 * 32 * 6;
  std::vector<float> parts(3 * count), plain(count), again(count);
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = static_cast<float>(i % 1000);
  const FilterLayout layout(blocked(), 0, 4);
  layout.sum_out_of(reinterpret_cast<const char*>(parts.data()), 3, count * sizeof(float),
                    plain.data());
  layout.into(plain.data(), again.data());
  for (size_t i = 0; i < count; ++i) {
    ASSERT_EQ(again[i], parts[i] + parts[count + i] + parts[2 * count + i]);
  }
}

TEST(FilterLayout, DoesNotKnowPaddedOrHugeBlocks) {
  TidemarkDnnlLayout padded = blocked();
  padded.sizes[1] = 30;
  EXPECT_FALSE(FilterLayout(padded, 0, 4).known());
  TidemarkDnnlLayout huge = blocked();
  huge.block_sizes[0] = 128;
  EXPECT_FALSE(FilterLayout(huge, 0, 4).known());
  EXPECT_FALSE(FilterLayout().known());
}

}  // namespace
}  // namespace tidemark::cpu
