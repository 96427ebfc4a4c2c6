#include "tidemark/kernels/cpu/convolution/unfold.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"

namespace tidemark::cpu {

namespace {

constexpr int64_t kGrainBytes = 64 << 10;
constexpr int64_t kFewChannels = 16;          // pixels too short to be copied one by one
constexpr int64_t kStaysInCache = 512 << 10;  // elements of the matrix
constexpr int64_t kSmallFilter = 32 << 10;    // elements; moving less than this costs nothing

int64_t product(const int64_t* sizes) { return sizes[0] * sizes[1] * sizes[2]; }

struct Position {
  int64_t image, at[3];
  /// Of pixel `index` of images of these sizes.
  Position(int64_t index, const int64_t* sizes) {
    for (int d = 2; d >= 0; --d) {
      at[d] = index % sizes[d];
      index /= sizes[d];
    }
    image = index;
  }
};

/// Copies the window of one pixel of the output.
void copy_window(const ConvolutionSizes& s, int64_t pixel_bytes, int64_t row, const char* images,
                 char* out) {
  const Position to(row, s.out);
  for (int64_t i = 0; i < s.kernel[0]; ++i) {
    const int64_t x = to.at[0] * s.stride[0] - s.before[0] + i * s.dilation[0];
    for (int64_t j = 0; j < s.kernel[1]; ++j) {
      const int64_t y = to.at[1] * s.stride[1] - s.before[1] + j * s.dilation[1];
      const bool outside = x < 0 || x >= s.in[0] || y < 0 || y >= s.in[1];
      const int64_t line = ((to.image * s.in[0] + x) * s.in[1] + y) * s.in[2];
      for (int64_t k = 0; k < s.kernel[2]; ++k, out += pixel_bytes) {
        const int64_t z = to.at[2] * s.stride[2] - s.before[2] + k * s.dilation[2];
        if (outside || z < 0 || z >= s.in[2]) {
          std::memset(out, 0, static_cast<size_t>(pixel_bytes));
        } else {
          std::memcpy(out, images + (line + z) * pixel_bytes, static_cast<size_t>(pixel_bytes));
        }
      }
    }
  }
}

/// The output's position whose window has input position `at` at its `tap`; -1: none has.
int64_t window_over(const ConvolutionSizes& s, int d, int64_t at, int64_t tap) {
  const int64_t reach = at + s.before[d] - tap * s.dilation[d];
  if (reach < 0 || reach % s.stride[d] != 0) return -1;
  const int64_t found = reach / s.stride[d];
  return found < s.out[d] ? found : -1;
}

void add_windows(const ConvolutionSizes& s, int64_t pixel, const float* matrix, float* out) {
  const int64_t channels = s.in_channels, columns = unfolded_columns(s);
  std::fill_n(out, channels, 0.0f);
  const Position from(pixel, s.in);
  for (int64_t i = 0; i < s.kernel[0]; ++i) {
    const int64_t x = window_over(s, 0, from.at[0], i);
    for (int64_t j = 0; x >= 0 && j < s.kernel[1]; ++j) {
      const int64_t y = window_over(s, 1, from.at[1], j);
      for (int64_t k = 0; y >= 0 && k < s.kernel[2]; ++k) {
        const int64_t z = window_over(s, 2, from.at[2], k);
        if (z < 0) continue;
        const int64_t row = ((from.image * s.out[0] + x) * s.out[1] + y) * s.out[2] + z;
        const int64_t tap = (i * s.kernel[1] + j) * s.kernel[2] + k;
        const float* part = matrix + row * columns + tap * channels;
        for (int64_t c = 0; c < channels; ++c) out[c] += part[c];
      }
    }
  }
}

}  // namespace

int64_t unfolded_rows(const ConvolutionSizes& s) { return s.batch * product(s.out); }

int64_t unfolded_columns(const ConvolutionSizes& s) { return product(s.kernel) * s.in_channels; }

bool pays_to_unfold(const ConvolutionSizes& s) {
  if (s.groups != 1 || s.in_channels < kFewChannels) return false;
  if (unfolded_columns(s) * s.out_channels < kSmallFilter) return false;
  const int64_t rows = unfolded_rows(s);
  if (rows <= s.out_channels) return true;
  return rows <= 2 * s.out_channels && rows * unfolded_columns(s) <= kStaysInCache;
}

void unfold(const ConvolutionSizes& s, size_t element_size, const void* images, void* matrix) {
  const int64_t pixel_bytes = s.in_channels * static_cast<int64_t>(element_size);
  const int64_t row_bytes = product(s.kernel) * pixel_bytes;
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / row_bytes);
  parallel_for(unfolded_rows(s), grain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      copy_window(s, pixel_bytes, row, static_cast<const char*>(images),
                  static_cast<char*>(matrix) + row * row_bytes);
    }
  });
}

void fold(const ConvolutionSizes& s, const float* matrix, float* images) {
  const int64_t bytes = unfolded_columns(s) * static_cast<int64_t>(sizeof(float));
  const int64_t grain = std::max<int64_t>(1, kGrainBytes / bytes);
  parallel_for(s.batch * product(s.in), grain, [&](int64_t begin, int64_t end) {
    for (int64_t pixel = begin; pixel < end; ++pixel) {
      add_windows(s, pixel, matrix, images + pixel * s.in_channels);
    }
  });
}

}  // namespace tidemark::cpu
