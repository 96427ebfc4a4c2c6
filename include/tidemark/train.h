// fit: training as Keras's Model.fit, over a step that is traced and planned.
//
//   td::train::History history = td::train::fit(model, batches, {
//       .loss = td::losses::SparseCategoricalCrossentropy({.from_logits = true}),
//       .optimizer = td::optimizers::Adam({.learning_rate = 1e-3}),
//       .metrics = {{"accuracy", td::metrics::SparseCategoricalAccuracy()}},
//       .epochs = 3,
//       .validation = tests,
//       .callbacks = {td::train::early_stopping({.patience = 2}),
//                     td::train::checkpoints("run"), td::train::tensorboard("logs")},
//       .memory_budget = td::MiB(40)});
//   double accuracy = history.back().at("val_accuracy");
//
// Elements of a pipeline are (inputs, labels) or (inputs, labels, weights of the rows).
#pragma once

#include <tidemark/data.h>
#include <tidemark/losses.h>
#include <tidemark/metrics.h>
#include <tidemark/module.h>
#include <tidemark/optimizers.h>

#include <concepts>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::train {

/// "loss", "accuracy", "val_loss", …: the numbers of an epoch.
using Logs = std::map<std::string, double>;
/// One each epoch that was trained.
using History = std::vector<Logs>;

/// Any metric that has update, result and reset, under a name.
class TIDEMARK_API Metric {
 public:
  template <class M>
  requires requires(const M& m, const Tensor& t) {
    m.update(t, t, t);
    { m.result() } -> std::convertible_to<Tensor>;
    m.reset();
  }
  Metric(std::string name, M metric)
      : name_(std::move(name)),
        update_([metric](const Tensor& wanted, const Tensor& found, const Tensor& weights) {
          metric.update(wanted, found, weights);
        }),
        result_([metric] { return metric.result(); }),
        reset_([metric] { metric.reset(); }) {}

  const std::string& name() const { return name_; }
  void update(const Tensor& wanted, const Tensor& found, const Tensor& weights) const {
    update_(wanted, found, weights);
  }
  double result() const;
  void reset() const { reset_(); }

 private:
  std::string name_;
  std::function<void(const Tensor&, const Tensor&, const Tensor&)> update_;
  std::function<Tensor()> result_;
  std::function<void()> reset_;
};

/// Any optimizer, kept as it is.
class TIDEMARK_API AnyOptimizer {
 public:
  AnyOptimizer() = default;  // none
  template <std::derived_from<optimizers::Optimizer> O>
  AnyOptimizer(O optimizer) : held_(std::make_shared<O>(std::move(optimizer))) {}
  explicit operator bool() const { return held_ != nullptr; }
  const optimizers::Optimizer& operator*() const { return *held_; }
  const optimizers::Optimizer* operator->() const { return held_.get(); }

 private:
  std::shared_ptr<const optimizers::Optimizer> held_;
};

/// A training that is under way, as callbacks see it.
struct Run {
  nn::Module model;
  AnyOptimizer optimizer;
  int64_t epoch = 0;   // counted from 0
  int64_t step = 0;    // steps done, of all epochs
  Logs logs;           // of the epoch that ended
  bool stops = false;  // set it, and this epoch is the last
};

/// What is called when something happens; what is empty is not.
struct Callback {
  std::function<void(Run&)> on_train_begin = {}, on_epoch_end = {}, on_train_end = {};
  std::function<void(Run&)> on_step_end = {};
};

struct EarlyStoppingOptions {
  std::string monitor = "val_loss";
  double min_delta = 0;
  int64_t patience = 0;       // epochs without an improvement that are waited for
  std::string mode = "auto";  // "min", "max", or by the name: accuracies grow
  std::optional<double> baseline = std::nullopt;
  bool restore_best_weights = false;
  int64_t start_from_epoch = 0;
};
/// Ends the training when a number does not improve any more, as Keras's EarlyStopping.
TIDEMARK_API Callback early_stopping(EarlyStoppingOptions options = {});

struct CheckpointsOptions {
  int64_t max_to_keep = 5;
  bool resume = false;  // begins with the newest one of the folder, if there is one
};
/// Saves model and optimizer after each epoch (<tidemark/checkpoint.h>).
TIDEMARK_API Callback checkpoints(std::string folder, CheckpointsOptions options = {});

/// Writes the numbers of each epoch for TensorBoard, to the folder's train/ and validation/.
TIDEMARK_API Callback tensorboard(std::string folder);

struct FitOptions {
  std::optional<losses::Loss> loss = std::nullopt;  // needed
  AnyOptimizer optimizer = {};                      // needed
  std::vector<Metric> metrics = {};
  int64_t epochs = 1;
  std::optional<data::Pipeline> validation = std::nullopt;
  std::vector<Callback> callbacks = {};
  /// Bytes that a step may take beside the batch; 0: as many as it takes.
  int64_t memory_budget = 0;
  /// Where the plan and the progress go; null: nowhere, unset: the standard output.
  std::optional<std::ostream*> out = std::nullopt;
};

struct EvaluateOptions {
  std::optional<losses::Loss> loss = std::nullopt;  // needed
  std::vector<Metric> metrics = {};
};

namespace detail {
using Forward = std::function<Tensor(const Tensor&)>;
/// `caller`: the line that all they compute is listed under.
TIDEMARK_API History fit(const nn::Module& model, const Forward& forward,
                         const data::Pipeline& batches, const FitOptions& options,
                         const void* caller);
TIDEMARK_API Logs evaluate(const nn::Module& model, const Forward& forward,
                           const data::Pipeline& batches, const EvaluateOptions& options,
                           const void* caller);
}  // namespace detail

template <class M>
concept Trainable =
    std::derived_from<M, nn::Module> && std::is_invocable_r_v<Tensor, const M&, const Tensor&>;

/// Trains the model, which is in training afterwards. Throws InvalidArgumentError where loss or
/// optimizer are missing or an element has another number of tensors, and ResourceExhaustedError
/// where no plan fits the budget; before the first step in each case.
/// Not inlined, so that the return address is a place in the caller's code.
template <Trainable M>
[[gnu::noinline]] History fit(const M& model, const data::Pipeline& batches,
                              const FitOptions& options) {
  return detail::fit(
      model, [model](const Tensor& x) { return model(x); }, batches, options,
      __builtin_return_address(0));
}

/// Loss and metrics of all batches, in evaluation. The model trains again afterwards if it did.
template <Trainable M>
[[gnu::noinline]] Logs evaluate(const M& model, const data::Pipeline& batches,
                                const EvaluateOptions& options) {
  return detail::evaluate(
      model, [model](const Tensor& x) { return model(x); }, batches, options,
      __builtin_return_address(0));
}

}  // namespace tidemark::train
