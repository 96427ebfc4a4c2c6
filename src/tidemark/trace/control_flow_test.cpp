#include <tidemark/control_flow.h>

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>

#include "tidemark/exec/program.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

using Inputs = std::span<const Tensor>;
using Function = std::function<Tensor(const Tensor&)>;

/// The function computed now, and by a graph that takes vectors of any length.
std::vector<Tensor> both_ways(const Function& f, const Tensor& x) {
  trace::GraphBuilder builder("f");
  const Tensor input = builder.add_input(x.dtype(), Shape::filled(x.rank(), kUnknownDim));
  Tensor y;
  {
    const trace::TraceScope scope(builder);
    y = f(input);
  }
  const auto program = exec::Program::build(*builder.finish(std::vector{y}));
  std::vector<Tensor> inputs{x}, outputs(1);
  program->run(inputs, outputs);
  return {f(x), outputs[0]};
}

void expect(const std::vector<Tensor>& results, std::vector<float> wanted) {
  for (const Tensor& t : results) {
    ASSERT_EQ(static_cast<size_t>(t.num_elements()), wanted.size());
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_FLOAT_EQ(t.data<float>()[i], wanted[i]);
  }
}

Tensor absolute(const Tensor& x) {
  return cond(
      greater(sum(x), Tensor(0.f)), [&] { return x * Tensor(2.f); }, [&] { return -x; });
}

Tensor power(const Tensor& x, int32_t n) {
  return while_loop([&](Inputs v) { return less(v[0], Tensor(n)); },
                    [&](Inputs v) {
                      return std::vector{v[0] + Tensor(1), v[1] * x};
                    },
                    {Tensor(0), x})[1];
}

Tensor powers(const Tensor& x, bool dynamic) {
  const Array array(DType::float32, Tensor(dynamic ? 0 : 3), {.dynamic_size = dynamic});
  std::vector<Tensor> end = while_loop(
      [](Inputs v) { return less(v[0], Tensor(3)); },
      [&](Inputs v) {
        const Array next = array.with(v[2]).write(v[0], v[1]);
        return std::vector{v[0] + Tensor(1), v[1] * x, next.tensor()};
      },
      {Tensor(0), x, array.tensor()}, {.shapes = {Shape{}, x.shape(), Shape::unknown()}});
  return array.with(end[2]).stack();
}

TEST(ControlFlow, Cond) {
  expect(both_ways(absolute, Tensor::of({1.f, 2.f})), {2, 4});
  expect(both_ways(absolute, Tensor::of({1.f, -2.f})), {-1, 2});
}

TEST(ControlFlow, CondOfSeveral) {
  const auto f = [](const Tensor& x) {
    const std::vector<Tensor> two = cond(
        greater(sum(x), Tensor(0.f)),
        [&] {
          return std::vector{x, x + x};
        },
        [&] {
          return std::vector{-x, x};
        });
    return two[0] + two[1];
  };
  expect(both_ways(f, Tensor::of({1.f, 2.f})), {3, 6});
}

TEST(ControlFlow, SwitchCasePicksTheLastForOtherNumbers) {
  for (const auto& [index, wanted] : {std::pair{0, 1.f}, {1, 2.f}, {7, 2.f}, {-1, 2.f}}) {
    const auto f = [&, index = index](const Tensor& x) {
      const TensorsFunction functions[] = {[&] { return std::vector{x}; },
                                           [&] { return std::vector{x + x}; }};
      return switch_case(Tensor(index), functions)[0];
    };
    expect(both_ways(f, Tensor::of({1.f})), {wanted});
  }
}

TEST(ControlFlow, WhileLoop) {
  expect(both_ways([](const Tensor& x) { return power(x, 3); }, Tensor::of({2.f, 3.f})), {16, 81});
  expect(both_ways([](const Tensor& x) { return power(x, 0); }, Tensor::of({2.f})), {2});
}

TEST(ControlFlow, MaximumIterations) {
  const auto f = [](const Tensor& x) {
    return while_loop([](Inputs) { return Tensor(true); },
                      [](Inputs v) { return std::vector{v[0] + v[0]}; }, {x},
                      {.maximum_iterations = 3, .shapes = {}})[0];
  };
  expect(both_ways(f, Tensor::of({1.f})), {8});
}

TEST(ControlFlow, Gradient) {
  const Tensor x = Tensor::of({2.f, 3.f});
  GradientTape tape;
  tape.watch(x);
  expect({tape.gradient(power(x, 2), x)}, {12, 27});
}

TEST(ControlFlow, ArraysInLoops) {
  for (const bool dynamic : {false, true}) {
    expect(both_ways([&](const Tensor& x) { return powers(x, dynamic); }, Tensor::of({1.f, 2.f})),
           {1, 2, 1, 4, 1, 8});
  }
}

TEST(ControlFlow, ComputesWhatIsAlikeInEveryRoundOnce) {
  const auto f = [](const Tensor& x) {
    return while_loop([](Inputs v) { return less(v[0], Tensor(200)); },
                      [&](Inputs v) {
                        const Tensor square = matmul(x, x);  // of what is outside
                        return std::vector{v[0] + Tensor(1), v[1] + square};
                      },
                      {Tensor(0), x}, {.shapes = {Shape{}, x.shape()}})[1];
  };
  const Tensor x = Tensor::of({1.f, 1.f, 0.f, 1.f}, {2, 2});
  trace::GraphBuilder builder("f");
  const Tensor input = builder.add_input(DType::float32, {2, 2});
  Tensor y;
  {
    const trace::TraceScope scope(builder);
    y = f(input);
  }
  const auto program = exec::Program::build(*builder.finish(std::vector{y}));
  const int64_t before = memory::stats().allocations;
  std::vector<Tensor> inputs{x}, outputs(1);
  program->run(inputs, outputs);
  EXPECT_LT(memory::stats().allocations - before, 220);  // the answer of the condition, and little
  expect({outputs[0]}, {201, 401, 0, 201});
}

TEST(ControlFlow, ComputesNothingForNoRounds) {
  const auto f = [](const Tensor& x) {
    return while_loop(
        [](Inputs) { return Tensor(false); },
        [&](Inputs v) { return std::vector{v[0] + reshape(x, Tensor::of<int32_t>({1}))}; },
        {Tensor::of({1.f})}, {.shapes = {Shape{1}}})[0];
  };
  expect(both_ways(f, Tensor::of({1.f, 2.f})), {1});
}

TEST(ControlFlow, ReportsWhatDoesNotFit) {
  const auto wrong_count = [](const Tensor& x) {
    return while_loop([](Inputs) { return Tensor(true); },
                      [](Inputs v) {
                        return std::vector{v[0], v[0]};
                      },
                      {x}, {.maximum_iterations = 2, .shapes = {}})[0];
  };
  EXPECT_THROW(both_ways(wrong_count, Tensor(1.f)), InvalidArgumentError);
  const auto wrong_dtype = [](const Tensor& x) {
    return cond(
        greater(sum(x), Tensor(0.f)), [&] { return x; }, [] { return Tensor(1); });
  };
  EXPECT_THROW(both_ways(wrong_dtype, Tensor(1.f)), InvalidArgumentError);
}

TEST(Array, IsAValue) {
  const Array blank(DType::float32, Tensor(2));
  const Array first = blank.write(Tensor(0), Tensor(1.f));
  const Array second = first.write(Tensor(1), Tensor(2.f));
  expect({first.stack()}, {1, 0});
  expect({second.stack()}, {1, 2});
  expect({second.read(Tensor(1))}, {2});
  EXPECT_EQ(second.size().to_ints()[0], 2);
  EXPECT_THROW(first.write(Tensor(2), Tensor(1.f)), InvalidArgumentError);
  EXPECT_THROW(first.write(Tensor(0), Tensor::of({1.f, 2.f})), InvalidArgumentError);
}

TEST(Array, GivenUpIsWrittenWhereItLies) {
  Array array(DType::float32, Tensor(0), {.dynamic_size = true, .element_shape = Shape{1000}});
  const Tensor row = ones({1000}, DType::float32);
  memory::reset_peak();
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 2000; ++i) array = std::move(array).write(Tensor(i), row);
  const int64_t needed = 2000 * 4000;
  EXPECT_LE(memory::stats().peak - before, needed + needed / 8);
  EXPECT_EQ(array.stack().shape(), (Shape{2000, 1000}));
}

}  // namespace
}  // namespace tidemark
