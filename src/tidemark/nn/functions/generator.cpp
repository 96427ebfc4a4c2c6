// Streams of random numbers with a state of their own.
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>

#include <array>
#include <mutex>
#include <random>

#include "tidemark/base/blake2.h"
#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::random {

/// [counter, counter, key].
struct Generator::State {
  using Numbers = std::array<int64_t, 3>;
  explicit State(Numbers numbers) : numbers_(numbers) {}

  Numbers get() {
    const std::lock_guard hold(mutex_);
    return numbers_;
  }
  void put(Numbers numbers) {
    const std::lock_guard hold(mutex_);
    numbers_ = numbers;
  }
  /// The state before, of which so many numbers are used up now.
  Numbers advance(int64_t count) {
    const std::lock_guard hold(mutex_);
    const Numbers before = numbers_;
    numbers_[0] =
        static_cast<int64_t>(static_cast<uint64_t>(before[0]) + static_cast<uint64_t>(count));
    return before;
  }

 private:
  std::mutex mutex_;
  Numbers numbers_;
};

namespace {

Tensor int64s(std::span<const int64_t> values) {
  return Tensor::of(values, {static_cast<int64_t>(values.size())});
}

std::array<int64_t, 3> numbers_of(const Tensor& state) {
  const std::vector<int64_t> values = state.to_ints();
  if (values.size() != 3) fail("a state has three numbers, got ", values.size());
  return {values[0], values[1], values[2]};
}

Tensor dims(const Shape& shape) { return Tensor::of(shape.dims(), Shape{shape.rank()}); }

struct Global {
  std::mutex mutex;
  std::optional<Generator> generator;
};
/// Never destroyed: threads may draw to the end of the process. It holds no tensor.
Global& global() {
  static Global& made = *new Global;
  return made;
}

}  // namespace

Generator Generator::from_seed(int64_t seed) {
  return Generator(std::make_shared<State>(State::Numbers{seed, 0, 0}));
}

Generator Generator::from_non_deterministic_state() {
  std::random_device device;
  const auto number = [&] {
    const uint64_t high = device();
    return static_cast<int64_t>(high << 32 | device());
  };
  const int64_t counter = number();
  return Generator(std::make_shared<State>(State::Numbers{0, counter, number()}));
}

Generator Generator::from_state(const Tensor& state) {
  return Generator(std::make_shared<State>(numbers_of(state)));
}

/// A new one whenever a traced function runs.
Tensor Generator::next_seed() const {
  return nn::when_run(
      "generator",
      [state = state_](const std::vector<Tensor>&) {
        const auto [low, high, key] = state->advance(1);
        const uint64_t both[] = {static_cast<uint64_t>(key), static_cast<uint64_t>(high)};
        const int64_t seed[] = {static_cast<int64_t>(blake2b_64(both)), low};
        return std::vector{int64s(seed)};
      },
      {}, {{DType::int64, {2}}}, nn::Effect::must_run)[0];
}

Tensor Generator::normal(const Shape& shape, double mean, double stddev, DType dtype) const {
  TIDEMARK_HERE;
  return stateless_random_normal(dims(shape), next_seed(), mean, stddev, dtype);
}

Tensor Generator::truncated_normal(const Shape& shape, double mean, double stddev,
                                   DType dtype) const {
  TIDEMARK_HERE;
  return stateless_random_truncated_normal(dims(shape), next_seed(), mean, stddev, dtype);
}

Tensor Generator::uniform(const Shape& shape, double minval, double maxval, DType dtype) const {
  TIDEMARK_HERE;
  return stateless_random_uniform(dims(shape), next_seed(), minval, maxval, dtype);
}

Tensor Generator::uniform_int(const Shape& shape, int64_t minval, int64_t maxval,
                              DType dtype) const {
  TIDEMARK_HERE;
  return stateless_random_uniform_int(dims(shape), next_seed(), cast(Tensor(minval), dtype),
                                      cast(Tensor(maxval), dtype));
}

Tensor Generator::uniform_full_int(const Shape& shape, DType dtype) const {
  TIDEMARK_HERE;
  return stateless_random_full_int(dims(shape), next_seed(), dtype);
}

Tensor Generator::make_seeds(int64_t count) const {
  TIDEMARK_HERE;
  return nn::padded(uniform_full_int({1, count}, DType::int64), 0, 0, 1);
}

std::vector<Generator> Generator::split(int64_t count) const {
  TIDEMARK_HERE;
  std::vector<Generator> out;
  for (const int64_t key : uniform_full_int({count}, DType::int64).to_ints()) {
    out.push_back(Generator(std::make_shared<State>(State::Numbers{0, 0, key})));
  }
  return out;
}

Tensor Generator::state() const {
  TIDEMARK_HERE;
  return nn::when_run(
      "generator_state",
      [state = state_](const std::vector<Tensor>&) { return std::vector{int64s(state->get())}; },
      {}, {{DType::int64, {3}}}, nn::Effect::must_run)[0];
}

void Generator::reset(const Tensor& state) const {
  TIDEMARK_HERE;
  nn::when_run(
      "reset_generator",
      [to = state_](const std::vector<Tensor>& given) {
        to->put(numbers_of(given[0]));
        return std::vector<Tensor>{};
      },
      {state}, {}, nn::Effect::must_run);
}

void Generator::reset_from_seed(int64_t seed) const {
  TIDEMARK_HERE;
  reset(create_rng_state(seed));
}

void Generator::skip(int64_t delta) const {
  TIDEMARK_HERE;
  nn::when_run(
      "skip_random_numbers",
      [state = state_, delta](const std::vector<Tensor>&) {
        state->advance(delta);
        return std::vector<Tensor>{};
      },
      {}, {}, nn::Effect::must_run);
}

Tensor create_rng_state(int64_t seed) {
  TIDEMARK_HERE;
  const int64_t numbers[] = {seed, 0, 0};
  return int64s(numbers);
}

Generator get_global_generator() {
  Global& all = global();
  const std::lock_guard hold(all.mutex);
  if (!all.generator) all.generator = Generator::from_non_deterministic_state();
  return *all.generator;
}

void set_global_generator(const Generator& generator) {
  Global& all = global();
  const std::lock_guard hold(all.mutex);
  all.generator = generator;
}

}  // namespace tidemark::random
