// Kernels of layer_norm, rms_norm, batch_norm and their gradients. What comes to scales, offsets
// and channels are sums over columns: of parts of the rows, which the shape alone decides about,
// then of all parts.

#include <algorithm>

#include "tidemark/kernels/cuda/emit.h"
#include "tidemark/kernels/cuda/lines.h"

namespace tidemark::cuda {

namespace {

constexpr const char* kText = "norms.h";

size_t rounded_up(size_t bytes) { return (bytes + 255) / 256 * 256; }

/// A tensor as [rows, columns], and the workspace of sums over its rows.
struct Columns {
  int64_t rows, columns, parts;

  explicit Columns(const Shape& shape) : rows(1), columns(shape.dim(-1)) {
    for (int d = 0; d + 1 < shape.rank(); ++d) rows *= shape[d];
    constexpr int64_t kPartRows = 16, kMostSums = 1 << 16;
    const int64_t most = std::max<int64_t>(1, kMostSums / std::max<int64_t>(columns, 1));
    parts = std::clamp<int64_t>(rows / kPartRows, 1, most);
  }
  size_t sum_bytes() const {
    return rounded_up(static_cast<size_t>(2 * parts * columns) * sizeof(double));
  }

  void add_up(KernelContext& k, const std::string& terms, const void* x, const void* dy,
              const void* mean, const void* rstd) const {
    const DType dtype = k.input(0).dtype();
    const DeviceFunction sums{
        kText, "column_sums", {terms, stored_type(dtype), computed_type(dtype)}, ""};
    sums.run(cuda_stream_of(k), parts * columns,
             words(x, dy, mean, rstd, k.workspace(), rows, columns, parts));
  }
};

// --- layer_norm, rms_norm -----------------------------------------------------------------------

std::vector<std::string> types_of(const Lines& rows, DType dtype, bool is_centred) {
  return {rows.worker(), stored_type(dtype), computed_type(dtype), is_centred ? "true" : "false"};
}

template <bool kCentred>
void run_layer_norm(KernelContext& k) {
  const Lines rows = Lines::rows(k.input(0).shape());
  const DeviceFunction norm{kText, "layer_norm", types_of(rows, k.input(0).dtype(), kCentred), ""};
  const void* none = nullptr;
  rows.run(cuda_stream_of(k), norm,
           words(k.in<void>(0), k.in<void>(1), kCentred ? k.in<void>(2) : none, k.out<void>(0),
                 kCentred ? k.out<void>(1) : none, k.out<void>(kCentred ? 2 : 1), rows,
                 k.attr("epsilon").as_real()));
}

/// Inputs: x, scale, (mean,) rstd, dy.
template <bool kCentred>
void run_layer_norm_grad(KernelContext& k) {
  const DType dtype = k.input(0).dtype();
  const Lines rows = Lines::rows(k.input(0).shape());
  const void* mean = kCentred ? k.in<void>(2) : nullptr;
  const void* rstd = k.in<void>(kCentred ? 3 : 2);
  const void* dy = k.in<void>(kCentred ? 4 : 3);
  CudaStream& stream = cuda_stream_of(k);
  // Sums first: dx may be where dy was.
  const Columns columns(k.input(0).shape());
  columns.add_up(k, message("tm::LayerNormTerms<", kCentred ? "true" : "false", ">"), k.in<void>(0),
                 dy, mean, rstd);
  const DeviceFunction totals{
      kText, "column_totals", {stored_type(dtype), computed_type(dtype)}, ""};
  const void* none = nullptr;
  totals.run_blocks(stream, columns.columns,
                    words(k.workspace(), k.out<void>(1), kCentred ? k.out<void>(2) : none,
                          columns.columns, columns.parts));
  const DeviceFunction gradient{kText, "layer_norm_grad", types_of(rows, dtype, kCentred), ""};
  rows.run(stream, gradient,
           words(k.in<void>(0), k.in<void>(1), mean, rstd, dy, k.out<void>(0), rows));
}
size_t layer_norm_grad_workspace(const OpCall&, std::span<const Shape> outputs) {
  return Columns(outputs[0]).sum_bytes();
}

// --- batch_norm ---------------------------------------------------------------------------------

/// Behind the sums: a number for each channel, `count` times.
size_t channel_bytes(const Columns& c, int count) {
  return rounded_up(static_cast<size_t>(count * c.columns) * sizeof(double));
}
size_t batch_norm_workspace(const OpCall&, std::span<const Shape> outputs) {
  const Columns c(outputs[0]);
  return c.sum_bytes() + channel_bytes(c, 3);
}
char* channels_of(KernelContext& k, const Columns& c) {
  return static_cast<char*>(k.workspace()) + c.sum_bytes();
}

void run_batch_norm(KernelContext& k) {
  const DType dtype = k.input(0).dtype();
  const Columns c(k.input(0).shape());
  CudaStream& stream = cuda_stream_of(k);
  const std::vector<std::string> types = {stored_type(dtype), computed_type(dtype)};
  c.add_up(k, "tm::DistanceTerms", k.in<void>(0), nullptr, nullptr, nullptr);
  char *factor = channels_of(k, c), *shift = factor + c.columns * 8;
  const DeviceFunction statistics{kText, "batch_norm_statistics", types,
                                  "tm::statistics_arguments"};
  statistics.run_blocks(stream, c.columns,
                        words(k.workspace(), k.in<void>(0), k.in<void>(1), k.in<void>(2),
                              k.out<void>(1), k.out<void>(2), factor, shift, c.rows, c.columns,
                              c.parts, k.attr("epsilon").as_real()));
  const DeviceFunction apply{kText, "batch_norm_apply", types, "tm::affine_arguments"};
  const int64_t count = k.output(0).num_elements();
  apply.run(stream, count, words(k.in<void>(0), factor, shift, k.out<void>(0), count, c.columns));
}

/// Inputs: x, scale, mean, variance, dy.
void run_batch_norm_grad(KernelContext& k) {
  const DType dtype = k.input(0).dtype();
  const Columns c(k.input(0).shape());
  CudaStream& stream = cuda_stream_of(k);
  c.add_up(k, "tm::BatchNormTerms", k.in<void>(0), k.in<void>(4), k.in<void>(2), nullptr);
  char* slopes = channels_of(k, c);
  const DeviceFunction make_slopes{
      kText, "batch_norm_slopes", {computed_type(dtype)}, "tm::slopes_arguments"};
  make_slopes.run_blocks(
      stream, c.columns,
      words(k.workspace(), k.in<void>(1), k.in<void>(2), k.in<void>(3), k.out<void>(1),
            k.out<void>(2), slopes, c.rows, c.columns, c.parts, k.attr("epsilon").as_real()));
  const DeviceFunction dx{kText, "batch_norm_dx", {stored_type(dtype), computed_type(dtype)}, ""};
  const int64_t count = k.output(0).num_elements();
  dx.run(stream, count,
         words(k.in<void>(0), k.in<void>(4), slopes, k.out<void>(0), count, c.columns));
}

TIDEMARK_KERNEL_OF(cuda, layer_norm, kFloats, run_layer_norm<true>);
TIDEMARK_KERNEL_OF(cuda, rms_norm, kFloats, run_layer_norm<false>);
TIDEMARK_KERNEL_OF(cuda, layer_norm_grad, kFloats, run_layer_norm_grad<true>,
                   layer_norm_grad_workspace);
TIDEMARK_KERNEL_OF(cuda, rms_norm_grad, kFloats, run_layer_norm_grad<false>,
                   layer_norm_grad_workspace);
TIDEMARK_KERNEL_OF(cuda, batch_norm, kFloats, run_batch_norm, batch_norm_workspace);
TIDEMARK_KERNEL_OF(cuda, batch_norm_grad, kFloats, run_batch_norm_grad, batch_norm_workspace);

}  // namespace

}  // namespace tidemark::cuda
