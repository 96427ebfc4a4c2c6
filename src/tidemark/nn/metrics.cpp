#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/losses.h>
#include <tidemark/metrics.h>
#include <tidemark/ops.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/same_rank.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::metrics {

namespace {

using nn::Pair;

Variable counter(const char* name) {
  return Variable(Tensor(0.f), {.name = name, .trainable = false});
}

void set_to_zero(std::initializer_list<Variable> counters) {
  for (Variable one : counters) one.assign(Tensor(0.f));
}

Tensor as_float(const Tensor& x) {
  return x.dtype() == DType::float32 ? x : cast(x, DType::float32);
}

/// One number a row: the mean of its others.
Tensor row_means(const Tensor& x) {
  if (x.rank() <= 1) return x;
  Ints others;
  for (int i = 1; i < x.rank(); ++i) others.push_back(i);
  return mean(x, others);
}

/// The labels where the predictions have one more dimension; without a last one of size 1.
Tensor without_column(const Tensor& labels, const Tensor& y_pred) {
  const bool has_column = labels.shape().has_rank() && y_pred.shape().has_rank() &&
                          labels.rank() == y_pred.rank() && labels.rank() > 0 &&
                          labels.dim(-1) == 1;
  return has_column ? squeeze(labels, Ints{-1}) : labels;
}

Tensor found_at(const Tensor& places, const Tensor& y_pred) {
  return as_float(equal(cast(places, DType::int64), argmax(y_pred, -1)));
}

}  // namespace

Mean::Mean() : total_(counter("total")), count_(counter("count")) {}

void Mean::update(const Tensor& values, const Tensor& sample_weight) const {
  TIDEMARK_HERE;
  Variable total = total_, count = count_;
  Tensor each = as_float(values);
  if (!sample_weight) {
    each = row_means(each);
    total.assign_add(sum(each));
    count.assign_add(each.rank() == 0 ? Tensor(1.f) : as_float(nn::first_size(each)));
    return;
  }
  Pair both = nn::same_rank(as_float(sample_weight), std::move(each));
  // A weight of fewer dimensions is that of all elements of its row.
  while (both.y_true.rank() < both.y_pred.rank()) both.y_pred = mean(both.y_pred, Ints{-1});
  total.assign_add(sum(both.y_pred * both.y_true));
  count.assign_add(sum(both.y_true));
}

Tensor Mean::result() const {
  TIDEMARK_HERE;
  return divide_no_nan(total_, count_);
}

void Mean::reset() const { set_to_zero({total_, count_}); }

void MeanOf::update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) const {
  TIDEMARK_HERE;
  mean_.update(function_(y_true, nn::at_least_float32(y_pred)), sample_weight);
}

Accuracy::Accuracy()
    : MeanOf([](const Tensor& t, const Tensor& p) {
        const Pair y = nn::same_kind(t, p);
        return as_float(equal(y.y_true, y.y_pred));
      }) {}

BinaryAccuracy::BinaryAccuracy(double threshold)
    : MeanOf([threshold](const Tensor& t, const Tensor& p) {
        const Pair y = nn::same_kind(t, p);
        const Tensor limit = cast(Tensor(threshold), y.y_pred.dtype());
        return as_float(equal(y.y_true, cast(greater(y.y_pred, limit), y.y_true.dtype())));
      }) {}

CategoricalAccuracy::CategoricalAccuracy()
    : MeanOf([](const Tensor& t, const Tensor& p) { return found_at(argmax(t, -1), p); }) {}

SparseCategoricalAccuracy::SparseCategoricalAccuracy()
    : MeanOf([](const Tensor& t, const Tensor& p) { return found_at(without_column(t, p), p); }) {}

SparseTopKCategoricalAccuracy::SparseTopKCategoricalAccuracy(int64_t k)
    : MeanOf([k](const Tensor& t, const Tensor& p) {
        return as_float(in_top_k(cast(without_column(t, p), DType::int32), p, k));
      }) {}

TopKCategoricalAccuracy::TopKCategoricalAccuracy(int64_t k)
    : MeanOf([k](const Tensor& t, const Tensor& p) {
        return as_float(in_top_k(argmax(t, -1, DType::int32), p, k));
      }) {}

MeanSquaredError::MeanSquaredError() : MeanOf(losses::mean_squared_error) {}
MeanAbsoluteError::MeanAbsoluteError() : MeanOf(losses::mean_absolute_error) {}
MeanAbsolutePercentageError::MeanAbsolutePercentageError()
    : MeanOf(losses::mean_absolute_percentage_error) {}
MeanSquaredLogarithmicError::MeanSquaredLogarithmicError()
    : MeanOf(losses::mean_squared_logarithmic_error) {}
LogCoshError::LogCoshError() : MeanOf(losses::log_cosh) {}
CosineSimilarity::CosineSimilarity()
    : MeanOf([](const Tensor& t, const Tensor& p) { return -losses::cosine_similarity(t, p); }) {}
KLDivergence::KLDivergence() : MeanOf(losses::kl_divergence) {}
Poisson::Poisson() : MeanOf(losses::poisson) {}
Hinge::Hinge() : MeanOf(losses::hinge) {}
SquaredHinge::SquaredHinge() : MeanOf(losses::squared_hinge) {}
CategoricalHinge::CategoricalHinge() : MeanOf(losses::categorical_hinge) {}
BinaryCrossentropy::BinaryCrossentropy(losses::CrossentropyOptions options)
    : MeanOf([options](const Tensor& t, const Tensor& p) {
        return losses::binary_crossentropy(t, p, options);
      }) {}
CategoricalCrossentropy::CategoricalCrossentropy(losses::CrossentropyOptions options)
    : MeanOf([options](const Tensor& t, const Tensor& p) {
        return losses::categorical_crossentropy(t, p, options);
      }) {}
SparseCategoricalCrossentropy::SparseCategoricalCrossentropy(
    losses::SparseCrossentropyOptions options)
    : MeanOf([options](const Tensor& t, const Tensor& p) {
        return losses::sparse_categorical_crossentropy(t, p, options);
      }) {}

void RootMeanSquaredError::update(const Tensor& y_true, const Tensor& y_pred,
                                  const Tensor& sample_weight) const {
  TIDEMARK_HERE;
  const Pair y = nn::same_kind(y_true, y_pred);
  mean_.update(square(y.y_pred - y.y_true), sample_weight);
}

Tensor RootMeanSquaredError::result() const {
  TIDEMARK_HERE;
  return sqrt(mean_.result());
}

namespace {

/// Adds what is true and predicted, and what is one and not the other.
struct Counted {
  Tensor both, other;

  void add_to(Variable both_so_far, Variable other_so_far) const {
    both_so_far.assign_add(both);
    other_so_far.assign_add(other);
  }
};
enum class Other { predicted, wanted };

Counted count_true(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight,
                   double threshold, Other other) {
  const Pair y = nn::same_kind(y_true, y_pred);
  const Tensor wanted = not_equal(y.y_true, cast(Tensor(0.f), y.y_true.dtype()));
  const Tensor predicted = greater(y.y_pred, cast(Tensor(threshold), y.y_pred.dtype()));
  const Tensor& one = other == Other::predicted ? predicted : wanted;
  const Tensor& without = other == Other::predicted ? wanted : predicted;
  Tensor both = as_float(logical_and(wanted, predicted));
  Tensor alone = as_float(logical_and(one, logical_not(without)));
  if (sample_weight) {
    Tensor weight = as_float(sample_weight);
    while (weight.rank() < both.rank()) weight = expand_dims(weight, -1);
    both = both * weight;
    alone = alone * weight;
  }
  return {sum(both), sum(alone)};
}

Tensor part_of(const Variable& both, const Variable& other) {
  return divide_no_nan(both, both + other);
}

}  // namespace

Precision::Precision(double threshold)
    : threshold_(threshold),
      true_positives_(counter("true_positives")),
      false_positives_(counter("false_positives")) {}

void Precision::update(const Tensor& y_true, const Tensor& y_pred,
                       const Tensor& sample_weight) const {
  TIDEMARK_HERE;
  const Counted seen = count_true(y_true, y_pred, sample_weight, threshold_, Other::predicted);
  seen.add_to(true_positives_, false_positives_);
}

Tensor Precision::result() const {
  TIDEMARK_HERE;
  return part_of(true_positives_, false_positives_);
}

void Precision::reset() const { set_to_zero({true_positives_, false_positives_}); }

Recall::Recall(double threshold)
    : threshold_(threshold),
      true_positives_(counter("true_positives")),
      false_negatives_(counter("false_negatives")) {}

void Recall::update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) const {
  TIDEMARK_HERE;
  const Counted seen = count_true(y_true, y_pred, sample_weight, threshold_, Other::wanted);
  seen.add_to(true_positives_, false_negatives_);
}

Tensor Recall::result() const {
  TIDEMARK_HERE;
  return part_of(true_positives_, false_negatives_);
}

void Recall::reset() const { set_to_zero({true_positives_, false_negatives_}); }

namespace {

/// Evenly on [0, 1], the first and the last a little outside, so that all and nothing lie above.
Tensor thresholds_between(int64_t count) {
  if (count < 2) {
    fail<InvalidArgumentError>("[AUC] `num_thresholds` is at least 2. Received: ", count);
  }
  constexpr float kOutside = 1e-7f;
  std::vector<float> all{-kOutside};
  for (int64_t i = 1; i + 1 < count; ++i) {
    all.push_back(static_cast<float>(static_cast<double>(i) / static_cast<double>(count - 1)));
  }
  all.push_back(1 + kOutside);
  return Tensor::of(std::span<const float>(all), {count, 1});
}

}  // namespace

AUC::AUC(int64_t num_thresholds)
    : thresholds_(thresholds_between(num_thresholds)),
      positives_(counter("positives")),
      negatives_(counter("negatives")),
      true_positives_(zeros({num_thresholds}), {.name = "true_positives", .trainable = false}),
      false_positives_(zeros({num_thresholds}), {.name = "false_positives", .trainable = false}) {}

void AUC::update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight) const {
  TIDEMARK_HERE;
  const Pair y = nn::same_kind(y_true, y_pred);
  Tensor weight = sample_weight ? as_float(sample_weight) : Tensor(1.f);
  while (sample_weight && weight.rank() < y.y_pred.rank()) weight = expand_dims(weight, -1);
  const Tensor row = Tensor::of({1, -1});
  const Tensor is_true = not_equal(y.y_true, cast(Tensor(0.f), y.y_true.dtype()));
  const Tensor wanted = reshape(as_float(is_true) * weight, row);
  const Tensor others = reshape(as_float(logical_not(is_true)) * weight, row);
  const Tensor above = as_float(greater(as_float(reshape(y.y_pred, row)), thresholds_));
  Variable(positives_).assign_add(sum(wanted));
  Variable(negatives_).assign_add(sum(others));
  Variable(true_positives_).assign_add(sum(above * wanted, Ints{1}));
  Variable(false_positives_).assign_add(sum(above * others, Ints{1}));
}

Tensor AUC::result() const {
  TIDEMARK_HERE;
  const int64_t pieces = thresholds_.dim(0) - 1;
  const auto from = [&](const Tensor& curve, int64_t first) {
    return slice(curve, Tensor::of<int64_t>({first}), Tensor::of<int64_t>({pieces}));
  };
  const Tensor recall = divide_no_nan(true_positives_, positives_);
  const Tensor fallout = divide_no_nan(false_positives_, negatives_);
  const Tensor heights = (from(recall, 0) + from(recall, 1)) * 0.5f;
  return sum((from(fallout, 0) - from(fallout, 1)) * heights);
}

void AUC::reset() const {
  set_to_zero({positives_, negatives_});
  for (Variable one : {true_positives_, false_positives_}) one.assign(zeros(one.shape()));
}

}  // namespace tidemark::metrics
