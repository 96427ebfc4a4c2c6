// Losses over some classes drawn as negative examples.
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/nn_functions.h>
#include <tidemark/sampling.h>

#include <limits>

#include "tidemark/nn/building.h"
#include "tidemark/nn/number_ranges.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

struct Scores {
  Tensor logits, targets;  // of the true classes and the sampled ones, side by side
};

Scores sampled_scores(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                      const Tensor& inputs, int64_t num_sampled, int64_t num_classes,
                      bool removes_hits, const SampledLossOptions& options) {
  Tensor classes = cast(labels, DType::int64);
  if (classes.shape().has_rank() && classes.rank() == 1) classes = expand_dims(classes, 1);
  const random::Candidates drawn =
      options.sampled_values
          ? *options.sampled_values
          : random::log_uniform_candidate_sampler(classes, options.num_true, num_sampled, true,
                                                  num_classes, options.seed);
  const Tensor sampled = stop_gradient(cast(drawn.sampled_candidates, DType::int64));
  const auto log_of = [&](const Tensor& count) {
    return cast(log(stop_gradient(count)), inputs.dtype());
  };
  const auto rows = [](const Tensor& table, const Tensor& ids) {
    return gather(table, ids, {.axis = 0});
  };
  const Tensor products = expand_dims(inputs, 1) * rows(weights, classes);
  const Tensor true_logits = sum(products, Ints{2}) + rows(biases, classes);
  Tensor logits = matmul(inputs, rows(weights, sampled), {.transpose_b = true});
  logits = logits + rows(biases, sampled);
  if (removes_hits) {
    const Tensor hit = any(equal(expand_dims(classes, 2), sampled), Ints{1});
    logits = select(hit, number(-highest_float(logits.dtype()), logits), logits);
  }
  const Tensor both[] = {true_logits - log_of(drawn.true_expected_count),
                         logits - log_of(drawn.sampled_expected_count)};
  const Tensor part = number(1 / static_cast<double>(options.num_true), true_logits);
  const Tensor targets[] = {ones_like(true_logits) * part, zeros_like(logits)};
  return {concat(both, 1), concat(targets, 1)};
}

}  // namespace

Tensor sampled_softmax_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                            const Tensor& inputs, int64_t num_sampled, int64_t num_classes,
                            const SampledLossOptions& options) {
  TIDEMARK_HERE;
  const Scores scores = sampled_scores(weights, biases, labels, inputs, num_sampled, num_classes,
                                       options.remove_accidental_hits.value_or(true), options);
  return softmax_cross_entropy_with_logits(stop_gradient(scores.targets), scores.logits);
}

Tensor nce_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                const Tensor& inputs, int64_t num_sampled, int64_t num_classes,
                const SampledLossOptions& options) {
  TIDEMARK_HERE;
  const Scores scores = sampled_scores(weights, biases, labels, inputs, num_sampled, num_classes,
                                       options.remove_accidental_hits.value_or(false), options);
  return sum(sigmoid_cross_entropy_with_logits(scores.targets, scores.logits), Ints{1});
}

AccidentalHits compute_accidental_hits(const Tensor& true_classes, const Tensor& sampled_candidates,
                                       int64_t num_true) {
  TIDEMARK_HERE;
  if (true_classes.shape().has_rank() &&
      (true_classes.rank() != 2 || true_classes.dim(1) != num_true)) {
    fail("[compute_accidental_hits] true_classes must have shape [batch, ", num_true, "], got ",
         true_classes.shape());
  }
  const Tensor hits = where(equal(expand_dims(true_classes, 2), sampled_candidates));
  const Tensor rows = cast(at(hits, 1, 0), DType::int32);
  const float lowest = -std::numeric_limits<float>::max();
  return {rows, at(hits, 1, 2), fill(shape(rows), Tensor(lowest))};
}

}  // namespace tidemark::nn
