// Kernels of the poolings and their gradients.

#include <tidemark/kernel.h>

#include <algorithm>
#include <cstring>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/isa/pooling_loops.h"
#include "tidemark/kernels/cpu/isa_level.h"
#include "tidemark/ops/windows.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(PoolingTable, pooling_table);

const PoolingTable& pooling_loops() {
  static const PoolingTable* const table = &TIDEMARK_FOR_LEVEL(pooling_table, best_level());
  return *table;
}

namespace {

constexpr int64_t kGrainElements = 16 << 10;
constexpr int64_t kChannels = 64;   // whose greatest elements are looked for together
constexpr int64_t kPositions = 32;  // of a row, likewise

ConvolutionSizes sizes_of(const OpCall& call, const Shape& images) {
  const Windows w = read_windows(call, images, call.attr("ksize").as_ints());
  ConvolutionSizes s{};
  s.batch = images[0];
  s.groups = 1;
  s.in_channels = s.out_channels = images.dim(-1);
  for (int d = 0; d < 3; ++d) {
    s.in[d] = w.in[d];
    s.out[d] = w.out[d];
    s.kernel[d] = w.kernel[d];
    s.stride[d] = w.stride[d];
    s.dilation[d] = w.dilation[d];
    s.before[d] = w.before[d];
  }
  return s;
}

template <class Row>
void for_rows(int64_t rows, int64_t elements_of_row, Row row) {
  const int64_t grain =
      std::max<int64_t>(1, kGrainElements / std::max<int64_t>(1, elements_of_row));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) row(r);
  });
}

const PoolingLoops& loops_for(DType d) { return pooling_loops().loops[static_cast<int>(d)]; }

template <bool kMax>
void pool_run(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  const ConvolutionSizes s = sizes_of(k.call(), k.input(0).shape());
  const PoolingLoops& loops = loops_for(k.input(0).dtype());
  const auto row = kMax ? loops.max : loops.mean;
  const int64_t window = s.kernel[0] * s.kernel[1] * s.kernel[2];
  for_rows(s.batch * s.out[0] * s.out[1], s.out[2] * s.out_channels * std::min<int64_t>(window, 64),
           [&](int64_t r) { row(s, r, k.in<void>(0), k.out<void>(0)); });
}

/// Writes where in its image each window's greatest element lies, for one row of windows and a
/// block of channels from `first` on; 0 for windows that have none. `base` is added to every place.
void write_places(const ConvolutionSizes& whole, const PoolingLoops& loops, const void* x,
                  const char* y, int64_t element_bytes, int64_t row, int64_t first, int64_t base,
                  int64_t* out) {
  const int64_t channels = whole.out_channels;
  const int64_t last = std::min(channels, first + kChannels), width = last - first;
  int64_t pixels[kPositions * kChannels];
  for (int64_t at = 0; at < whole.out[2]; at += kPositions) {
    // A part of the row: the windows from `at` on.
    ConvolutionSizes s = whole;
    s.out[2] = std::min(kPositions, whole.out[2] - at);
    s.before[2] = whole.before[2] - at * whole.stride[2];
    const int64_t start = row * whole.out[2] + at, skipped = start - row * s.out[2];
    loops.arg_max(s, row, x, y + skipped * channels * element_bytes, first, last, pixels);
    for (int64_t p = 0; p < s.out[2] * width; ++p) {
      const int64_t channel = first + p % width;
      out[(start + p / width) * channels + channel] =
          pixels[p] < 0 ? 0 : pixels[p] * channels + channel + base;
    }
  }
}

void argmax_run(KernelContext& k) {
  pool_run<true>(k);
  const Tensor& x = k.input(0);
  if (k.output(0).num_elements() == 0) return;
  const ConvolutionSizes s = sizes_of(k.call(), x.shape());
  const PoolingLoops& loops = loops_for(x.dtype());
  const int64_t element_bytes = static_cast<int64_t>(size_of(x.dtype()));
  const int64_t rows = s.out[0] * s.out[1], image_elements = x.num_elements() / s.batch;
  const bool batch = k.attr("include_batch_in_index").as_bool();
  for_rows(s.batch * rows, s.out[2] * s.out_channels, [&](int64_t r) {
    const int64_t base = batch ? r / rows * image_elements : 0;
    for (int64_t first = 0; first < s.out_channels; first += kChannels) {
      write_places(s, loops, k.in<void>(0), k.out<char>(0), element_bytes, r, first, base,
                   k.out<int64_t>(1));
    }
  });
}

void clear(const Tensor& t) {
  parallel_for(static_cast<int64_t>(t.nbytes()), 256 << 10, [&](int64_t begin, int64_t end) {
    std::memset(static_cast<char*>(t.mutable_raw_data()) + begin, 0,
                static_cast<size_t>(end - begin));
  });
}

/// Whether some window covers the position.
bool is_covered(const ConvolutionSizes& s, int d, int64_t position) {
  const int64_t at = position + s.before[d];
  const int64_t within = at % s.stride[d];
  return at / s.stride[d] < s.out[d] && within % s.dilation[d] == 0 &&
         within / s.dilation[d] < s.kernel[d];
}

/// Whether every pixel is in some window.
bool are_all_covered(const ConvolutionSizes& s) {
  for (int d = 0; d < 3; ++d) {
    for (int64_t i = 0; i < s.in[d]; ++i) {
      if (!is_covered(s, d, i)) return false;
    }
  }
  return true;
}

/// Clears what lies between windows that share no pixel, and behind the last of them.
void clear_between(const ConvolutionSizes& s, const Tensor& t) {
  if (are_all_covered(s)) return;
  const size_t pixel = static_cast<size_t>(s.in_channels) * size_of(t.dtype());
  char* const data = static_cast<char*>(t.mutable_raw_data());
  for_rows(s.batch * s.in[0] * s.in[1], s.in[2] * s.in_channels, [&](int64_t r) {
    const bool row = is_covered(s, 0, r / s.in[1] % s.in[0]) && is_covered(s, 1, r % s.in[1]);
    for (int64_t i = 0; i < s.in[2]; ++i) {
      const int64_t at = r * s.in[2] + i;
      if (row && is_covered(s, 2, i)) continue;
      std::memset(data + static_cast<size_t>(at) * pixel, 0, pixel);
    }
  });
}

/// Inputs: images, their pooling, the gradient of that.
void max_pool_grad_run(KernelContext& k) {
  const Tensor& x = k.input(0);
  if (x.num_elements() == 0) return;
  if (k.input(1).num_elements() == 0) return clear(k.output(0));
  const ConvolutionSizes s = sizes_of(k.call(), x.shape());
  const PoolingLoops& loops = loops_for(x.dtype());
  const int64_t rows = s.out[0] * s.out[1], channels = s.out_channels;
  if (are_apart(read_windows(k.call(), x.shape(), k.attr("ksize").as_ints()))) {
    for_rows(s.batch * rows, s.out[2] * channels, [&](int64_t r) {
      loops.max_gradient_apart(s, r, k.in<void>(0), k.in<void>(1), k.in<void>(2), 0, channels,
                               k.out<void>(0));
    });
    return clear_between(s, k.output(0));
  }
  clear(k.output(0));
  // One image and block of channels after the other on one thread, so that sums do not meet.
  const int64_t blocks = (channels + kChannels - 1) / kChannels;
  parallel_for(s.batch * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t image = i / blocks, first = i % blocks * kChannels;
      for (int64_t r = image * rows; r < (image + 1) * rows; ++r) {
        loops.max_gradient(s, r, k.in<void>(0), k.in<void>(1), k.in<void>(2), first,
                           std::min(channels, first + kChannels), k.out<void>(0));
      }
    }
  });
}

/// Inputs: images, their pooling, values of the images' shape.
void max_pool_take_run(KernelContext& k) {
  const Tensor& x = k.input(0);
  clear(k.output(0));
  if (x.num_elements() == 0 || k.output(0).num_elements() == 0) return;
  const ConvolutionSizes s = sizes_of(k.call(), x.shape());
  const auto take = loops_for(x.dtype()).max_take;
  for_rows(s.batch * s.out[0] * s.out[1], s.out[2] * s.out_channels, [&](int64_t r) {
    take(s, r, k.in<void>(0), k.in<void>(1), k.in<void>(2), 0, s.out_channels, k.out<void>(0));
  });
}

void avg_pool_grad_run(KernelContext& k) {
  if (k.output(0).num_elements() == 0) return;
  const ConvolutionSizes s = sizes_of(k.call(), k.output(0).shape());
  const PoolingLoops& loops = loops_for(k.input(1).dtype());
  for_rows(s.batch * s.in[0] * s.in[1], s.in[2] * s.out_channels,
           [&](int64_t r) { loops.mean_gradient(s, r, k.in<void>(1), k.out<void>(0)); });
}

constexpr DTypeSet kPooled = kFloats | dtype_set(DType::int32, DType::int64);
TIDEMARK_KERNEL_OF(cpu, max_pool, kPooled, pool_run<true>);
TIDEMARK_KERNEL_OF(cpu, avg_pool, kFloats, pool_run<false>);
TIDEMARK_KERNEL_OF(cpu, max_pool_with_argmax, kPooled, argmax_run);
TIDEMARK_KERNEL_OF(cpu, max_pool_grad, kPooled, max_pool_grad_run);
TIDEMARK_KERNEL_OF(cpu, max_pool_take, kPooled, max_pool_take_run);
// The key is the dtype of the sizes, which come first.
TIDEMARK_KERNEL_OF(cpu, avg_pool_grad, kIndex, avg_pool_grad_run);

}  // namespace

}  // namespace tidemark::cpu
