#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>
#include <tidemark/session.h>

#include "tidemark/io/bytes_sink.h"

namespace tidemark {
namespace {

TEST(GraphSessions, FeedsAndFetches) {
  const Graph graph;
  Tensor x, y, z;
  {
    const GraphScope building(graph);
    x = placeholder(DType::float32, {kUnknownDim, 3}, "x");
    y = reduce_sum(square(x), Ints{1});
    z = y * 2.f;
  }
  const Session session(graph);
  const std::vector<Tensor> out = session.run({y, z}, {{x, ones({2, 3})}});
  EXPECT_EQ(out[0].data<float>()[1], 3.f);
  EXPECT_EQ(out[1].data<float>()[1], 6.f);
  EXPECT_EQ(session.run({z}, {{y, Tensor::of({5.f})}})[0].data<float>()[0], 10.f);
  EXPECT_THROW(session.run({y}), InvalidArgumentError);
  EXPECT_THROW(session.run({Tensor(1.f)}), InvalidArgumentError);
  EXPECT_THROW(placeholder(DType::float32, {}), FailedPreconditionError);
  session.close();
  EXPECT_THROW(session.run({y}, {{x, ones({2, 3})}}), Error);
}

TEST(GraphSessions, TrainAVariableOfTheirOwn) {
  const Graph graph;
  Tensor x, loss, start, step, value;
  {
    const GraphScope building(graph);
    x = placeholder(DType::float32, {});
    const GraphVariable w(Tensor(0.f), "w");
    GradientTape tape;
    loss = square(w.value() * x - 6.f);
    step = w.assign_sub(tape.gradient(loss, w.value()) * 0.05f);
    start = w.initializer();
    value = w.value();
  }
  const Session one(graph), other(graph);
  EXPECT_THROW(one.run({value}), FailedPreconditionError);
  one.run({start});
  other.run({start});
  for (int i = 0; i < 100; ++i) one.run({step}, {{x, Tensor(2.f)}});
  EXPECT_NEAR(one.run({value})[0].item<float>(), 3.f, 1e-4);
  EXPECT_EQ(other.run({value})[0].item<float>(), 0.f);
}

TEST(GraphSessions, AGraphAndASessionEachRoundStayFlat) {
  const auto round = [] {
    const Graph graph;
    Tensor y;
    {
      const GraphScope building(graph);
      y = square(ones({1000}));
    }
    return Session(graph).run({y})[0].data<float>()[0];
  };
  EXPECT_EQ(round(), 1.f);
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 100; ++i) round();
  EXPECT_EQ(memory::stats().live, before);
}

std::string text(uint32_t number, std::string_view bytes) {
  io::BytesSink out;
  put_bytes_field(out, number, bytes);
  return out.bytes;
}

/// A GraphDef of y = x * x, with a placeholder x.
std::string squared() {
  const std::string type = text(5, text(1, "T") + text(2, std::string("\x30\x01", 2)));
  const std::string dtype = text(5, text(1, "dtype") + text(2, std::string("\x30\x01", 2)));
  return text(1, text(1, "x") + text(2, "Placeholder") + dtype) +
         text(1, text(1, "y") + text(2, "Mul") + text(3, "x") + text(3, "x") + type);
}

TEST(GraphSessions, GraphDefsAreImported) {
  const std::string bytes = squared();
  const Tensor now =
      import_graph_def(bytes, {.input_map = {{"x:0", Tensor(3.f)}}, .return_elements = {"y:0"}})[0];
  EXPECT_EQ(now.item<float>(), 9.f);
  const Graph graph;
  Tensor x, y;
  {
    const GraphScope building(graph);
    x = placeholder(DType::float32, {kUnknownDim});
    y = import_graph_def(bytes, {.input_map = {{"x:0", x}}, .return_elements = {"y:0"}})[0];
  }
  EXPECT_EQ(Session(graph).run({y}, {{x, Tensor::of({1.f, 4.f})}})[0].data<float>()[1], 16.f);
  EXPECT_THROW(import_graph_def("\x0a\x7f", {.return_elements = {"y:0"}}), Error);
  EXPECT_THROW(import_graph_def(bytes, {.return_elements = {"z:0"}}), Error);
}

TEST(GraphSessions, WriteGraphDefsThatAreImportedAgain) {
  const Graph graph;
  Tensor x, y;
  {
    const GraphScope building(graph);
    x = placeholder(DType::float32, {kUnknownDim, 2}, "x");
    const Tensor branches = cond(
        greater(reduce_sum(x), 0.f), [&] { return gelu(x); }, [&] { return softmax(x, 0); });
    y = identity(call("variance", {branches}, {{"axis", Ints{1}}}));
  }
  const std::string bytes = graph.as_graph_def();
  const Session session(graph);
  for (const float sign : {1.f, -1.f}) {
    const Tensor asked = Tensor::of({sign, 2 * sign, 3 * sign, 5 * sign}, {2, 2});
    const Tensor expected = session.run({y}, {{x, asked}})[0];
    const Tensor found = import_graph_def(
        bytes, {.input_map = {{"x:0", asked}}, .return_elements = {"identity:0"}})[0];
    for (int i = 0; i < 2; ++i) {
      EXPECT_NEAR(found.data<float>()[i], expected.data<float>()[i], 1e-6);
    }
  }
}

}  // namespace
}  // namespace tidemark
