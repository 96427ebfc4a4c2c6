// Losses.
#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

/// Minus the log-probability of each target, weighted: [batch, spatial…].
struct Loss {
  Tensor each, weights;  // weights: what a mean is taken by; empty: all alike
};

Loss loss_of(const Call& c, const Tensor& log_probabilities, const Tensor& target) {
  const Tensor& x = log_probabilities;
  Ints perm{0};
  for (int i = 2; i < rank_of(x); ++i) perm.push_back(i);
  perm.push_back(1);
  const Tensor rows = transposed(x, perm);  // [batch, spatial…, classes]
  const Attribute* ignored = c.attr("ignore_index");
  const Tensor classes = as(target, DType::int64);
  Tensor is_ignored, safe = classes;
  if (ignored) {
    is_ignored = equal(classes, Tensor(ignored->integer));
    safe = select(is_ignored, zeros_like(classes), classes);
  }
  Loss out;
  const int batch = rank_of(classes);
  const Tensor taken = gather(rows, expand_dims(safe, -1), std::nullopt, batch, batch);
  out.each = -squeeze(taken, Ints{-1});
  if (c.has(2)) out.weights = gather(c.in(2), safe, std::nullopt, 0);
  if (ignored) {
    const Tensor one = out.weights ? out.weights : ones_like(out.each);
    out.weights = select(is_ignored, number(0, x), one);
  }
  if (out.weights) out.each = out.each * out.weights;
  return out;
}

Tensor reduced(const Call& c, const Loss& loss) {
  const std::string how = c.text("reduction", "mean");
  if (how == "none") return loss.each;
  if (how == "sum") return sum(loss.each);
  if (how != "mean") c.fail("the reduction ", how, " is none of none, sum, mean");
  return loss.weights ? sum(loss.each) / sum(loss.weights) : mean(loss.each);
}

Tensor negative_log_likelihood(const Call& c) { return reduced(c, loss_of(c, c.in(0), c.in(1))); }

Values softmax_cross_entropy_node(const Call& c) {
  const Tensor probabilities = log_softmax(c.in(0), 1);
  return {reduced(c, loss_of(c, probabilities, c.in(1))), probabilities};
}

constexpr Entry kEntries[] = {
    {"NegativeLogLikelihoodLoss", negative_log_likelihood},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy_node},
};

}  // namespace

std::span<const Entry> loss_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
