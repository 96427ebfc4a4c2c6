#include "tidemark/trace/traces.h"

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include <thread>

#include "tidemark/trace/builder.h"
#include "tidemark/trace/cache_use.h"
#include "tidemark/trace/test_values.h"
#include "tidemark/trace/trace_cache.h"

namespace tidemark::trace {
namespace {

class Mutex final : public TraceLock {
 public:
  void run_alone(const std::function<void()>& work) override {
    const std::lock_guard lock(mutex_);
    work();
  }

 private:
  std::mutex mutex_;
};

/// Code that returns its first tensor times a number: that of a value, or of an input.
class Scaling : public Tracer {
 public:
  TracePtr trace(const Signature& wanted) override {
    ++runs;
    GraphBuilder builder("scaling");
    std::vector<Tensor> inputs;
    float factor = 2.f;
    for (const Argument& a : wanted.args) {
      if (a.is_input()) inputs.push_back(builder.add_input(a.dtype(), a.shape()));
      const bool counts = a.kind() == Argument::Kind::value && a.number() != DType::invalid;
      if (counts) factor = static_cast<float>(static_cast<const TestValue&>(a.value()).value());
    }
    auto out = std::make_shared<Trace>();
    Tensor y;
    {
      const TraceScope scope(builder);
      if (needs_sizes && !inputs[0].shape().is_fully_known()) fail("the size is needed");
      if (needs_numbers && inputs.size() > 1) fail("the number is needed");
      y = inputs[0] * factor + kept;
    }
    out->signature = wanted;
    out->graph = builder.finish({&y, 1});
    out->program = exec::Program::build(*out->graph, exec::Compile::when_repeated);
    out->captures = captures;
    out->is_for_one_call = !captures.empty();
    out->place = place;
    return out;
  }
  TracePtr try_trace(const Signature& wanted) override {
    try {
      return trace(wanted);
    } catch (const Error&) {
      return {};
    }
  }
  std::string name_of(size_t leaf) const override { return "xyz"[leaf] + std::string(); }
  std::string text_of(const Argument& arg) const override {
    if (arg.kind() == Argument::Kind::number) return "any";
    if (arg.kind() == Argument::Kind::tensor) return arg.shape().to_string();
    return std::to_string(static_cast<const TestValue&>(arg.value()).value());
  }

  int runs = 0;
  bool needs_sizes = false, needs_numbers = false;
  Tensor kept = Tensor(1.f);
  std::vector<Tensor> captures;
  std::string place;
};

class TracesTest : public testing::Test {
 protected:
  template <class... Args>
  TracePtr get(Args&&... args) {
    return traces->get({nullptr, {std::forward<Args>(args)...}}, code).trace;
  }
  static Argument floats(const Shape& shape) { return Argument::any_tensor(DType::float32, shape); }

  std::shared_ptr<Traces> traces = std::make_shared<Traces>(std::make_unique<Mutex>());
  Scaling code;
};

TEST_F(TracesTest, ACallGetsTheNewestTraceThatFits) {
  const TracePtr first = get(floats({2}));
  EXPECT_EQ(first->reason, "first call");
  EXPECT_EQ(get(floats({2})), first);
  const TracePtr general = traces->get_exactly({nullptr, {floats({kUnknownDim})}}, code, "asked");
  EXPECT_EQ(general->reason, "asked");
  EXPECT_EQ(get(floats({2})), general);
  EXPECT_EQ(traces->get_exactly({nullptr, {floats({2})}}, code, "asked"), first);
  EXPECT_EQ(code.runs, 2);
  EXPECT_EQ(traces->made(), 2u);
}

TEST_F(TracesTest, TheQuickRoadMatchesAlike) {
  const TracePtr made = get(floats({2}));
  const Tensor fits = zeros({2}), other = zeros({3});
  const auto find = [&](const Tensor& t) {
    return traces->find(nullptr, 1, [&](size_t) { return GivenTensor{t}; });
  };
  EXPECT_EQ(find(fits), made);
  EXPECT_EQ(find(other), nullptr);
}

TEST_F(TracesTest, ASizeSeenTwiceIsAnySizeAndReplacesTheOldTrace) {
  get(floats({2, 3}));
  const TracePtr general = get(floats({4, 3}));
  EXPECT_EQ(general->signature.args[0], floats({kUnknownDim, 3}));
  EXPECT_EQ(general->reason, "x: (2, 3) -> (4, 3)");
  EXPECT_EQ(general->differed, (std::set<std::string_view>{"shape"}));
  EXPECT_EQ(traces->kept(), std::vector<TracePtr>{general});
  EXPECT_EQ(get(floats({9, 3})), general);
}

TEST_F(TracesTest, ANumberSeenTwiceIsAnyNumber) {
  get(floats({2}), number(3));
  const TracePtr general = get(floats({2}), number(4));
  EXPECT_EQ(general->signature.args[1], Argument::any_number(DType::int64));
  EXPECT_EQ(general->reason, "y: 3 -> 4");
  EXPECT_EQ(general->differed, (std::set<std::string_view>{"value"}));
  EXPECT_EQ(get(floats({2}), number(5)), general);
}

TEST_F(TracesTest, CodeThatNeedsASizeOrNumberIsTracedForEach) {
  code.needs_numbers = true;
  for (int n = 1; n < 5; ++n) get(floats({2}), number(n));
  EXPECT_EQ(traces->kept().size(), 4u);
  EXPECT_EQ(code.runs, 5);  // tried for any number once
  EXPECT_EQ(traces->made(), 4u);
  // What is needed of one leaf is not needed of others.
  get(floats({3}), number(1));
  EXPECT_EQ(traces->kept().back()->signature.args[0], floats({kUnknownDim}));
}

TEST_F(TracesTest, ValuesAndObjectsAreTracedForEach) {
  get(floats({2}), word(1));
  EXPECT_EQ(get(floats({2}), word(2))->differed, (std::set<std::string_view>{"value"}));
  EXPECT_EQ(get(floats({2}), object(3))->differed, (std::set<std::string_view>{"identity"}));
  EXPECT_EQ(traces->kept().size(), 3u);
}

TEST_F(TracesTest, AnotherStructureIsTracedAnew) {
  get(floats({2}));
  const Signature nested{std::make_shared<TestStructure>("list"), {floats({2})}};
  const TracePtr made = traces->get(nested, code).trace;
  EXPECT_EQ(made->reason, "the structure of the arguments differs");
  EXPECT_EQ(made->differed, (std::set<std::string_view>{"structure"}));
  EXPECT_EQ(get(floats({2}), number(1))->reason, "the structure of the arguments differs");
  EXPECT_EQ(traces->kept().size(), 3u);
}

TEST_F(TracesTest, DeclaredLeavesAreTracedAsDeclared) {
  traces->declare({floats({kUnknownDim})});
  const TracePtr made = get(floats({2}), word(1));
  EXPECT_EQ(made->signature.args, (std::vector<Argument>{floats({kUnknownDim}), word(1)}));
  EXPECT_EQ(get(floats({7}), word(1)), made);
  code.needs_sizes = true;  // and never for less
  EXPECT_THROW(get(floats({2}), word(2)), Error);
}

TEST_F(TracesTest, EqualGraphsAreShared) {
  const TracePtr first = get(floats({2}), word(1)), second = get(floats({2}), word(2));
  EXPECT_NE(first, second);
  EXPECT_EQ(first->graph, second->graph);
  EXPECT_EQ(first->program, second->program);
  EXPECT_NE(get(floats({2}), number(5))->graph, first->graph);
}

TEST_F(TracesTest, WhatCapturedTensorsIsNotKept) {
  code.captures = {Tensor(1.f)};
  EXPECT_NE(get(floats({2})), get(floats({2})));
  EXPECT_TRUE(traces->kept().empty());
}

TEST_F(TracesTest, CodeThatFailsLeavesNothing) {
  code.needs_sizes = true;
  const Signature any{nullptr, {floats({kUnknownDim})}};
  EXPECT_THROW(traces->get(any, code), Error);
  EXPECT_THROW(traces->get_exactly(any, code, "asked"), Error);
  EXPECT_TRUE(traces->kept().empty());
  EXPECT_EQ(traces->made(), 0u);
  EXPECT_EQ(get(floats({2}))->reason, "first call");
}

TEST_F(TracesTest, OneLineThatMakesManyIsNoticedOnce) {
  code.place = "train.py:7";
  std::vector<int> noticed;
  for (int n = 1; n <= 12; ++n) {
    const Traces::Answer answer = traces->get({nullptr, {floats({2}), word(n)}}, code);
    if (answer.too_many) noticed.push_back(answer.too_many);
  }
  EXPECT_EQ(noticed, (std::vector<int>{5}));
}

TEST_F(TracesTest, TheCacheDropsTheOneUsedLongestAgoAndSaysSo) {
  const int64_t before = TraceCache::instance().bytes();
  get(floats({2}), word(1));
  get(floats({2}), word(2));
  const TracePtr held = get(floats({2}), word(1));
  held->count_call();
  EXPECT_GT(TraceCache::instance().bytes(), before);
  const uint64_t filler =
      TraceCache::instance().add(trace_cache_limit() - static_cast<int64_t>(held->bytes()), [] {});
  EXPECT_EQ(traces->kept(), std::vector<TracePtr>{held});
  TraceCache::instance().remove(filler);
  EXPECT_EQ(traces->clear().size(), 1u);
  EXPECT_EQ(get(floats({2}), word(1))->reason, "the earlier trace was dropped");
}

TEST_F(TracesTest, WhatGoesIsCountedNoLonger) {
  const int64_t before = TraceCache::instance().bytes();
  get(floats({2}), word(1));
  EXPECT_GT(TraceCache::instance().bytes(), before);
  traces.reset();
  EXPECT_EQ(TraceCache::instance().bytes(), before);
}

TEST_F(TracesTest, CallsAreLookedAtAtFirstAndThenSeldom) {
  const TracePtr made = get(floats({2}));
  std::vector<int> looked;
  for (int n = 1; n <= 70; ++n) {
    if (made->count_call() && n > 16) looked.push_back(n);
  }
  EXPECT_EQ(looked, (std::vector<int>{32, 64}));
  EXPECT_EQ(made->calls, 70u);
}

TEST_F(TracesTest, ThreadsShareOneTrace) {
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) threads.emplace_back([&] { get(floats({2})); });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(code.runs, 1);
  EXPECT_EQ(traces->kept().size(), 1u);
}

}  // namespace
}  // namespace tidemark::trace
