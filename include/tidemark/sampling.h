// Classes drawn as negative examples, and losses over them and the true ones.
//
//   td::Tensor weights = td::random::normal({1000, 16}), biases = td::zeros({1000});
//   td::Tensor labels = td::random::uniform_int({8, 1}, 0, 1000), inputs = td::ones({8, 16});
//   td::Tensor loss = td::nn::sampled_softmax_loss(weights, biases, labels, inputs, 20, 1000);
//   auto drawn = td::random::log_uniform_candidate_sampler(labels, 1, 20, true, 1000);
#pragma once

#include <tidemark/tensor.h>

#include <optional>
#include <vector>

namespace tidemark {

namespace random {

/// Classes, int64 [num_sampled], and how often each of them and of the true ones is expected.
struct Candidates {
  Tensor sampled_candidates, true_expected_count, sampled_expected_count;
};
/// With equal probabilities. `true_classes` is [batch, num_true]; `unique`: no class twice.
TIDEMARK_API Candidates uniform_candidate_sampler(const Tensor& true_classes, int64_t num_true,
                                                  int64_t num_sampled, bool unique,
                                                  int64_t range_max,
                                                  std::optional<int64_t> seed = std::nullopt);
/// As words sorted by how frequent they are come.
TIDEMARK_API Candidates log_uniform_candidate_sampler(const Tensor& true_classes, int64_t num_true,
                                                      int64_t num_sampled, bool unique,
                                                      int64_t range_max,
                                                      std::optional<int64_t> seed = std::nullopt);
struct UnigramOptions {
  std::vector<double> unigrams;  // how frequent each class is, after the reserved ones
  double distortion = 1;         // to whose power
  int64_t num_reserved_ids = 0;  // never drawn
  std::optional<int64_t> seed = std::nullopt;
};
/// With the frequencies given.
TIDEMARK_API Candidates fixed_unigram_candidate_sampler(const Tensor& true_classes,
                                                        int64_t num_true, int64_t num_sampled,
                                                        bool unique, int64_t range_max,
                                                        const UnigramOptions& options);
/// All classes, each expected once.
TIDEMARK_API Candidates all_candidate_sampler(const Tensor& true_classes, int64_t num_true,
                                              int64_t num_sampled, bool unique);

}  // namespace random

namespace nn {

using random::all_candidate_sampler;
using random::fixed_unigram_candidate_sampler;

struct SampledLossOptions {
  int64_t num_true = 1;
  std::optional<random::Candidates> sampled_values = std::nullopt;  // none: log-uniform ones
  std::optional<bool> remove_accidental_hits = std::nullopt;  // none: in the softmax, not in nce
  std::optional<int64_t> seed = std::nullopt;
};
/// The cross-entropy of a softmax over the true classes and some sampled ones, for each row of
/// inputs [batch, size]. Weights are [classes, size], biases [classes], labels [batch, num_true].
TIDEMARK_API Tensor sampled_softmax_loss(const Tensor& weights, const Tensor& biases,
                                         const Tensor& labels, const Tensor& inputs,
                                         int64_t num_sampled, int64_t num_classes,
                                         const SampledLossOptions& options = {});
/// Noise-contrastive estimation: true classes against sampled ones, each by itself.
TIDEMARK_API Tensor nce_loss(const Tensor& weights, const Tensor& biases, const Tensor& labels,
                             const Tensor& inputs, int64_t num_sampled, int64_t num_classes,
                             const SampledLossOptions& options = {});

/// Where a sampled class is one of the true ones: rows, samples, and weights as good as -infinity.
struct AccidentalHits {
  Tensor indices, ids, weights;
};
TIDEMARK_API AccidentalHits compute_accidental_hits(const Tensor& true_classes,
                                                    const Tensor& sampled_candidates,
                                                    int64_t num_true);

}  // namespace nn
}  // namespace tidemark
