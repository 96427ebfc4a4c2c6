// Losses, as Keras has them.
//
//   td::losses::SparseCategoricalCrossentropy loss({.from_logits = true});
//   td::Tensor mean = loss(labels, model(x));                       // a scalar
//   td::Tensor each = td::losses::mean_squared_error(wanted, y);    // one number a row
//
// The functions give one number for each row; the classes the mean of these, or of these times
// weights.
#pragma once

#include <tidemark/tensor.h>

#include <functional>

namespace tidemark::losses {

struct CrossentropyOptions {
  bool from_logits = false;
  double label_smoothing = 0;
};
struct SparseCrossentropyOptions {
  bool from_logits = false;
};

TIDEMARK_API Tensor mean_squared_error(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor mean_absolute_error(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor mean_absolute_percentage_error(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor mean_squared_logarithmic_error(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor huber(const Tensor& y_true, const Tensor& y_pred, double delta = 1);
TIDEMARK_API Tensor log_cosh(const Tensor& y_true, const Tensor& y_pred);
/// Minus the cosine of the angle between them.
TIDEMARK_API Tensor cosine_similarity(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor kl_divergence(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor poisson(const Tensor& y_true, const Tensor& y_pred);
/// Labels are -1 and 1, or 0 and 1.
TIDEMARK_API Tensor hinge(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor squared_hinge(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor categorical_hinge(const Tensor& y_true, const Tensor& y_pred);
TIDEMARK_API Tensor binary_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                        const CrossentropyOptions& options = {});
TIDEMARK_API Tensor categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                             const CrossentropyOptions& options = {});
/// Labels are integers.
TIDEMARK_API Tensor sparse_categorical_crossentropy(const Tensor& y_true, const Tensor& y_pred,
                                                    const SparseCrossentropyOptions& options = {});

/// The mean over all rows of what a function gives for each, or of that times the rows' weights.
class TIDEMARK_API Loss {
 public:
  using Function = std::function<Tensor(const Tensor& y_true, const Tensor& y_pred)>;
  explicit Loss(Function function) : function_(std::move(function)) {}
  Tensor operator()(const Tensor& y_true, const Tensor& y_pred,
                    const Tensor& sample_weight = {}) const;

 private:
  Function function_;
};

struct MeanSquaredError : Loss {
  MeanSquaredError() : Loss(mean_squared_error) {}
};
struct MeanAbsoluteError : Loss {
  MeanAbsoluteError() : Loss(mean_absolute_error) {}
};
struct MeanAbsolutePercentageError : Loss {
  MeanAbsolutePercentageError() : Loss(mean_absolute_percentage_error) {}
};
struct MeanSquaredLogarithmicError : Loss {
  MeanSquaredLogarithmicError() : Loss(mean_squared_logarithmic_error) {}
};
struct Huber : Loss {
  explicit Huber(double delta = 1)
      : Loss([delta](const Tensor& t, const Tensor& p) { return huber(t, p, delta); }) {}
};
struct LogCosh : Loss {
  LogCosh() : Loss(log_cosh) {}
};
struct CosineSimilarity : Loss {
  CosineSimilarity() : Loss(cosine_similarity) {}
};
struct KLDivergence : Loss {
  KLDivergence() : Loss(kl_divergence) {}
};
struct Poisson : Loss {
  Poisson() : Loss(poisson) {}
};
struct Hinge : Loss {
  Hinge() : Loss(hinge) {}
};
struct SquaredHinge : Loss {
  SquaredHinge() : Loss(squared_hinge) {}
};
struct CategoricalHinge : Loss {
  CategoricalHinge() : Loss(categorical_hinge) {}
};
struct BinaryCrossentropy : Loss {
  explicit BinaryCrossentropy(CrossentropyOptions o = {})
      : Loss([o](const Tensor& t, const Tensor& p) { return binary_crossentropy(t, p, o); }) {}
};
struct CategoricalCrossentropy : Loss {
  explicit CategoricalCrossentropy(CrossentropyOptions o = {})
      : Loss([o](const Tensor& t, const Tensor& p) { return categorical_crossentropy(t, p, o); }) {}
};
struct SparseCategoricalCrossentropy : Loss {
  explicit SparseCategoricalCrossentropy(SparseCrossentropyOptions o = {})
      : Loss([o](const Tensor& t, const Tensor& p) {
          return sparse_categorical_crossentropy(t, p, o);
        }) {}
};

}  // namespace tidemark::losses
