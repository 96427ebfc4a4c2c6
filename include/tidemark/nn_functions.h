// The functions of tf.nn that are more than an op.
//
//   td::Tensor y = td::nn::conv2d(x, w, {.strides = {2, 2}, .padding = "SAME"});
//   td::Tensor loss = td::reduce_mean(td::nn::sparse_softmax_cross_entropy(labels, logits));
//
// Those that are ops (td::nn::relu, td::nn::softmax, …) are in <tidemark/ops.h>.
#pragma once

#include <tidemark/math.h>
#include <tidemark/ops.h>
#include <tidemark/sampling.h>
#include <tidemark/sparse.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tidemark::nn {

using linalg::l2_normalize;
using math::approx_max_k;
using math::approx_min_k;
using math::top_k;
using math::zero_fraction;
using tidemark::avg_pool;
using tidemark::convolution;
using tidemark::max_pool;
using tidemark::max_pool_with_argmax;

// --- convolutions -------------------------------------------------------------------------------

/// Images [batch, positions…, channels], filters [window…, channels / groups, filters]. Strides and
/// dilations, if any, one for each position.
TIDEMARK_API Tensor conv1d(const Tensor& input, const Tensor& filters,
                           const ConvolutionOptions& options = {});
TIDEMARK_API Tensor conv2d(const Tensor& input, const Tensor& filters,
                           const ConvolutionOptions& options = {});
TIDEMARK_API Tensor conv3d(const Tensor& input, const Tensor& filters,
                           const ConvolutionOptions& options = {});

/// Over two dimensions, with windows that take every `rate`-th pixel.
TIDEMARK_API Tensor atrous_conv2d(const Tensor& value, const Tensor& filters, int64_t rate,
                                  const std::string& padding);
/// Each channel with filters of its own, [height, width, channels, multiplier].
TIDEMARK_API Tensor depthwise_conv2d(const Tensor& input, const Tensor& filter,
                                     const ConvolutionOptions& options = {});
/// The same, then a convolution over the channels alone, [1, 1, channels · multiplier, filters].
TIDEMARK_API Tensor separable_conv2d(const Tensor& input, const Tensor& depthwise_filter,
                                     const Tensor& pointwise_filter,
                                     const ConvolutionOptions& options = {});

/// The gradients of depthwise_conv2d with respect to its input and its filter.
TIDEMARK_API Tensor depthwise_conv2d_backprop_input(const Ints& input_sizes, const Tensor& filter,
                                                    const Tensor& out_backprop,
                                                    const ConvolutionOptions& options = {});
TIDEMARK_API Tensor depthwise_conv2d_backprop_filter(const Tensor& input, const Ints& filter_sizes,
                                                     const Tensor& out_backprop,
                                                     const ConvolutionOptions& options = {});

struct TransposedConvolutionOptions {
  Ints strides = {};
  std::string padding = "SAME";
  Ints dilations = {};
};
/// What the gradient of a convolution does to its output: of the shape given, channels last.
TIDEMARK_API Tensor conv_transpose(const Tensor& input, const Tensor& filters,
                                   const Ints& output_shape,
                                   const TransposedConvolutionOptions& options = {});
TIDEMARK_API Tensor conv1d_transpose(const Tensor& input, const Tensor& filters,
                                     const Ints& output_shape,
                                     const TransposedConvolutionOptions& options = {});
TIDEMARK_API Tensor conv2d_transpose(const Tensor& input, const Tensor& filters,
                                     const Ints& output_shape,
                                     const TransposedConvolutionOptions& options = {});
TIDEMARK_API Tensor conv3d_transpose(const Tensor& input, const Tensor& filters,
                                     const Ints& output_shape,
                                     const TransposedConvolutionOptions& options = {});
TIDEMARK_API Tensor atrous_conv2d_transpose(const Tensor& value, const Tensor& filters,
                                            const Ints& output_shape, int64_t rate,
                                            const std::string& padding);

// --- losses -------------------------------------------------------------------------------------

/// One number for each row of logits [batch…, classes]; labels are integers [batch…].
TIDEMARK_API Tensor sparse_softmax_cross_entropy(const Tensor& labels, const Tensor& logits);
/// The same; labels are probabilities [batch…, classes].
TIDEMARK_API Tensor softmax_cross_entropy(const Tensor& labels, const Tensor& logits);
/// One number for each element; labels are probabilities.
TIDEMARK_API Tensor sigmoid_cross_entropy(const Tensor& labels, const Tensor& logits);
/// TensorFlow's names for them.
TIDEMARK_API Tensor sparse_softmax_cross_entropy_with_logits(const Tensor& labels,
                                                             const Tensor& logits);
TIDEMARK_API Tensor softmax_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits);
TIDEMARK_API Tensor sigmoid_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits);

/// The sigmoid cross entropy in which positive labels count `pos_weight` times.
TIDEMARK_API Tensor weighted_cross_entropy_with_logits(const Tensor& labels, const Tensor& logits,
                                                       const Tensor& pos_weight);
/// exp(log_input) - targets · log_input, and Stirling's term for the targets where asked.
TIDEMARK_API Tensor log_poisson_loss(const Tensor& targets, const Tensor& log_input,
                                     bool compute_full_loss = false);
struct AverageLossOptions {
  Tensor sample_weight = {};
  int64_t global_batch_size = -1;  // -1: the first dimension
};
/// The sum of the losses divided by the batch size.
TIDEMARK_API Tensor compute_average_loss(const Tensor& per_example_loss,
                                         const AverageLossOptions& options = {});
TIDEMARK_API Tensor scale_regularization_loss(const Tensor& regularization_loss);
struct CtcLossOfLabelsOptions {
  bool logits_time_major = true;
  int64_t blank_index = 0;
};
/// The loss of label sequences [batch, labels] whose alignment to the frames of logits [frames,
/// batch, classes] is unknown.
TIDEMARK_API Tensor ctc_loss(const Tensor& labels, const Tensor& logits, const Tensor& label_length,
                             const Tensor& logit_length,
                             const CtcLossOfLabelsOptions& options = {});

struct Decoded {
  std::vector<SparseTensor> decoded;
  Tensor log_probability;  // of greedy decoding the negative sum of the best scores
};
struct CtcGreedyDecoderOptions {
  bool merge_repeated = true;
  int64_t blank_index = -1;  // -1: the last class
};
/// The best class of each frame, without blanks and repetitions. Inputs are [frames, batch,
/// classes].
TIDEMARK_API Decoded ctc_greedy_decoder(const Tensor& inputs, const Tensor& sequence_length,
                                        const CtcGreedyDecoderOptions& options = {});
struct CtcBeamSearchOptions {
  int64_t beam_width = 100, top_paths = 1;
};
/// The most probable label sequences that a beam search finds; the last class is the blank.
TIDEMARK_API Decoded ctc_beam_search_decoder(const Tensor& inputs, const Tensor& sequence_length,
                                             const CtcBeamSearchOptions& options = {});

/// The different labels of each row, filled up with 0, and which of them each label is.
TIDEMARK_API std::pair<Tensor, Tensor> ctc_unique_labels(const Tensor& labels);
/// Repetitions left out of each row, which is filled up with 0; and the new lengths.
TIDEMARK_API std::pair<Tensor, Tensor> collapse_repeated(const Tensor& labels,
                                                         const Tensor& seq_length);

// --- windows ------------------------------------------------------------------------------------

/// The greatest element, or the mean, of each window of images [batch, positions…, channels].
TIDEMARK_API Tensor max_pool1d(const Tensor& input, const Ints& ksize,
                               const MaxPoolOptions& options = {});
TIDEMARK_API Tensor max_pool2d(const Tensor& input, const Ints& ksize,
                               const MaxPoolOptions& options = {});
TIDEMARK_API Tensor avg_pool2d(const Tensor& input, const Ints& ksize,
                               const AvgPoolOptions& options = {});

TIDEMARK_API Tensor max_pool3d(const Tensor& input, const Ints& ksize,
                               const MaxPoolOptions& options = {});
TIDEMARK_API Tensor avg_pool1d(const Tensor& input, const Ints& ksize,
                               const AvgPoolOptions& options = {});
TIDEMARK_API Tensor avg_pool3d(const Tensor& input, const Ints& ksize,
                               const AvgPoolOptions& options = {});
/// Pooling of type "MAX" or "AVG".
TIDEMARK_API Tensor pool(const Tensor& input, const Ints& window_shape,
                         const std::string& pooling_type, const MaxPoolOptions& options = {});
struct FractionalPoolOptions {
  bool pseudo_random = false, overlapping = false;
  std::optional<int64_t> seed = std::nullopt;
};
struct FractionalPool {
  Tensor output, row_pooling_sequence, col_pooling_sequence;  // where regions begin, and the last
                                                              // ends
};
/// The greatest element, or the mean, of regions whose sizes differ by one and come in random
/// order; height and width become smaller by the ratios, which are at least 1.
TIDEMARK_API FractionalPool fractional_max_pool(const Tensor& value,
                                                const std::vector<double>& pooling_ratio,
                                                const FractionalPoolOptions& options = {});
TIDEMARK_API FractionalPool fractional_avg_pool(const Tensor& value,
                                                const std::vector<double>& pooling_ratio,
                                                const FractionalPoolOptions& options = {});
struct DilationOptions {
  Ints strides = {1, 1};
  std::string padding = "VALID";
  Ints dilations = {1, 1};
};
/// The largest sum of a window's pixels and the filter's elements, channel by channel.
TIDEMARK_API Tensor dilation2d(const Tensor& input, const Tensor& filters,
                               const DilationOptions& options = {});
/// The smallest difference of a window's pixels and the mirrored filter's elements.
TIDEMARK_API Tensor erosion2d(const Tensor& value, const Tensor& filters,
                              const DilationOptions& options = {});
/// Blocks of pixels as one pixel of so many times the channels, and back.
TIDEMARK_API Tensor space_to_depth(const Tensor& input, int64_t block_size);
TIDEMARK_API Tensor depth_to_space(const Tensor& input, int64_t block_size);

// --- statistics and others ----------------------------------------------------------------------

/// relu of x and of -x, side by side.
TIDEMARK_API Tensor crelu(const Tensor& features, int64_t axis = -1);
/// The rows of a table that ids name, none longer than `max_norm`.
TIDEMARK_API Tensor embedding_lookup(const Tensor& params, const Tensor& ids,
                                     const std::optional<double>& max_norm = std::nullopt);
struct SparseLookupOptions {
  std::string combiner = "mean";  // "sqrtn", "sum"
  std::optional<double> max_norm = std::nullopt;
};
/// For each row of a sparse matrix of ids the rows of the table that it names, put together, each
/// counted by its weight.
TIDEMARK_API Tensor embedding_lookup_sparse(const Tensor& params, const SparseTensor& sp_ids,
                                            const std::optional<SparseTensor>& sp_weights,
                                            const SparseLookupOptions& options = {});
struct SafeLookupOptions {
  std::string combiner = "mean";
  std::optional<int64_t> default_id = std::nullopt;  // what rows without ids have; none: zeros
  std::optional<double> max_norm = std::nullopt;
};
/// The same; ids below 0 and weights not above 0 do not count.
TIDEMARK_API Tensor
safe_embedding_lookup_sparse(const Tensor& embedding_weights, const SparseTensor& sparse_ids,
                             const std::optional<SparseTensor>& sparse_weights = std::nullopt,
                             const SafeLookupOptions& options = {});
/// Zeros with probability `rate`; the others grow so that the mean stays.
TIDEMARK_API Tensor dropout(const Tensor& x, double rate);
/// Mean and variance over the axes.
TIDEMARK_API std::pair<Tensor, Tensor> moments(const Tensor& x, const Ints& axes,
                                               bool keepdims = false);
/// (x - mean) / sqrt(variance + epsilon) * scale + offset; an empty handle for scale or offset
/// leaves it out.
TIDEMARK_API Tensor batch_normalization(const Tensor& x, const Tensor& mean, const Tensor& variance,
                                        const Tensor& offset, const Tensor& scale,
                                        double variance_epsilon);
TIDEMARK_API Tensor batch_norm_with_global_normalization(const Tensor& input, const Tensor& mean,
                                                         const Tensor& variance, const Tensor& beta,
                                                         const Tensor& gamma,
                                                         double variance_epsilon,
                                                         bool scale_after_normalization);
TIDEMARK_API Tensor bias_add(const Tensor& value, const Tensor& bias);
/// The falling (or rising) sequence nearest to each along the axis, and the number of the block of
/// equal values that each element belongs to.
TIDEMARK_API std::pair<Tensor, Tensor> isotonic_regression(const Tensor& inputs,
                                                           bool decreasing = true,
                                                           int64_t axis = -1);
/// Half of the sum of squares.
TIDEMARK_API Tensor l2_loss(const Tensor& t);
struct LocalResponseOptions {
  int64_t depth_radius = 5;
  double bias = 1, alpha = 1, beta = 0.5;
};
/// x divided by a power of the sum of squares over the neighbouring channels.
TIDEMARK_API Tensor local_response_normalization(const Tensor& input,
                                                 const LocalResponseOptions& options = {});
TIDEMARK_API Tensor lrn(const Tensor& input, const LocalResponseOptions& options = {});
struct SufficientStatistics {
  Tensor count, sum, sum_of_squares, shift;
};
/// Count, sum and sum of squares along the axes, from which moments are made.
TIDEMARK_API SufficientStatistics sufficient_statistics(const Tensor& x, const Ints& axes,
                                                        const Tensor& shift = {},
                                                        bool keepdims = false);
/// Mean and variance from those.
TIDEMARK_API std::pair<Tensor, Tensor> normalize_moments(const Tensor& counts,
                                                         const Tensor& mean_ss,
                                                         const Tensor& variance_ss,
                                                         const Tensor& shift = {});
/// Mean and variance along the axes, each element counted by its weight.
TIDEMARK_API std::pair<Tensor, Tensor> weighted_moments(const Tensor& x, const Ints& axes,
                                                        const Tensor& frequency_weights,
                                                        bool keepdims = false);

}  // namespace tidemark::nn
