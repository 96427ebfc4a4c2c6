// Optimizers, as Keras has them: they change variables by their gradients, eagerly or inside of a
// function.
//
//   td::optimizers::Adam adam({.learning_rate = 1e-3, .common = {.global_clipnorm = 1.0}});
//   auto step = td::function([&](td::Tensor x, td::Tensor y) {
//     td::GradientTape tape;
//     td::Tensor loss = td::reduce_mean(td::nn::sparse_softmax_cross_entropy(y, model(x)));
//     adam.apply(tape.gradient(loss, model.parameters()), model.parameters());
//     return loss;
//   });
//
// Handles, as tensors are: copies share what they keep for the variables (moments, averages). It is
// made by the first step, for the variables of that step; a later one may leave some out.
#pragma once

#include <tidemark/variable.h>

#include <concepts>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace tidemark::optimizers {

/// How the learning rate follows from the number of steps done, an int64 scalar.
using Schedule = std::function<Tensor(const Tensor& step)>;

/// A number, which can be set later, or a schedule.
class TIDEMARK_API LearningRate {
 public:
  LearningRate(double value) : value_(value) {}
  template <std::invocable<const Tensor&> F>
  LearningRate(F schedule) : schedule_(std::move(schedule)) {}
  double value() const { return value_; }
  const Schedule& schedule() const { return schedule_; }  // empty: a number

 private:
  double value_ = 0;
  Schedule schedule_;
};

namespace schedules {

/// rate * decay_rate ^ (step / decay_steps); `staircase`: by whole powers.
struct ExponentialDecayOptions {
  bool staircase = false;
};
TIDEMARK_API Schedule ExponentialDecay(double rate, double decay_steps, double decay_rate,
                                       ExponentialDecayOptions options = {});
/// rate / (1 + decay_rate * step / decay_steps).
TIDEMARK_API Schedule InverseTimeDecay(double rate, double decay_steps, double decay_rate,
                                       ExponentialDecayOptions options = {});
struct PolynomialDecayOptions {
  double end_learning_rate = 1e-4;
  double power = 1;
};
TIDEMARK_API Schedule PolynomialDecay(double rate, double decay_steps,
                                      PolynomialDecayOptions options = {});
/// values[i] up to and with step boundaries[i], the last value afterwards.
TIDEMARK_API Schedule PiecewiseConstantDecay(std::vector<int64_t> boundaries,
                                             std::vector<double> values);
struct CosineDecayOptions {
  double alpha = 0;                                    // what is left in the end, as a part
  std::optional<double> warmup_target = std::nullopt;  // first up to it, linearly, …
  double warmup_steps = 0;                             // … in so many steps
};
TIDEMARK_API Schedule CosineDecay(double rate, double decay_steps, CosineDecayOptions options = {});

}  // namespace schedules

/// What every optimizer can do. Of the clippings the first that is given is done.
struct CommonOptions {
  std::optional<double> weight_decay = std::nullopt;
  std::optional<double> clipnorm = std::nullopt;         // of each gradient
  std::optional<double> global_clipnorm = std::nullopt;  // of all together
  std::optional<double> clipvalue = std::nullopt;        // of each element
  bool use_ema = false;                                  // averages are kept: average_of()
  double ema_momentum = 0.99;
  std::optional<double> loss_scale_factor = std::nullopt;
  /// A factor that follows the gradients, for float16: a step whose gradients are not finite is
  /// left out and halves it; after so many good ones in a row (0: none, the factor stays away) it
  /// doubles.
  int64_t dynamic_scale_growth_steps = 0;
  double initial_scale = 32768;
  /// Variables change once in so many steps, by the mean of the gradients.
  std::optional<int64_t> gradient_accumulation_steps = std::nullopt;
};

class TIDEMARK_API Optimizer {
 public:
  virtual ~Optimizer();
  Optimizer(const Optimizer&) = default;
  Optimizer& operator=(const Optimizer&) = default;

  /// One step. A gradient that is an empty handle leaves its variable alone. Throws
  /// InvalidArgumentError where their numbers differ, no variable has a gradient or one was not
  /// there in the first step; nothing is changed then.
  void apply(std::vector<Tensor> gradients, const std::vector<Variable>& variables) const;

  /// Makes what the first step would make for these variables, and changes none of them: a
  /// checkpoint can be restored then.
  void build(const std::vector<Variable>& variables) const;

  /// How many times apply was called, an int64 scalar.
  Variable iterations() const;
  /// The rate of the next step.
  Tensor learning_rate() const;
  /// Throws FailedPreconditionError where it follows a schedule.
  void set_learning_rate(double rate) const;
  /// The loss as gradients should be taken of it, where there is a loss_scale_factor.
  Tensor scale_loss(const Tensor& loss) const;
  /// The exponential average of the variable (use_ema). Throws NotFoundError without one.
  Tensor average_of(const Variable& variable) const;
  /// All that it keeps, in the order in which it was made: what a checkpoint holds.
  std::vector<Variable> variables() const;

 protected:
  Optimizer(LearningRate rate, CommonOptions options);
  /// Changes one variable by its gradient. `rate` and `step`, the number of this step counted from
  /// 1, are scalars of the variable's dtype.
  virtual void update(Variable variable, const Tensor& gradient, const Tensor& rate,
                      const Tensor& step) const = 0;
  /// What is kept under this name for the variable: of its shape, or the one given, filled with
  /// `initial`.
  Variable kept(const Variable& variable, const char* name, double initial = 0,
                const std::optional<Shape>& shape = std::nullopt) const;
  bool has_schedule() const;

 private:
  struct State;
  struct Pair {
    Tensor gradient;
    Variable variable;
  };
  std::vector<Pair> checked(std::vector<Tensor> gradients,
                            const std::vector<Variable>& variables) const;
  /// How many times the variables were changed.
  Tensor updates_done() const;
  void step(std::vector<Pair> pairs) const;
  void step_if_finite(std::vector<Pair> pairs) const;
  void change(std::vector<Pair> pairs) const;
  void accumulate(std::vector<Pair> pairs, int64_t steps) const;
  void average() const;

  std::shared_ptr<State> state_;
};

struct SGDOptions {
  LearningRate learning_rate = 0.01;
  double momentum = 0;
  bool nesterov = false;
  CommonOptions common = {};
};
class TIDEMARK_API SGD : public Optimizer {
 public:
  explicit SGD(const SGDOptions& options = {});

 protected:
  void update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const override;

 private:
  double momentum_;
  bool nesterov_;
};

/// SGD with a momentum, of 0.9 unless said otherwise.
struct TIDEMARK_API Momentum : SGD {
  explicit Momentum(const SGDOptions& options = {.momentum = 0.9}) : SGD(options) {}
};

struct AdamOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.999;
  double epsilon = 1e-7;
  bool amsgrad = false;
  CommonOptions common = {};
};
class TIDEMARK_API Adam : public Optimizer {
 public:
  explicit Adam(const AdamOptions& options = {});

 protected:
  void update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const override;

 private:
  double beta_1_, beta_2_, epsilon_;
  bool amsgrad_;
};
/// Adam with weights that decay by 0.004 unless said otherwise.
class TIDEMARK_API AdamW : public Adam {
 public:
  explicit AdamW(AdamOptions options = {});
};

struct RMSpropOptions {
  LearningRate learning_rate = 0.001;
  double rho = 0.9;
  double momentum = 0;
  double epsilon = 1e-7;
  bool centered = false;
  CommonOptions common = {};
};
class TIDEMARK_API RMSprop : public Optimizer {
 public:
  explicit RMSprop(const RMSpropOptions& options = {});

 protected:
  void update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const override;

 private:
  double rho_, momentum_, epsilon_;
  bool centered_;
};

struct AdagradOptions {
  LearningRate learning_rate = 0.001;
  double initial_accumulator_value = 0.1;
  double epsilon = 1e-7;
  CommonOptions common = {};
};
class TIDEMARK_API Adagrad : public Optimizer {
 public:
  explicit Adagrad(const AdagradOptions& options = {});

 protected:
  void update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const override;

 private:
  double initial_, epsilon_;
};

struct LionOptions {
  LearningRate learning_rate = 0.001;
  double beta_1 = 0.9;
  double beta_2 = 0.99;
  CommonOptions common = {};
};
class TIDEMARK_API Lion : public Optimizer {
 public:
  explicit Lion(const LionOptions& options = {});

 protected:
  void update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const override;

 private:
  double beta_1_, beta_2_;
};

struct AdafactorOptions {
  LearningRate learning_rate = 0.001;
  double beta_2_decay = -0.8;
  double epsilon_1 = 1e-30;
  double epsilon_2 = 1e-3;
  double clip_threshold = 1;
  bool relative_step = true;
  CommonOptions common = {};
};
/// Of a matrix it keeps a number a row and a number a column, where Adam keeps two an element.
class TIDEMARK_API Adafactor : public Optimizer {
 public:
  explicit Adafactor(const AdafactorOptions& options = {});

 protected:
  void update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const override;

 private:
  double beta_2_decay_, epsilon_1_, epsilon_2_, clip_threshold_;
  bool relative_step_;
};

}  // namespace tidemark::optimizers
