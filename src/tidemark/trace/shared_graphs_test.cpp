#include "tidemark/trace/shared_graphs.h"

#include <gtest/gtest.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/function.h>
#include <tidemark/gradient.h>
#include <tidemark/ops.h>
#include <tidemark/random.h>
#include <tidemark/variable.h>

#include <thread>

#include "tidemark/memory/context.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

using Code = std::function<Tensor(Tensor)>;

memory::Site* here(int line) {
  static const char places[16] = {};
  return memory::site_of_address(places + line);
}

/// As if the code stood on this line.
trace::Ready traced(const Code& code, int line = 1, const char* name = "g") {
  const memory::ScopedSite at(here(line));
  trace::GraphBuilder builder(name);
  const Tensor x = builder.add_input(DType::float32, {2});
  Tensor y;
  {
    const trace::TraceScope scope(builder);
    y = code(x);
  }
  return trace::shared(builder.finish({&y, 1}));
}

void expect_shared(const Code& code) {
  const trace::Ready first = traced(code), second = traced(code);
  EXPECT_EQ(first.graph, second.graph);
  EXPECT_EQ(first.program, second.program);
}

Code scaled(float by) {
  return [=](Tensor x) { return tanh(x * by) + x; };
}

Code chosen(float by) {
  return [=](Tensor x) {
    return cond(
        greater(sum(x), 0.f), [&] { return x * by; }, [&] { return x - by; });
  };
}

Code repeated(float by) {
  return [=](Tensor x) {
    const auto goes_on = [](std::span<const Tensor> v) { return less(v[0], int32_t{3}); };
    const auto body = [&](std::span<const Tensor> v) {
      const Tensor inner = cond(
          greater(v[0], int32_t{1}), [&] { return v[1] * by; }, [&] { return v[1] + x; });
      return std::vector<Tensor>{v[0] + Tensor(int32_t{1}), inner};
    };
    return while_loop(goes_on, body, {Tensor(int32_t{0}), x})[1];
  };
}

TEST(SharedGraphs, EqualOnesAreOne) {
  expect_shared(scaled(2.f));
  expect_shared(chosen(2.f));
  expect_shared(repeated(2.f));
  const auto a = traced(scaled(2.f)), b = traced(scaled(3.f));
  EXPECT_NE(a.graph, b.graph);
  EXPECT_NE(traced(chosen(2.f)).graph, traced(chosen(3.f)).graph);
  EXPECT_NE(traced(repeated(2.f)).graph, traced(repeated(3.f)).graph);
}

TEST(SharedGraphs, VariablesGradientsAndOrderCount) {
  Variable v(Tensor(1.f)), w(Tensor(1.f));
  const auto times = [](Variable& v) -> Code { return [&](Tensor x) { return x * v; }; };
  expect_shared(times(v));
  const auto a = traced(times(v)), b = traced(times(w));
  EXPECT_NE(a.graph, b.graph);
  const auto slope = [&](Variable& by) -> Code {
    return [&](Tensor x) {
      GradientTape tape;
      const Tensor y = cond(
          greater(sum(x), 0.f), [&] { return sum(x * by); }, [&] { return sum(x + by); });
      return tape.gradient(y, by);
    };
  };
  expect_shared(slope(v));
  EXPECT_NE(traced(slope(v)).graph, traced(slope(w)).graph);
}

TEST(SharedGraphs, OtherLinesAndNamesAreOtherGraphs) {
  const auto first = traced(scaled(2.f), 1), second = traced(scaled(2.f), 2);
  EXPECT_NE(first.graph, second.graph);
  EXPECT_NE(first.graph, traced(scaled(2.f), 1, "h").graph);
}

TEST(SharedGraphs, ThoseWithStateAreNot) {
  const Code noisy = [](Tensor x) { return x + random::normal({2}); };
  const auto first = traced(noisy), second = traced(noisy);
  EXPECT_NE(first.graph, second.graph);
}

TEST(SharedGraphs, NobodyOwnsThem) {
  std::weak_ptr<graph::Graph> gone;
  Variable v(zeros({2}));
  {
    const auto kept = traced([&](Tensor x) { return x * v; });
    gone = kept.graph;
    EXPECT_FALSE(gone.expired());
  }
  EXPECT_TRUE(gone.expired());
  for (int i = 0; i < 10'000; ++i) traced(scaled(static_cast<float>(i)));
  EXPECT_LT(trace::num_shared_graphs(), 200u);
}

TEST(SharedGraphs, NewFunctionsEachTimeShare) {
  const auto make = [] { return function([](Tensor x) { return tanh(x) * 3.f; }, "again"); };
  auto kept = make();
  const Tensor x = Tensor::of({1.f, 2.f});
  const std::string expected = kept(x).to_string();
  const size_t before = trace::num_shared_graphs();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(make()(x).to_string(), expected);
  EXPECT_LE(trace::num_shared_graphs(), before);
}

TEST(SharedGraphs, ThreadsShareAndDrop) {
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) {
        auto f = function([=](Tensor x) { return x * static_cast<float>(i % 3); }, "threads");
        if (f(2.f).item<float>() != 2.f * static_cast<float>(i % 3)) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace tidemark
