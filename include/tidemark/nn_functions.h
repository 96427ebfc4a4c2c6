// The functions of tf.nn that are more than an op.
//
//   td::Tensor y = td::nn::conv2d(x, w, {.strides = {2, 2}, .padding = "SAME"});
//   td::Tensor loss = td::reduce_mean(td::nn::sparse_softmax_cross_entropy(labels, logits));
//
// Those that are ops (td::nn::relu, td::nn::softmax, …) are in <tidemark/ops.h>.
#pragma once

#include <tidemark/ops.h>

#include <utility>

namespace tidemark::nn {

/// Images [batch, positions…, channels], filters [window…, channels / groups, filters]. Strides and
/// dilations, if any, one for each position.
TIDEMARK_API Tensor conv1d(const Tensor& input, const Tensor& filters,
                           const ConvolutionOptions& options = {});
TIDEMARK_API Tensor conv2d(const Tensor& input, const Tensor& filters,
                           const ConvolutionOptions& options = {});
TIDEMARK_API Tensor conv3d(const Tensor& input, const Tensor& filters,
                           const ConvolutionOptions& options = {});

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

/// The greatest element, or the mean, of each window of images [batch, rows, columns, channels].
TIDEMARK_API Tensor max_pool2d(const Tensor& input, const Ints& ksize,
                               const MaxPoolOptions& options = {});
TIDEMARK_API Tensor avg_pool2d(const Tensor& input, const Ints& ksize,
                               const AvgPoolOptions& options = {});

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
TIDEMARK_API Tensor bias_add(const Tensor& value, const Tensor& bias);
/// Half of the sum of squares.
TIDEMARK_API Tensor l2_loss(const Tensor& t);
/// x divided by its length along the axis, or by the root of `epsilon` where that is greater.
TIDEMARK_API Tensor l2_normalize(const Tensor& x, int64_t axis = -1, double epsilon = 1e-12);

}  // namespace tidemark::nn
