// What all optimizers share: a step, the learning rate, clipping, decay, accumulation, averages.

#include <tidemark/call.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>
#include <tidemark/optimizers.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "tidemark/nn/building.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/trace/builder.h"

namespace tidemark::optimizers {

using nn::number;

struct Optimizer::State {
  CommonOptions options;
  Schedule schedule;
  Variable rate, iterations;
  Variable scale, good_steps;  // of a loss scale that follows the gradients
  std::mutex making;
  std::vector<Variable> known;  // those of the first step
  std::map<std::pair<uint64_t, std::string_view>, Variable> kept;
  std::vector<Variable> in_order;  // of `kept`
};

Optimizer::Optimizer(LearningRate rate, CommonOptions options) : state_(std::make_shared<State>()) {
  const NoHandlers now;
  state_->options = options;
  state_->schedule = rate.schedule();
  state_->rate = Variable(Tensor(static_cast<float>(rate.value())),
                          {.name = "learning_rate", .trainable = false});
  state_->iterations = Variable(Tensor(int64_t{0}), {.name = "iterations", .trainable = false});
  if (options.dynamic_scale_growth_steps < 0 || !(options.initial_scale > 0)) {
    fail<InvalidArgumentError>("[optimizer] `dynamic_scale_growth_steps` is 0 (none) or more, and ",
                               "`initial_scale` positive. Received: ",
                               options.dynamic_scale_growth_steps, " and ", options.initial_scale);
  }
  if (options.dynamic_scale_growth_steps > 0) {
    state_->scale = Variable(Tensor(static_cast<float>(options.initial_scale)),
                             {.name = "dynamic_scale", .trainable = false});
    state_->good_steps = Variable(Tensor(int64_t{0}), {.name = "step_counter", .trainable = false});
  }
  if (options.gradient_accumulation_steps && *options.gradient_accumulation_steps < 1) {
    fail<InvalidArgumentError>(
        "[optimizer] `gradient_accumulation_steps` must be positive. Received: ",
        *options.gradient_accumulation_steps);
  }
}

Optimizer::~Optimizer() = default;

namespace {

bool has_dynamic_scale(const CommonOptions& options) {
  return options.dynamic_scale_growth_steps > 0;
}

}  // namespace

Variable Optimizer::iterations() const { return state_->iterations; }
bool Optimizer::has_schedule() const { return static_cast<bool>(state_->schedule); }

Tensor Optimizer::learning_rate() const {
  TIDEMARK_HERE;
  if (has_schedule()) return state_->schedule(state_->iterations.operand());
  return state_->rate.operand();
}

void Optimizer::set_learning_rate(double rate) const {
  if (has_schedule()) {
    fail<FailedPreconditionError>(
        "[optimizer] the learning rate follows a schedule and cannot be set; make the optimizer "
        "with a number instead");
  }
  Variable(state_->rate).assign(Tensor(static_cast<float>(rate)));
}

Tensor Optimizer::scale_loss(const Tensor& loss) const {
  TIDEMARK_HERE;
  if (state_->scale) return loss * cast(state_->scale, loss.dtype());
  const std::optional<double>& scale = state_->options.loss_scale_factor;
  return scale ? loss * number(*scale, loss) : loss;
}

Variable Optimizer::kept(const Variable& variable, const char* name, double initial,
                         const std::optional<Shape>& shape) const {
  const std::lock_guard hold(state_->making);
  Variable& found = state_->kept[{variable.id(), name}];
  if (!found) {
    const NoHandlers now;
    const Tensor value = cast(Tensor(initial), variable.dtype());
    found = Variable(full(shape.value_or(variable.shape()), value),
                     {.name = variable.name() + "/" + name, .trainable = false});
    state_->in_order.push_back(found);
  }
  return found;
}

std::vector<Variable> Optimizer::variables() const {
  const std::lock_guard hold(state_->making);
  std::vector<Variable> out = {state_->iterations};
  if (!has_schedule()) out.push_back(state_->rate);
  if (state_->scale) out.insert(out.end(), {state_->scale, state_->good_steps});
  out.insert(out.end(), state_->in_order.begin(), state_->in_order.end());
  return out;
}

std::vector<Optimizer::Pair> Optimizer::checked(std::vector<Tensor> gradients,
                                                const std::vector<Variable>& variables) const {
  if (gradients.size() != variables.size()) {
    fail<InvalidArgumentError>("[optimizer] each variable needs a gradient, if an empty one. ",
                               "Received: ", gradients.size(), " gradients and ", variables.size(),
                               " variables");
  }
  const std::lock_guard hold(state_->making);
  if (state_->known.empty()) state_->known = variables;
  std::vector<Pair> out;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const auto is_it = [&](const Variable& other) { return other == variables[i]; };
    if (std::none_of(state_->known.begin(), state_->known.end(), is_it)) {
      fail<InvalidArgumentError>("[optimizer] variable \"", variables[i].name(),
                                 "\" was not among the ", state_->known.size(),
                                 " of the first step; make another optimizer for it");
    }
    if (gradients[i]) out.push_back({std::move(gradients[i]), variables[i]});
  }
  if (out.empty()) {
    fail<InvalidArgumentError>("[optimizer] no gradients for any of the ", variables.size(),
                               " variables: the loss does not depend on them");
  }
  return out;
}

namespace {

Tensor sum_of_squares(const Tensor& x) { return sum(square(x)); }

/// As long as it is, or as `most`.
Tensor with_norm(const Tensor& x, double most) {
  const Tensor limit = number(most, x);
  return x * limit / maximum(sqrt(sum_of_squares(x)), limit);
}

}  // namespace

Tensor Optimizer::updates_done() const {
  const std::optional<int64_t>& each = state_->options.gradient_accumulation_steps;
  const Tensor done = state_->iterations.operand();
  return each ? floordiv(done, Tensor(*each)) : done;
}

void Optimizer::change(std::vector<Pair> pairs) const {
  const CommonOptions& options = state_->options;
  if (options.clipnorm) {
    for (Pair& one : pairs) one.gradient = with_norm(one.gradient, *options.clipnorm);
  } else if (options.global_clipnorm) {
    std::vector<Tensor> parts;
    for (const Pair& one : pairs) parts.push_back(sum_of_squares(one.gradient));
    const Tensor norm = sqrt(add_n(parts)), limit = number(*options.global_clipnorm, norm);
    const Tensor scale = limit / maximum(norm, limit);
    for (Pair& one : pairs) one.gradient = one.gradient * cast(scale, one.gradient.dtype());
  } else if (options.clipvalue) {
    for (Pair& one : pairs) {
      one.gradient = clip_by_value(one.gradient, number(-*options.clipvalue, one.gradient),
                                   number(*options.clipvalue, one.gradient));
    }
  }
  const Tensor rate = learning_rate();
  const Tensor step = updates_done() + int64_t{1};
  for (Pair& one : pairs) {
    const DType dtype = one.variable.dtype();
    const Tensor of_its_dtype = cast(rate, dtype);
    if (options.weight_decay) {
      const Tensor decay = of_its_dtype * number(*options.weight_decay, of_its_dtype);
      one.variable.assign_sub(one.variable * decay);
    }
    update(one.variable, cast(one.gradient, dtype), of_its_dtype, cast(step, dtype));
  }
}

void Optimizer::accumulate(std::vector<Pair> pairs, int64_t steps) const {
  std::vector<Variable> sums;
  for (const Pair& one : pairs) sums.push_back(kept(one.variable, "gradient_accumulator"));
  const Tensor next = state_->iterations.operand() + int64_t{1};
  const Tensor is_last = equal(floormod(next, Tensor(steps)), Tensor(int64_t{0}));
  cond(
      is_last,
      [&] {
        std::vector<Pair> all = pairs;
        for (size_t i = 0; i < all.size(); ++i) {
          const Tensor whole = all[i].gradient + sums[i];
          all[i].gradient = whole / number(static_cast<double>(steps), whole);
        }
        change(std::move(all));
        for (Variable& one : sums) one.assign(zeros(one.shape(), one.dtype()));
        return std::vector<Tensor>{};
      },
      [&] {
        for (size_t i = 0; i < pairs.size(); ++i) sums[i].assign_add(pairs[i].gradient);
        return std::vector<Tensor>{};
      });
}

void Optimizer::average() const {
  const Tensor is_later = not_equal(updates_done(), Tensor(int64_t{0}));
  for (const Variable& variable : state_->known) {
    Variable average = kept(variable, "average");
    const Tensor value = variable.operand();
    const Tensor old = cast(is_later, value.dtype()) * number(state_->options.ema_momentum, value);
    average.assign(old * average + (number(1, value) - old) * value);
  }
}

void Optimizer::apply(std::vector<Tensor> gradients, const std::vector<Variable>& variables) const {
  TIDEMARK_HERE;
  std::vector<Pair> pairs = checked(std::move(gradients), variables);
  if (has_dynamic_scale(state_->options)) {
    step_if_finite(std::move(pairs));
  } else {
    step(std::move(pairs));
  }
}

void Optimizer::step_if_finite(std::vector<Pair> pairs) const {
  std::vector<Tensor> finite;
  for (const Pair& one : pairs) finite.push_back(reduce_all(is_finite(one.gradient)));
  Variable scale = state_->scale, good = state_->good_steps;
  cond(
      reduce_all(stack(finite)),
      [&] {
        std::vector<Pair> unscaled = pairs;
        for (Pair& one : unscaled) one.gradient = one.gradient / cast(scale, one.gradient.dtype());
        step(std::move(unscaled));
        const Tensor count = good + int64_t{1};
        const Tensor grows =
            equal(count, Tensor(int64_t{state_->options.dynamic_scale_growth_steps}));
        scale.assign(select(grows, scale * 2.f, scale.operand()));
        good.assign(select(grows, Tensor(int64_t{0}), count));
        return std::vector<Tensor>{};
      },
      [&] {
        scale.assign(scale * 0.5f);
        good.assign(Tensor(int64_t{0}));
        return std::vector<Tensor>{};
      });
}

void Optimizer::step(std::vector<Pair> pairs) const {
  const CommonOptions& options = state_->options;
  if (options.loss_scale_factor) {
    for (Pair& one : pairs) {
      one.gradient = one.gradient / number(*options.loss_scale_factor, one.gradient);
    }
  }
  if (options.gradient_accumulation_steps) {
    accumulate(std::move(pairs), *options.gradient_accumulation_steps);
  } else {
    change(std::move(pairs));
  }
  if (options.use_ema) average();
  state_->iterations.assign_add(Tensor(int64_t{1}));
}

void Optimizer::build(const std::vector<Variable>& variables) const {
  // A step that is traced and never run: what is kept is made at once, all else is left undone.
  const NoHandlers outside;
  trace::GraphBuilder never_run("build");
  const trace::TraceScope scope(never_run);
  std::vector<Tensor> gradients;
  for (const Variable& one : variables) gradients.push_back(zeros(one.shape(), one.dtype()));
  apply(std::move(gradients), variables);
}

Tensor Optimizer::average_of(const Variable& variable) const {
  TIDEMARK_HERE;
  const std::lock_guard hold(state_->making);
  const auto found = state_->kept.find({variable.id(), "average"});
  if (found == state_->kept.end()) {
    fail<NotFoundError>("[optimizer] there is no average of \"", variable.name(),
                        "\": give .use_ema = true and do a step first");
  }
  return found->second.value();
}

}  // namespace tidemark::optimizers
