// Connectionist temporal classification of tf.nn.
#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

/// Rows filled up with -1 as a sparse matrix, as wide as the longest of them.
SparseTensor as_sparse(const Tensor& decoded) {
  const Tensor is_there = greater_equal(decoded, Tensor(int64_t{0}));
  const Tensor counts = sum(cast(is_there, DType::int64), Ints{1});
  const Tensor none = reshape(Tensor(int64_t{0}), vector_of({1})), all[] = {counts, none};
  const Tensor sizes[] = {cast(first_size(decoded), DType::int64), max(concat(all, 0))};
  return {nonzero(is_there), boolean_mask(decoded, is_there), stack(sizes, 0)};
}

}  // namespace

Tensor ctc_loss(const Tensor& labels, const Tensor& logits, const Tensor& label_length,
                const Tensor& logit_length, const CtcLossOfLabelsOptions& options) {
  TIDEMARK_HERE;
  const Tensor scores = at_least_float32(logits);
  const Tensor by_time = options.logits_time_major ? scores : transpose(scores, Ints{1, 0, 2});
  const Tensor loss =
      tidemark::ctc_loss(by_time, labels, label_length, logit_length, options.blank_index);
  return cast(loss, logits.dtype());
}

Decoded ctc_greedy_decoder(const Tensor& inputs, const Tensor& sequence_length,
                           const CtcGreedyDecoderOptions& options) {
  TIDEMARK_HERE;
  const std::vector<Tensor> both = ctc_greedy_decode(at_least_float32(inputs), sequence_length,
                                                     options.merge_repeated, options.blank_index);
  return {{as_sparse(both[0])}, both[1]};
}

Decoded ctc_beam_search_decoder(const Tensor& inputs, const Tensor& sequence_length,
                                const CtcBeamSearchOptions& options) {
  TIDEMARK_HERE;
  const std::vector<Tensor> both = ctc_beam_search_decode(at_least_float32(inputs), sequence_length,
                                                          options.beam_width, options.top_paths);
  Decoded out{{}, both[1]};
  for (const Tensor& path : unstack(both[0], options.top_paths)) {
    out.decoded.push_back(as_sparse(path));
  }
  return out;
}

}  // namespace tidemark::nn
