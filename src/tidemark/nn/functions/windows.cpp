// Convolutions, poolings and morphology of tf.nn.
#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include <algorithm>

#include "tidemark/nn/building.h"
#include "tidemark/nn/number_ranges.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

void check_filters(std::string_view name, const Tensor& filters, int positions) {
  if (!filters.shape().has_rank() || filters.rank() == positions + 2) return;
  fail("[", name, "] filters have ", positions + 2,
       " dimensions: the window, channels, filters. Received shape: ", filters.shape());
}

Tensor convolved(std::string_view name, int positions, const Tensor& input, const Tensor& filters,
                 const ConvolutionOptions& options) {
  check_filters(name, filters, positions);
  return convolution(input, filters, options);
}

Tensor transposed(std::string_view name, int positions, const Tensor& input, const Tensor& filters,
                  const Ints& output_shape, const TransposedConvolutionOptions& options) {
  check_filters(name, filters, positions);
  return convolution_input_grad(
      vector_of(output_shape), filters, input,
      {.strides = options.strides, .padding = options.padding, .dilations = options.dilations});
}

/// A depthwise filter [h, w, channels, multiplier] as [h, w, 1, channels · multiplier].
Tensor grouped(std::string_view name, const Tensor& filter) {
  check_rank(name, filter, 4);
  Ints sizes;
  for (int i = 0; i < 4; ++i) sizes.push_back(known_size(name, filter, i));
  return reshape(filter, vector_of({sizes[0], sizes[1], 1, sizes[2] * sizes[3]}));
}

void check_images(std::string_view name, const Tensor& input, int positions) {
  if (!input.shape().has_rank() || input.rank() == positions + 2) return;
  fail("[", name, "] images have ", positions + 2,
       " dimensions: the batch, positions, channels. Received shape: ", input.shape());
}

Tensor max_pooled(std::string_view name, int positions, const Tensor& input, const Ints& ksize,
                  const MaxPoolOptions& options) {
  check_images(name, input, positions);
  return max_pool(input, ksize, options);
}

Tensor avg_pooled(std::string_view name, int positions, const Tensor& input, const Ints& ksize,
                  const AvgPoolOptions& options) {
  check_images(name, input, positions);
  return avg_pool(input, ksize, options);
}

}  // namespace

Tensor conv1d(const Tensor& input, const Tensor& filters, const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolved("conv1d", 1, input, filters, options);
}

Tensor conv2d(const Tensor& input, const Tensor& filters, const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolved("conv2d", 2, input, filters, options);
}

Tensor conv3d(const Tensor& input, const Tensor& filters, const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolved("conv3d", 3, input, filters, options);
}

Tensor atrous_conv2d(const Tensor& value, const Tensor& filters, int64_t rate,
                     const std::string& padding) {
  TIDEMARK_HERE;
  return conv2d(value, filters, {.padding = padding, .dilations = {rate, rate}});
}

Tensor depthwise_conv2d(const Tensor& input, const Tensor& filter,
                        const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolution(input, grouped("depthwise_conv2d", filter), options);
}

Tensor depthwise_conv2d_backprop_input(const Ints& input_sizes, const Tensor& filter,
                                       const Tensor& out_backprop,
                                       const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  return convolution_input_grad(vector_of(input_sizes),
                                grouped("depthwise_conv2d_backprop_input", filter), out_backprop,
                                {.strides = options.strides,
                                 .padding = options.padding,
                                 .explicit_paddings = options.explicit_paddings,
                                 .dilations = options.dilations});
}

Tensor depthwise_conv2d_backprop_filter(const Tensor& input, const Ints& filter_sizes,
                                        const Tensor& out_backprop,
                                        const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  if (filter_sizes.size() != 4) {
    fail("[depthwise_conv2d_backprop_filter] a filter has 4 sizes. Received: ",
         filter_sizes.size());
  }
  const Ints sizes = {filter_sizes[0], filter_sizes[1], 1, filter_sizes[2] * filter_sizes[3]};
  const Tensor gradient = convolution_filter_grad(input, vector_of(sizes), out_backprop,
                                                  {.strides = options.strides,
                                                   .padding = options.padding,
                                                   .explicit_paddings = options.explicit_paddings,
                                                   .dilations = options.dilations});
  return reshape(gradient, vector_of(filter_sizes));
}

Tensor separable_conv2d(const Tensor& input, const Tensor& depthwise_filter,
                        const Tensor& pointwise_filter, const ConvolutionOptions& options) {
  TIDEMARK_HERE;
  const Tensor each = convolution(input, grouped("separable_conv2d", depthwise_filter), options);
  return conv2d(each, pointwise_filter);
}

Tensor conv_transpose(const Tensor& input, const Tensor& filters, const Ints& output_shape,
                      const TransposedConvolutionOptions& options) {
  TIDEMARK_HERE;
  return transposed("conv_transpose", static_cast<int>(output_shape.size()) - 2, input, filters,
                    output_shape, options);
}

Tensor conv1d_transpose(const Tensor& input, const Tensor& filters, const Ints& output_shape,
                        const TransposedConvolutionOptions& options) {
  TIDEMARK_HERE;
  return transposed("conv1d_transpose", 1, input, filters, output_shape, options);
}

Tensor conv2d_transpose(const Tensor& input, const Tensor& filters, const Ints& output_shape,
                        const TransposedConvolutionOptions& options) {
  TIDEMARK_HERE;
  return transposed("conv2d_transpose", 2, input, filters, output_shape, options);
}

Tensor conv3d_transpose(const Tensor& input, const Tensor& filters, const Ints& output_shape,
                        const TransposedConvolutionOptions& options) {
  TIDEMARK_HERE;
  return transposed("conv3d_transpose", 3, input, filters, output_shape, options);
}

Tensor atrous_conv2d_transpose(const Tensor& value, const Tensor& filters, const Ints& output_shape,
                               int64_t rate, const std::string& padding) {
  TIDEMARK_HERE;
  return conv2d_transpose(value, filters, output_shape,
                          {.padding = padding, .dilations = {rate, rate}});
}

Tensor max_pool1d(const Tensor& input, const Ints& ksize, const MaxPoolOptions& options) {
  TIDEMARK_HERE;
  return max_pooled("max_pool1d", 1, input, ksize, options);
}

Tensor max_pool2d(const Tensor& input, const Ints& ksize, const MaxPoolOptions& options) {
  TIDEMARK_HERE;
  return max_pooled("max_pool2d", 2, input, ksize, options);
}

Tensor max_pool3d(const Tensor& input, const Ints& ksize, const MaxPoolOptions& options) {
  TIDEMARK_HERE;
  return max_pooled("max_pool3d", 3, input, ksize, options);
}

Tensor avg_pool1d(const Tensor& input, const Ints& ksize, const AvgPoolOptions& options) {
  TIDEMARK_HERE;
  return avg_pooled("avg_pool1d", 1, input, ksize, options);
}

Tensor avg_pool2d(const Tensor& input, const Ints& ksize, const AvgPoolOptions& options) {
  TIDEMARK_HERE;
  return avg_pooled("avg_pool2d", 2, input, ksize, options);
}

Tensor avg_pool3d(const Tensor& input, const Ints& ksize, const AvgPoolOptions& options) {
  TIDEMARK_HERE;
  return avg_pooled("avg_pool3d", 3, input, ksize, options);
}

Tensor pool(const Tensor& input, const Ints& window_shape, const std::string& pooling_type,
            const MaxPoolOptions& options) {
  TIDEMARK_HERE;
  if (pooling_type == "MAX") return max_pool(input, window_shape, options);
  if (pooling_type != "AVG") {
    fail("[pool] `pooling_type` is \"MAX\" or \"AVG\". Received: ", pooling_type);
  }
  return avg_pool(input, window_shape,
                  {.strides = options.strides,
                   .padding = options.padding,
                   .explicit_paddings = options.explicit_paddings,
                   .dilations = options.dilations});
}

Tensor dilation2d(const Tensor& input, const Tensor& filters, const DilationOptions& options) {
  TIDEMARK_HERE;
  constexpr const char* kName = "dilation2d";
  if (input.rank() != 4 || filters.rank() != 3) {
    fail(
        "[dilation2d] takes [batch, height, width, channels] and [height, width, channels]. "
        "Received: ",
        input.shape(), " and ", filters.shape());
  }
  const int64_t high = known_size(kName, filters, 0), wide = known_size(kName, filters, 1);
  const int64_t reach[2] = {(high - 1) * options.dilations.at(0) + 1,
                            (wide - 1) * options.dilations.at(1) + 1};
  Tensor x = input;
  Ints edges(8, 0), count(2);
  for (int i = 0; i < 2; ++i) {
    const auto place = static_cast<size_t>(i);
    const int64_t size = known_size(kName, input, i + 1), step = options.strides.at(place);
    count[place] = (size - reach[i]) / step + 1;
    if (options.padding == "SAME") {
      count[place] = (size + step - 1) / step;
      const int64_t more = std::max<int64_t>((count[place] - 1) * step + reach[i] - size, 0);
      edges[2 * place + 2] = more / 2;
      edges[2 * place + 3] = more - more / 2;
    } else if (options.padding != "VALID" || size < reach[i]) {
      fail(
          "[dilation2d] `padding` is \"SAME\", or \"VALID\" where the filter is not larger than "
          "the picture. Received: ",
          options.padding, " and ", input.shape());
    }
  }
  if (options.padding == "SAME") {
    const double lowest = is_floating(x.dtype())
                              ? -highest_float(x.dtype())
                              : static_cast<double>(integer_range(x.dtype()).lowest);
    x = pad(x, reshape(vector_of(edges), vector_of({4, 2})), "CONSTANT", number(lowest, x));
  }
  Tensor best;
  for (int64_t i = 0; i < high; ++i) {
    for (int64_t j = 0; j < wide; ++j) {
      const int64_t top = i * options.dilations[0], left = j * options.dilations[1];
      const Ints begin = {0, top, left, 0}, steps = {1, options.strides[0], options.strides[1], 1};
      const Ints end = {0, top + (count[0] - 1) * steps[1] + 1,
                        left + (count[1] - 1) * steps[2] + 1, 0};
      const Tensor seen = strided_slice(x, vector_of(begin), vector_of(end), vector_of(steps),
                                        {.begin_mask = 9, .end_mask = 9});
      const Tensor here = seen + at(at(filters, 0, i), 0, j);
      best = best ? maximum(best, here) : here;
    }
  }
  return best;
}

Tensor erosion2d(const Tensor& value, const Tensor& filters, const DilationOptions& options) {
  TIDEMARK_HERE;
  return -dilation2d(-value, reverse(filters, Ints{0, 1}), options);
}

}  // namespace tidemark::nn
