// The computations of the articles' examples, as C++ functions: each gives what it should, and
// repeating it does not grow the process.
#include <gtest/gtest.h>
#include <tidemark/tidemark.h>

#include <optional>
#include <thread>

namespace tidemark {
namespace {

int64_t live_bytes() { return memory::stats().live; }

/// Live bytes after many rounds are those after a few.
template <class Work>
void expect_flat(int rounds, Work&& work) {
  for (int i = 0; i < 3; ++i) work();
  const int64_t before = live_bytes();
  for (int i = 0; i < rounds; ++i) work();
  EXPECT_EQ(live_bytes(), before);
}

Tensor numbers(int64_t count) {
  std::vector<int32_t> all(static_cast<size_t>(count));
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
  return Tensor::of(std::span<const int32_t>(all), {count});
}

TEST(Article000, ResultsOfALoopAreStacked) {
  auto accumulate = function([](Tensor x, Tensor count) {
    const Array results(DType::float32, count, {.element_shape = x.shape()});
    const std::vector<Tensor> end =
        while_loop([&](std::span<const Tensor> v) { return less(v[0], count); },
                   [&](std::span<const Tensor> v) {
                     const Tensor next = x + cast(v[0], DType::float32);
                     return std::vector{v[0] + 1, results.with(v[1]).write(v[0], next).tensor()};
                   },
                   {0, results.tensor()}, {.shapes = {Shape{}, Shape::unknown()}});
    return results.with(end[1]).stack();
  });
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tensor all = accumulate(x, 1000);
  EXPECT_EQ(all.shape(), (Shape{1000, 2}));
  EXPECT_EQ(sum(all).item<float>(), 3.f * 1000 + 1000.f * 999);
  expect_flat(20, [&] { accumulate(x, 1000); });
}

TEST(Article000, StateThatChangesIsAVariable) {
  Variable counter(Tensor(0.f));
  auto increment = function([&](Tensor x) {
    counter.assign_add(Tensor(1.f));
    return x + counter;
  });
  for (int i = 1; i <= 10; ++i) EXPECT_EQ(increment(1.f).item<float>(), 1.f + float(i));
  EXPECT_EQ(increment.traces().size(), 1u);
}

TEST(Article000, ALoopOfAdditions) {
  auto process = function([](Tensor x, Tensor n) {
    return while_loop([&](std::span<const Tensor> v) { return less(v[0], n); },
                      [&](std::span<const Tensor> v) {
                        return std::vector{v[0] + 1, v[1] + x};
                      },
                      {0, 0.f})[1];
  });
  EXPECT_EQ(process(1.f, 100).item<float>(), 100.f);
  EXPECT_EQ(process(2.f, 7).item<float>(), 14.f);
  expect_flat(1000, [&] { process(1.f, 100); });
  EXPECT_EQ(process.traces().size(), 1u);
}

TEST(Article001, LargeTensorsMadeInALoopForAGraph) {
  auto squares = function([](Tensor x) { return square(x); });
  EXPECT_EQ(squares(numbers(10000)).data<int32_t>()[300], 90000);
  expect_flat(1000, [&] { squares(numbers(10000)); });
  EXPECT_EQ(squares.traces().size(), 1u);
  // Or a graph each time, with the tensor in it.
  expect_flat(1000, [] {
    auto squares = function([] { return square(numbers(10000)); });
    EXPECT_EQ(squares().data<int32_t>()[99], 9801);
  });
}

TEST(Article001, LargeTensorsMadeInALoopEagerly) {
  EXPECT_EQ(square(numbers(10000)).data<int32_t>()[300], 90000);
  expect_flat(1000, [] { square(numbers(10000)); });
}

TEST(Article001, AVariableAndATapeEachRound) {
  expect_flat(100, [] {
    GradientTape tape;
    Variable variable(random::normal({100, 100}));
    const Tensor gradient = tape.gradient(sum(variable.value()), variable);
    EXPECT_EQ(sum(gradient).item<float>(), 10000.f);
  });
}

TEST(Article002, LargeRandomTensorsOverAndOver) {
  auto create = function([] { return random::normal({100, 100, 100}); });
  const Tensor first = create(), second = create();
  EXPECT_EQ(first.num_elements(), 1000000);
  EXPECT_NE(first.data<float>()[0], second.data<float>()[0]);  // fresh numbers each call
  expect_flat(5, [&] { create(); });
}

TEST(Article002, StepsWithAndWithoutNamesForThem) {
  auto named = function([](Tensor x) {
    const Tensor y = square(x);
    const Tensor z = y * 2.f;
    const Tensor w = z + 1.f;
    return w;
  });
  auto nested = function([](Tensor x) { return square(x) * 2.f + 1.f; });
  const Tensor x = random::normal({1000, 1000});
  EXPECT_EQ(named(x).data<float>()[7], nested(x).data<float>()[7]);
  const int64_t before = live_bytes();
  memory::reset_peak();
  named(x);
  const int64_t with_names = memory::stats().peak - before;
  memory::reset_peak();
  nested(x);
  EXPECT_EQ(with_names, memory::stats().peak - before);  // nothing outlives its last use
}

TEST(Article002, AConditionOfTheCaller) {
  auto computation = function([](Tensor x, Tensor condition) {
    return cond(
        condition, [&] { return square(x); }, [&] { return zeros_like(x); });
  });
  const Tensor x = random::normal({1000, 1000});
  EXPECT_EQ(computation(x, true).data<float>()[3], x.data<float>()[3] * x.data<float>()[3]);
  EXPECT_EQ(sum(abs(computation(x, false))).item<float>(), 0.f);
  EXPECT_EQ(computation.traces().size(), 1u);
  expect_flat(20, [&] { computation(x, true); });
}

struct Dense {
  Variable weights{random::normal({5, 10})}, bias{zeros({10})};
  Tensor operator()(const Tensor& x) const { return matmul(x, weights) + bias; }
};

TEST(Article003, ANoisyModelCalledInALoop) {
  const Dense dense;
  auto noisy = function([&](Tensor x) { return dense(x + random::normal({1, 5})); });
  const Tensor x = random::normal({1, 5});
  const Tensor first = noisy(x), second = noisy(x);
  EXPECT_EQ(first.shape(), (Shape{1, 10}));
  EXPECT_NE(first.data<float>()[0], second.data<float>()[0]);
  expect_flat(1000, [&] { noisy(x); });
  EXPECT_EQ(noisy.traces().size(), 1u);
}

TEST(Article003, APredictionThatIsReturned) {
  const Dense dense;
  auto model = function([&](Tensor x) { return dense(x); });
  const auto prediction = [&](const Tensor& inputs) {
    Tensor intermediate = model(inputs);
    return intermediate;
  };
  const Tensor x = random::normal({1, 5});
  EXPECT_EQ(prediction(x).to_string(), dense(x).to_string());
  expect_flat(1000, [&] { prediction(x); });
}

TEST(Article003, ManyThreadsCallOneModel) {
  const Dense dense;
  auto predict = function([&](Tensor x) { return dense(x); });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 10; ++k) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) wrong += predict(random::normal({1, 5})).dim(1) != 10;
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(predict.traces().size(), 1u);
}

TEST(Article004, LargeConstantsInAGraphThatIsNeverClosed) {
  const auto add = [] {
    auto sum_of = function([] {
      return call("fill", {Tensor::of({10000000}), Tensor(1.f)}) +
             call("fill", {Tensor::of({10000000}), Tensor(2.f)});
    });
    return sum_of();
  };
  EXPECT_EQ(add().data<float>()[9999999], 3.f);
  expect_flat(10, add);
}

TEST(Article004, LargeConstantsInAGraphThatIsClosed) {
  std::optional<Function<Tensor (*)(Tensor, Tensor)>> sum_of;
  Tensor (*const code)(Tensor, Tensor) = [](Tensor a, Tensor b) { return a + b; };
  const auto add = [&] {
    sum_of.emplace(function(code));
    const Tensor c = (*sum_of)(ones({10000000}), ones({10000000}) * 2.f);
    sum_of.reset();
    return c;
  };
  EXPECT_EQ(add().data<float>()[9999999], 3.f);
  expect_flat(10, add);
}

TEST(Article004, ALongChainOfAdditionsWhoseResultsAreKept) {
  constexpr int kRounds = 100000;
  auto next = function([](Tensor a) { return a + 1.f; });
  Tensor a = Tensor::of({1.f});
  std::vector<float> results;
  results.reserve(kRounds);
  for (int i = 0; i < 100; ++i) a = next(a);
  const int64_t before = live_bytes();
  for (int i = 0; i < kRounds; ++i) {
    a = next(a);
    results.push_back(a.item<float>());
  }
  EXPECT_EQ(live_bytes(), before);  // but for the numbers themselves
  EXPECT_EQ(results.back(), 100101.f);
  EXPECT_EQ(next.traces().size(), 1u);
}

}  // namespace
}  // namespace tidemark
