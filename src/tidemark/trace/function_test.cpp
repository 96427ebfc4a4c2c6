#include <tidemark/function.h>

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/ops.h>
#include <tidemark/variable.h>

#include <thread>

#include "tidemark/graph/compare.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/cache_use.h"
#include "tidemark/trace/trace_cache.h"

namespace tidemark {
namespace {

TEST(Function, RunsItsCodeOnceForASignature) {
  int traced = 0;
  auto step = function([&](Tensor x) {
    ++traced;
    return tanh(square(x) * 2.f + 1.f);
  });
  const Tensor x = Tensor::of({1.f, 2.f});
  const Tensor expected = tanh(square(x) * 2.f + 1.f);
  for (int i = 0; i < 3; ++i) {
    const Tensor y = step(x);
    for (int k = 0; k < 2; ++k) EXPECT_FLOAT_EQ(y.data<float>()[k], expected.data<float>()[k]);
  }
  EXPECT_EQ(traced, 1);
  ASSERT_EQ(step.traces().size(), 1u);
  EXPECT_EQ(step.traces()[0].calls, 3u);
  EXPECT_EQ(step.traces()[0].reason, "first call");
}

TEST(Function, TakesAnySizeOnceItSawTwo) {
  int traced = 0;
  auto total = function(
      [&](Tensor x) {
        ++traced;
        return sum(x * x);
      },
      "total");
  for (int64_t n = 1; n < 50; ++n) {
    EXPECT_EQ(total(ones({n})).item<float>(), static_cast<float>(n));
  }
  EXPECT_EQ(traced, 2);
  ASSERT_EQ(total.traces().size(), 1u);
  EXPECT_EQ(total.traces()[0].signature, "total(float32 (None,))");
  EXPECT_EQ(total.traces()[0].reason, "argument 0: float32 (1,) -> float32 (2,)");
}

TEST(Function, IsTracedForEachSizeWhereItsCodeNeedsThem) {
  auto rows = function([](Tensor x) {
    Tensor out = zeros({});
    for (int64_t i = 0; i < x.dim(0); ++i) out = out + sum(call("gather", {x, Tensor(int32_t(i))}));
    return x.dim(0) < 0 ? throw InvalidArgumentError("needs the size") : out;
  });
  for (int64_t n = 1; n < 4; ++n) EXPECT_EQ(rows(ones({n, 2})).item<float>(), 2.f * float(n));
  EXPECT_EQ(rows.traces().size(), 3u);
}

TEST(Function, GivesTuplesVectorsAndNothing) {
  Variable v(Tensor(1.f));
  auto pair = function([](Tensor x, Tensor y) { return std::tuple(x + y, x * y); });
  const auto [a, b] = pair(2.f, 3.f);
  EXPECT_EQ(a.item<float>(), 5.f);
  EXPECT_EQ(b.item<float>(), 6.f);
  auto list = function([](Tensor x) { return std::vector<Tensor>{x, x + x, x * x}; });
  EXPECT_EQ(list(3.f)[2].item<float>(), 9.f);
  auto nothing = function([&](Tensor x) { v.assign_add(x); });
  nothing(2.f);
  nothing(3.f);
  EXPECT_EQ(v.value().item<float>(), 6.f);
  auto none = function([&] { return v * v; });
  EXPECT_EQ(none().item<float>(), 36.f);
}

TEST(Function, TrainsVariables) {
  Variable w(Tensor(0.f));
  auto step = function([&](Tensor x, Tensor y) {
    GradientTape tape;
    const Tensor loss = mean(square(x * w - y));
    const Tensor dw = tape.gradient(loss, w);
    w.assign_sub(dw * 0.1f);
    return loss;
  });
  const Tensor x = Tensor::of({1.f, 2.f, 3.f});
  for (int i = 0; i < 100; ++i) step(x, x * 2.f);
  EXPECT_NEAR(w.value().item<float>(), 2.f, 1e-4);
  EXPECT_EQ(step.traces().size(), 1u);
}

TEST(Function, NestsAndIsDifferentiatedFromOutside) {
  auto inner = function([](Tensor x) { return x * x; });
  auto outer = function([&](Tensor x) { return inner(x) + inner(x + 1.f); });
  EXPECT_EQ(outer(2.f).item<float>(), 13.f);
  const Tensor x(3.f);
  GradientTape tape;
  tape.watch(x);
  const Tensor y = outer(x);
  EXPECT_EQ(tape.gradient(y, x).item<float>(), 14.f);
  // A function made inside of another one uses what it finds around it.
  auto around = function([](Tensor x) {
    auto in = function([&](Tensor y) { return x * y; });
    return in(x + 1.f);
  });
  EXPECT_EQ(around(2.f).item<float>(), 6.f);
}

TEST(Function, ShowsItsGraph) {
  auto step = function([](Tensor x) { return tanh(x) + 1.f; }, "step");
  const TracedGraph graph = step.graph(zeros({2}));
  EXPECT_NE(graph.to_string().find("tanh"), std::string::npos);
  EXPECT_NE(graph.to_dot().find("digraph"), std::string::npos);
}

TEST(Function, DropsItsTracesWhenItGoes) {
  const int64_t before = trace::TraceCache::instance().bytes();
  {
    auto step = function([](Tensor x) { return x + 1.f; });
    step(1.f);
    EXPECT_GT(trace::TraceCache::instance().bytes(), before);
  }
  EXPECT_EQ(trace::TraceCache::instance().bytes(), before);
}

TEST(Function, ManyFunctionsStayWithinTheBound) {
  std::vector<Function<Tensor (*)(Tensor)>> all;
  const Tensor big = zeros({1 << 20});
  Tensor (*code)(Tensor) = [](Tensor x) {
    return x + call("tile", {zeros({1 << 22}), Tensor::of({1})});
  };
  for (int i = 0; i < 40; ++i) {
    all.push_back(function(code));
    all.back()(0.f);
    EXPECT_LE(trace::TraceCache::instance().bytes(), trace::trace_cache_limit());
  }
  EXPECT_EQ(all.back().traces().size(), 1u);
}

TEST(Function, ThreadsShareOneTrace) {
  std::atomic<int> traced{0};
  Variable v(zeros({}));
  auto step = function([&](Tensor x) {
    ++traced;
    return sum(x * x + v);
  });
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int k = 0; k < 8; ++k) {
    threads.emplace_back([&, k] {
      const Tensor x = ones({4}) * static_cast<float>(k);
      for (int i = 0; i < 200; ++i) {
        if (step(x).item<float>() != 4.f * static_cast<float>(k * k)) ++wrong;
      }
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(traced, 1);
}

TEST(Graph, ThoseThatComputeTheSameAreFoundOut) {
  const auto traced = [](const auto& code) {
    trace::GraphBuilder builder("g");
    const Tensor x = builder.add_input(DType::float32, {2});
    Tensor y;
    {
      const trace::TraceScope scope(builder);
      y = code(x);
    }
    return builder.finish({&y, 1});
  };
  Variable v(Tensor(1.f)), w(Tensor(1.f));
  const auto by = [](float factor) { return [=](Tensor x) { return tanh(x * factor) + x; }; };
  EXPECT_TRUE(graph::are_same(*traced(by(2.f)), *traced(by(2.f))));
  EXPECT_FALSE(graph::are_same(*traced(by(2.f)), *traced(by(3.f))));
  EXPECT_FALSE(graph::are_same(*traced(by(2.f)), *traced([](Tensor x) { return tanh(x) + x; })));
  const auto times = [](Variable& v) { return [&](Tensor x) { return x * v; }; };
  EXPECT_TRUE(graph::are_same(*traced(times(v)), *traced(times(v))));
  EXPECT_FALSE(graph::are_same(*traced(times(v)), *traced(times(w))));
  const auto summed = [](int64_t axis) {
    return [=](Tensor x) { return sum(x + x, Ints{axis}, true); };
  };
  EXPECT_TRUE(graph::are_same(*traced(summed(0)), *traced(summed(0))));
  EXPECT_FALSE(graph::are_same(*traced(summed(0)), *traced(summed(-1))));
}

TEST(TraceCache, DropsTheOneUsedLongestAgo) {
  trace::TraceCache cache;
  std::vector<int> dropped;
  const int64_t third = trace::trace_cache_limit() / 3;
  const uint64_t first = cache.add(third, [&] { dropped.push_back(1); });
  cache.add(third, [&] { dropped.push_back(2); });
  cache.touch(first);
  cache.add(third, [&] { dropped.push_back(3); });
  cache.add(third, [&] { dropped.push_back(4); });
  EXPECT_EQ(dropped, (std::vector<int>{2}));
  cache.remove(first);
  EXPECT_EQ(cache.bytes(), 2 * third);
}

}  // namespace
}  // namespace tidemark
