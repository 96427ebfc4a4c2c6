// How each optimizer changes one variable; in the order and by the formulas of Keras.

#include <tidemark/call.h>
#include <tidemark/ops.h>
#include <tidemark/optimizers.h>

#include "tidemark/nn/scalars.h"

namespace tidemark::optimizers {

using nn::number;

SGD::SGD(const SGDOptions& options)
    : Optimizer(options.learning_rate, options.common),
      momentum_(options.momentum),
      nesterov_(options.nesterov) {}

void SGD::update(Variable v, const Tensor& g, const Tensor& rate, const Tensor&) const {
  const Tensor change = g * rate;
  if (momentum_ == 0) return v.assign_sub(change);
  Variable m = kept(v, "momentum");
  const Tensor part = number(momentum_, g);
  m.assign(m * part - change);
  v.assign_add(nesterov_ ? m * part - change : m.operand());
}

Adam::Adam(const AdamOptions& options)
    : Optimizer(options.learning_rate, options.common),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2),
      epsilon_(options.epsilon),
      amsgrad_(options.amsgrad) {}

void Adam::update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const {
  Variable m = kept(v, "momentum"), s = kept(v, "velocity");
  const Tensor one = number(1, g);
  const Tensor bias_1 = one - pow(number(beta_1_, g), step);
  const Tensor bias_2 = one - pow(number(beta_2_, g), step);
  const Tensor alpha = rate * sqrt(bias_2) / bias_1;
  m.assign_add((g - m) * number(1 - beta_1_, g));
  s.assign_add((square(g) - s) * number(1 - beta_2_, g));
  if (amsgrad_) {
    Variable greatest = kept(v, "velocity_hat");
    greatest.assign(maximum(greatest, s));
    s = greatest;
  }
  v.assign_sub(m * alpha / (sqrt(s) + number(epsilon_, g)));
}

namespace {

AdamOptions with_decay(AdamOptions options) {
  if (!options.common.weight_decay) options.common.weight_decay = 0.004;
  return options;
}

}  // namespace

AdamW::AdamW(AdamOptions options) : Adam(with_decay(std::move(options))) {}

RMSprop::RMSprop(const RMSpropOptions& options)
    : Optimizer(options.learning_rate, options.common),
      rho_(options.rho),
      momentum_(options.momentum),
      epsilon_(options.epsilon),
      centered_(options.centered) {}

void RMSprop::update(Variable v, const Tensor& g, const Tensor& rate, const Tensor&) const {
  Variable s = kept(v, "velocity");
  const Tensor rho = number(rho_, g), rest = number(1 - rho_, g);
  s.assign(rho * s + rest * square(g));
  Tensor spread = s.operand();
  if (centered_) {
    Variable average = kept(v, "average_gradient");
    average.assign(rho * average + rest * g);
    spread = spread - square(average);
  }
  const Tensor change = rate * g / sqrt(spread + number(epsilon_, g));
  if (momentum_ <= 0) return v.assign_sub(change);
  Variable m = kept(v, "momentum");
  m.assign(number(momentum_, g) * m + change);
  v.assign_sub(m);
}

Adagrad::Adagrad(const AdagradOptions& options)
    : Optimizer(options.learning_rate, options.common),
      initial_(options.initial_accumulator_value),
      epsilon_(options.epsilon) {}

void Adagrad::update(Variable v, const Tensor& g, const Tensor& rate, const Tensor&) const {
  Variable s = kept(v, "accumulator", initial_);
  s.assign_add(square(g));
  v.assign_sub(rate * g / sqrt(s + number(epsilon_, g)));
}

Lion::Lion(const LionOptions& options)
    : Optimizer(options.learning_rate, options.common),
      beta_1_(options.beta_1),
      beta_2_(options.beta_2) {}

void Lion::update(Variable v, const Tensor& g, const Tensor& rate, const Tensor&) const {
  Variable m = kept(v, "momentum");
  v.assign_sub(rate * sign(m * number(beta_1_, g) + g * number(1 - beta_1_, g)));
  m.assign(m * number(beta_2_, g) + g * number(1 - beta_2_, g));
}

Adafactor::Adafactor(const AdafactorOptions& options)
    : Optimizer(options.learning_rate, options.common),
      beta_2_decay_(options.beta_2_decay),
      epsilon_1_(options.epsilon_1),
      epsilon_2_(options.epsilon_2),
      clip_threshold_(options.clip_threshold),
      relative_step_(options.relative_step) {}

namespace {

Tensor root_mean_square(const Tensor& x) { return sqrt(mean(square(x))); }

}  // namespace

void Adafactor::update(Variable v, const Tensor& g, const Tensor& rate, const Tensor& step) const {
  const Tensor one = number(1, g), least = one / sqrt(step);
  const Tensor by_step = relative_step_ && !has_schedule() ? minimum(rate, least) : rate;
  const Tensor alpha =
      maximum(number(epsilon_2_, g), root_mean_square(v)) * minimum(by_step, least);
  const Tensor squares = square(g) + number(epsilon_1_, g);
  const Tensor old = one - pow(step, number(beta_2_decay_, g)), fresh = one - old;
  Tensor spread;
  if (v.shape().rank() >= 2) {
    Shape rows = v.shape(), columns = v.shape();
    rows.erase(rows.rank() - 1);
    columns.erase(columns.rank() - 2);
    Variable r = kept(v, "row", 0, rows), c = kept(v, "column", 0, columns);
    r.assign(old * r + fresh * mean(squares, Ints{-1}));
    c.assign(old * c + fresh * mean(squares, Ints{-2}));
    spread = expand_dims(r / mean(r, Ints{-1}, true), -1) * expand_dims(c, -2);
  } else {
    Variable s = kept(v, "velocity");
    s.assign(old * s + fresh * squares);
    spread = s.operand();
  }
  const Tensor u = g / sqrt(spread);
  const Tensor length = maximum(one, root_mean_square(u) / number(clip_threshold_, g));
  v.assign_sub(alpha * (u / length));
}

}  // namespace tidemark::optimizers
