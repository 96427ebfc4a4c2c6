// Connectionist temporal classification of tf.nn.
#include <tidemark/call.h>
#include <tidemark/nn_functions.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
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

std::pair<Tensor, Tensor> ctc_unique_labels(const Tensor& labels) {
  TIDEMARK_HERE;
  const int64_t rows = known_size("ctc_unique_labels", labels, 0);
  if (rows == 0) return {labels, cast(labels, DType::int32)};
  std::vector<Tensor> different, numbers;
  for (int64_t row = 0; row < rows; ++row) {
    const std::vector<Tensor> found = unique(at(labels, 0, row));
    const Tensor edges[] = {Tensor(int32_t{0}), size_at(labels, 1) - size(found[0])};
    different.push_back(
        pad(found[0], reshape(stack(edges), vector_of({1, 2})), "CONSTANT", number(0, labels)));
    numbers.push_back(found[1]);
  }
  return {stack(different), stack(numbers)};
}

std::pair<Tensor, Tensor> collapse_repeated(const Tensor& labels, const Tensor& seq_length) {
  TIDEMARK_HERE;
  if (labels.shape().has_rank() && labels.rank() != 2) {
    fail("[collapse_repeated] labels should be a matrix, got shape ", labels.shape());
  }
  const Tensor columns = range(Tensor(int32_t{0}), size_at(labels, 1), Tensor(int32_t{1}));
  const auto first_of = [](const Tensor& counts, const Tensor& places) {
    return less(places, expand_dims(cast(counts, DType::int32), 1));
  };
  const Tensor first = part(labels, 1, 0, 1);
  const Tensor before = slice(labels, vector_of({0, 0}), shape(labels) - vector_of({0, 1}));
  const Tensor parts[] = {equal(first, first), not_equal(part(labels, 1, 1), before)};
  const Tensor keep = logical_and(concat(parts, 1), first_of(seq_length, columns));
  const Tensor counts = sum(cast(keep, DType::int32), Ints{1});
  const Tensor all[] = {counts, vector_of({0})};
  const Tensor longest = max(concat(all, 0)), sizes[] = {first_size(labels), longest};
  const Tensor there = first_of(counts, range(Tensor(int32_t{0}), longest, Tensor(int32_t{1})));
  const Tensor made =
      scatter_nd(nonzero(there), boolean_mask(labels, keep), cast(stack(sizes), DType::int64));
  return {made, cast(counts, seq_length.dtype())};
}

}  // namespace tidemark::nn
