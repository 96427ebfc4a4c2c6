// The functions of tf.nn that are more than an op.
//
//   td::Tensor y = td::nn::conv2d(x, w, {.strides = {2, 2}, .padding = "SAME"});
//   td::Tensor loss = td::reduce_mean(td::nn::sparse_softmax_cross_entropy(labels, logits));
//
// Those that are ops (td::nn::relu, td::nn::softmax, …) are in <tidemark/ops.h>.
#pragma once

#include <tidemark/ops.h>

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
/// x divided by its length along the axis, or by the root of `epsilon` where that is greater.
TIDEMARK_API Tensor l2_normalize(const Tensor& x, int64_t axis = -1, double epsilon = 1e-12);

}  // namespace tidemark::nn
