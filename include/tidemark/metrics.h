// Metrics, as Keras has them: what is seen so far, one number.
//
//   td::metrics::SparseCategoricalAccuracy accuracy;
//   for (auto batch : tests) accuracy.update(batch[1], model(batch[0]));
//   std::cout << accuracy.result();
//   accuracy.reset();
//
// They keep their sums in variables, so that updates inside of a function count.
#pragma once

#include <tidemark/losses.h>
#include <tidemark/variable.h>

#include <functional>

namespace tidemark::metrics {

/// The mean of all values seen, or of all weighted values.
class TIDEMARK_API Mean {
 public:
  Mean();
  /// Each row counts once: of more dimensions the mean of the others counts.
  void update(const Tensor& values, const Tensor& sample_weight = {}) const;
  /// A scalar; 0 where nothing was seen.
  Tensor result() const;
  void reset() const;

 private:
  Variable total_, count_;
};

/// The mean of what a function gives for labels and predictions.
class TIDEMARK_API MeanOf {
 public:
  using Function = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  explicit MeanOf(Function function) : function_(std::move(function)) {}
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) const;
  Tensor result() const { return mean_.result(); }
  void reset() const { mean_.reset(); }

 private:
  Function function_;
  Mean mean_;
};

/// How many predictions are the label.
struct TIDEMARK_API Accuracy : MeanOf {
  Accuracy();
};
/// How many predictions lie on the label's side of the threshold.
struct TIDEMARK_API BinaryAccuracy : MeanOf {
  explicit BinaryAccuracy(double threshold = 0.5);
};
/// In how many rows the greatest prediction is at the greatest label.
struct TIDEMARK_API CategoricalAccuracy : MeanOf {
  CategoricalAccuracy();
};
/// In how many rows the greatest prediction is at the label, an integer.
struct TIDEMARK_API SparseCategoricalAccuracy : MeanOf {
  SparseCategoricalAccuracy();
};
/// In how many rows the label is among the k greatest predictions.
struct TIDEMARK_API SparseTopKCategoricalAccuracy : MeanOf {
  explicit SparseTopKCategoricalAccuracy(int64_t k = 5);
};
/// The same of labels that are rows of classes, of which the greatest is the label.
struct TIDEMARK_API TopKCategoricalAccuracy : MeanOf {
  explicit TopKCategoricalAccuracy(int64_t k = 5);
};

// What <tidemark/losses.h> gives for each row.
struct TIDEMARK_API MeanSquaredError : MeanOf {
  MeanSquaredError();
};
struct TIDEMARK_API MeanAbsoluteError : MeanOf {
  MeanAbsoluteError();
};
struct TIDEMARK_API MeanAbsolutePercentageError : MeanOf {
  MeanAbsolutePercentageError();
};
struct TIDEMARK_API MeanSquaredLogarithmicError : MeanOf {
  MeanSquaredLogarithmicError();
};
struct TIDEMARK_API LogCoshError : MeanOf {
  LogCoshError();
};
/// The cosine of the angle between them; unlike the loss of this name, not minus it.
struct TIDEMARK_API CosineSimilarity : MeanOf {
  CosineSimilarity();
};
struct TIDEMARK_API KLDivergence : MeanOf {
  KLDivergence();
};
struct TIDEMARK_API Poisson : MeanOf {
  Poisson();
};
struct TIDEMARK_API Hinge : MeanOf {
  Hinge();
};
struct TIDEMARK_API SquaredHinge : MeanOf {
  SquaredHinge();
};
struct TIDEMARK_API CategoricalHinge : MeanOf {
  CategoricalHinge();
};
struct TIDEMARK_API BinaryCrossentropy : MeanOf {
  explicit BinaryCrossentropy(losses::CrossentropyOptions options = {});
};
struct TIDEMARK_API CategoricalCrossentropy : MeanOf {
  explicit CategoricalCrossentropy(losses::CrossentropyOptions options = {});
};
struct TIDEMARK_API SparseCategoricalCrossentropy : MeanOf {
  explicit SparseCategoricalCrossentropy(losses::SparseCrossentropyOptions options = {});
};

/// The root of the mean of all squared differences.
class TIDEMARK_API RootMeanSquaredError {
 public:
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) const;
  Tensor result() const;
  void reset() const { mean_.reset(); }

 private:
  Mean mean_;
};

/// Of what was predicted to be true, how much is.
class TIDEMARK_API Precision {
 public:
  explicit Precision(double threshold = 0.5);
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) const;
  Tensor result() const;
  void reset() const;

 private:
  double threshold_;
  Variable true_positives_, false_positives_;
};

/// Of what is true, how much was predicted to be.
class TIDEMARK_API Recall {
 public:
  explicit Recall(double threshold = 0.5);
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) const;
  Tensor result() const;
  void reset() const;

 private:
  double threshold_;
  Variable true_positives_, false_negatives_;
};

/// The area under the curve of recall over false positives, as sums of trapezoids between
/// `num_thresholds` thresholds on [0, 1].
class TIDEMARK_API AUC {
 public:
  explicit AUC(int64_t num_thresholds = 200);
  void update(const Tensor& y_true, const Tensor& y_pred, const Tensor& sample_weight = {}) const;
  Tensor result() const;
  void reset() const;

 private:
  Tensor thresholds_;
  /// At each threshold: what is true, what is not, and how much of each is predicted to be true.
  Variable positives_, negatives_, true_positives_, false_positives_;
};

}  // namespace tidemark::metrics
