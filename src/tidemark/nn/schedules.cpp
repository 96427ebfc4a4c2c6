// Learning rates by the number of steps, as Keras computes them: in float32.

#include <tidemark/call.h>
#include <tidemark/ops.h>
#include <tidemark/optimizers.h>

#include <numbers>

namespace tidemark::optimizers::schedules {

namespace {

Tensor real(double value) { return Tensor(static_cast<float>(value)); }
Tensor as_float(const Tensor& step) { return cast(step, DType::float32); }

/// How often the steps of a decay have passed; `whole`: rounded down.
Tensor passed(const Tensor& step, double decay_steps, bool whole) {
  const Tensor times = as_float(step) / real(decay_steps);
  return whole ? floor(times) : times;
}

void check_steps(std::string_view schedule, double steps) {
  if (steps > 0) return;
  fail<InvalidArgumentError>("[", schedule, "] `decay_steps` must be positive. Received: ", steps);
}

}  // namespace

Schedule ExponentialDecay(double rate, double decay_steps, double decay_rate,
                          ExponentialDecayOptions options) {
  check_steps("ExponentialDecay", decay_steps);
  return [=](const Tensor& step) {
    return real(rate) * pow(real(decay_rate), passed(step, decay_steps, options.staircase));
  };
}

Schedule InverseTimeDecay(double rate, double decay_steps, double decay_rate,
                          ExponentialDecayOptions options) {
  check_steps("InverseTimeDecay", decay_steps);
  return [=](const Tensor& step) {
    return real(rate) /
           (real(1.0) + real(decay_rate) * passed(step, decay_steps, options.staircase));
  };
}

Schedule PolynomialDecay(double rate, double decay_steps, PolynomialDecayOptions options) {
  check_steps("PolynomialDecay", decay_steps);
  return [=](const Tensor& step) {
    const Tensor part = minimum(as_float(step), real(decay_steps)) / real(decay_steps);
    return real(rate - options.end_learning_rate) * pow(real(1.0) - part, real(options.power)) +
           real(options.end_learning_rate);
  };
}

Schedule PiecewiseConstantDecay(std::vector<int64_t> boundaries, std::vector<double> values) {
  if (boundaries.empty() || values.size() != boundaries.size() + 1) {
    fail<InvalidArgumentError>(
        "[PiecewiseConstantDecay] there is one value more than boundaries. Received: ",
        values.size(), " values and ", boundaries.size(), " boundaries");
  }
  return [boundaries = std::move(boundaries), values = std::move(values)](const Tensor& step) {
    Tensor rate = real(values.back());
    for (size_t i = boundaries.size(); i-- > 0;) {
      const Tensor limit = cast(Tensor(boundaries[i]), step.dtype());
      rate = select(less_equal(step, limit), real(values[i]), rate);
    }
    return rate;
  };
}

Schedule CosineDecay(double rate, double decay_steps, CosineDecayOptions options) {
  check_steps("CosineDecay", decay_steps);
  return [=](const Tensor& step) {
    const double from = options.warmup_target.value_or(rate);
    const double warmup = options.warmup_target ? options.warmup_steps : 0;
    const Tensor done = minimum(as_float(step), real(decay_steps + warmup)) - real(warmup);
    const Tensor cosine =
        (cos(real(std::numbers::pi) * done / real(decay_steps)) + real(1.0)) * real(0.5);
    const Tensor decayed = real(from) * (cosine * real(1 - options.alpha) + real(options.alpha));
    if (warmup == 0) return decayed;
    const Tensor rising = real(rate) + real(from - rate) * (as_float(step) / real(warmup));
    return select(less(as_float(step), real(warmup)), rising, decayed);
  };
}

}  // namespace tidemark::optimizers::schedules
