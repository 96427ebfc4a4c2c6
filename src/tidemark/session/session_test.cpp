#include "tidemark/session/session.h"

#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <thread>

#include "tidemark/tensor/storage.h"
#include "tidemark/trace/builder.h"

namespace tidemark::session {
namespace {

/// A graph that is built as long as this lives, and a variable in it.
class SessionTest : public ::testing::Test {
 protected:
  Tensor placeholder(const Shape& shape) { return builder_.add_placeholder(DType::float32, shape); }
  Tensor special(const std::shared_ptr<const graph::Special>& what, const Shape& shape,
                 std::vector<Tensor> inputs = {}) {
    std::vector<Tensor> out(1);
    const graph::OutputInfo info{DType::float32, shape};
    builder_.add_special(what, {&info, 1}, inputs, out);
    return out[0];
  }
  GraphVariable variable(const Shape& shape) {
    return {new_tensor_id(), "v", DType::float32, shape, true};
  }

  std::shared_ptr<graph::Graph> graph_ = graph::Graph::create("test");
  trace::GraphBuilder builder_{graph_};
  std::unique_ptr<trace::TraceScope> scope_ = std::make_unique<trace::TraceScope>(builder_);
};

using Feeds = std::vector<std::pair<Tensor, Tensor>>;

Tensor run(Session& session, const Tensor& fetch, Feeds feeds = {}) {
  return session.run({{fetch}, {}, std::move(feeds)})[0];
}

float number(const Tensor& t) { return t.data<float>()[0]; }

TEST_F(SessionTest, FeedsStandForTensors) {
  const Tensor x = placeholder({2});
  const Tensor y = call("multiply", {x, x});
  scope_.reset();
  Session session;
  const Tensor value = Tensor::of({1.f, 3.f});
  const Tensor out = run(session, y, {{x, value}});
  EXPECT_EQ(out.data<float>()[1], 9.f);
  EXPECT_EQ(session.num_plans(), 1u);
  run(session, y, {{x, value}});
  EXPECT_EQ(session.num_plans(), 1u);
  EXPECT_THROW(run(session, y), InvalidArgumentError);
}

TEST_F(SessionTest, OneOfSeveralOutputsMayBeFed) {
  const Tensor x = placeholder({4});
  const std::vector<Tensor> halves = call_all("split", std::vector{x}, {{"num", 2}});
  const Tensor y = call("add", {halves[0], halves[1]});
  scope_.reset();
  Session session;
  const Tensor value = Tensor::of({1.f, 2.f, 3.f, 4.f}), fed = Tensor::of({10.f, 20.f});
  EXPECT_EQ(run(session, y, {{x, value}, {halves[1], fed}}).data<float>()[1], 22.f);
  EXPECT_EQ(run(session, y, {{halves[1], fed}, {halves[0], fed}}).data<float>()[1], 40.f);
  EXPECT_EQ(run(session, halves[1], {{halves[1], fed}}).data<float>()[0], 10.f);
  EXPECT_THROW(run(session, y, {{halves[1], fed}}), InvalidArgumentError);  // x is not given
}

TEST_F(SessionTest, EachSessionHasItsOwnValues) {
  const GraphVariable v = variable({});
  const Tensor start = placeholder({});
  const Tensor assign = special(update_special(v, nullptr, {}), {}, {start});
  const Tensor reading = special(read_special(v), {});
  scope_.reset();
  Session one, two;
  run(one, assign, {{start, Tensor(1.f)}});
  run(two, assign, {{start, Tensor(2.f)}});
  EXPECT_EQ(number(run(one, reading)), 1.f);
  EXPECT_EQ(number(run(two, reading)), 2.f);
  Session empty;
  EXPECT_THROW(run(empty, reading), FailedPreconditionError);
  one.close();
  EXPECT_THROW(run(one, reading), Error);
  EXPECT_EQ(one.num_plans(), 0u);
}

TEST_F(SessionTest, ConstantsForgetAPastThatNobodyHolds) {
  Tensor sum = builder_.constant(Tensor(1.f));
  Session session;
  for (int i = 0; i < 100; ++i) {
    sum = call("add", {sum, builder_.constant(Tensor(1.f))});
    EXPECT_EQ(number(run(session, sum)), static_cast<float>(i + 2));
    EXPECT_EQ(graph::nodes_for({&sum, 1}, {}).size(), 1u);
  }
  const Tensor held = call("add", {sum, sum});
  const Tensor twice = call("add", {held, held});
  run(session, twice);
  EXPECT_EQ(graph::nodes_for({&twice, 1}, {}).size(), 3u);
  const Tensor fed = run(session, twice, {{held, Tensor(5.f)}});
  EXPECT_EQ(number(fed), 10.f);
}

TEST_F(SessionTest, PlansAreBounded) {
  const Tensor x = placeholder({});
  Session session;
  for (int i = 0; i < 600; ++i) {
    const Tensor y = call("add", {x, x});
    run(session, y, {{x, Tensor(1.f)}});
  }
  EXPECT_LE(session.num_plans(), 256u);
}

TEST_F(SessionTest, AFinalizedGraphTakesNoNodes) {
  const Tensor x = placeholder({});
  graph_->finalize();
  EXPECT_THROW(call("add", {x, x}), graph::FinalizedError);
}

TEST_F(SessionTest, ThreadsShareASession) {
  const GraphVariable v = variable({});
  const Tensor x = placeholder({});
  const Tensor assign = special(update_special(v, nullptr, {}), {}, {x});
  const Tensor y = call("multiply", {x, special(read_special(v), {})});
  const Tensor grow = special(update_special(v, &OpRegistry::instance().get("add"), {}), {}, {x});
  scope_.reset();
  Session session;
  run(session, assign, {{x, Tensor(2.f)}});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 10; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 100; ++i) {
        const auto given = static_cast<float>(t * 100 + i);
        const Tensor out = run(session, y, {{x, Tensor(given)}});
        if (number(out) != 2.f * given) ++wrong;
        run(session, grow, {{x, Tensor(0.f)}});
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

}  // namespace
}  // namespace tidemark::session
