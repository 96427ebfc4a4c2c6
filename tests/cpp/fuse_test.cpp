// Graphs before and after fusion compute the same.

#include <gtest/gtest.h>
#include <tidemark/create.h>
#include <tidemark/gradient.h>
#include <tidemark/ops.h>
#include <tidemark/variable.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <random>

#include "tidemark/base/settings.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/compile/pass.h"
#include "tidemark/exec/program.h"
#include "tidemark/kernels/cpu/testing.h"
#include "tidemark/trace/builder.h"

namespace tidemark {
namespace {

using trace::GraphBuilder;
using trace::TraceScope;
using Tensors = std::vector<Tensor>;
using Traced = std::function<Tensors(const Tensors&)>;

class Fuse : public ::testing::Test {
 protected:
  void SetUp() override {
    if (settings::text(settings::kFusion) == "off") GTEST_SKIP() << "nothing is fused";
  }
};

std::shared_ptr<graph::Graph> traced(const Tensors& inputs, const Traced& f) {
  GraphBuilder builder("f");
  Tensors symbols;
  for (const Tensor& t : inputs) symbols.push_back(builder.add_input(t.dtype(), t.shape()));
  Tensors outputs;
  {
    TraceScope scope(builder);
    outputs = f(symbols);
  }
  return builder.finish(outputs);
}

Tensors run(const std::shared_ptr<graph::Graph>& graph, Tensors inputs) {
  Tensors outputs(graph->outputs().size());
  exec::Program::build(*graph)->run(inputs, outputs);
  return outputs;
}

int count(const graph::Graph& graph, std::string_view kind) {
  int n = 0;
  for (graph::Node* node : graph.nodes()) n += graph::kind_of(*node) == kind;
  return n;
}

void expect_close(const Tensors& got, const Tensors& want, const std::string& what,
                  double tolerance = 2e-5) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t o = 0; o < got.size(); ++o) {
    ASSERT_EQ(got[o].shape(), want[o].shape()) << what;
    ASSERT_EQ(got[o].dtype(), want[o].dtype()) << what;
    const auto a = testing::doubles(got[o]), b = testing::doubles(want[o]);
    for (size_t i = 0; i < a.size(); ++i) {
      if (std::isnan(a[i]) && std::isnan(b[i])) continue;
      if (a[i] == b[i]) continue;
      ASSERT_NEAR(a[i], b[i], tolerance * (1 + std::abs(b[i])))
          << "output " << o << " element " << i << "\n"
          << what;
    }
  }
}

/// The fused graph, which gives the same.
std::shared_ptr<graph::Graph> check(const Tensors& inputs, const Traced& f) {
  const auto graph = traced(inputs, f);
  const auto fused = compile::fuse(graph);
  compile::verify(*fused);
  expect_close(run(fused, inputs), run(graph, inputs), graph->to_string() + fused->to_string());
  return fused;
}

Tensor normal(const Shape& shape, int seed) {
  return call("stateless_random_normal",
              {Tensor::of(shape.dims(), {int64_t{shape.rank()}}), Tensor::of<int32_t>({seed, 1})});
}

TEST_F(Fuse, MakesOneNodeOfAChain) {
  const auto fused = check({normal({1000}, 1)}, [](const Tensors& in) -> Tensors {
    const Tensor w = square(in[0]) * 2.f + 1.f;
    return {tanh(w) * exp(-w)};
  });
  EXPECT_EQ(count(*fused, "fused"), 1);
  EXPECT_EQ(fused->nodes().size(), 2u) << fused->to_string();
}

TEST_F(Fuse, BroadcastsAndKeepsWhatOthersNeed) {
  const auto fused = check({normal({50, 64}, 1), normal({64}, 2), normal({50, 1}, 3)},
                           [](const Tensors& in) -> Tensors {
                             const Tensor a = in[0] + in[1];
                             const Tensor b = relu(a * in[2]);
                             return {b, a, call("cast", {b}, {{"dtype", DType::float64}})};
                           });
  EXPECT_EQ(count(*fused, "fused"), 1) << fused->to_string();
}

Tensor softmax_by_hand(const Tensor& x) {
  const Tensor e = exp(x - max(x, Ints{-1}, true));
  return e / sum(e, Ints{-1}, true);
}
Tensor norm_by_hand(const Tensor& x, const Tensor& gamma, const Tensor& beta) {
  const Tensor centered = x - mean(x, Ints{-1}, true);
  const Tensor variance = mean(square(centered), Ints{-1}, true);
  return centered * rsqrt(variance + 1e-5f) * gamma + beta;
}

TEST_F(Fuse, ReducesRowsInTheMiddle) {
  EXPECT_EQ(check({normal({40, 33}, 1)},
                  [](const Tensors& in) -> Tensors { return {softmax_by_hand(in[0])}; })
                ->nodes()
                .size(),
            2u);
  const auto fused =
      check({normal({4, 10, 48}, 1), normal({48}, 2), normal({48}, 3)},
            [](const Tensors& in) -> Tensors { return {norm_by_hand(in[0], in[1], in[2])}; });
  EXPECT_EQ(count(*fused, "fused"), 1) << fused->to_string();
  EXPECT_EQ(fused->nodes().size(), 4u) << fused->to_string();
}

TEST_F(Fuse, PutsDroppedDimensionsBack) {
  const auto fused = check({normal({30, 20}, 1)}, [](const Tensors& in) -> Tensors {
    const Tensor m = call("expand_dims", {mean(in[0], Ints{1})}, {{"axis", 1}});
    return {in[0] - m};
  });
  EXPECT_EQ(fused->nodes().size(), 2u) << fused->to_string();
}

TEST_F(Fuse, ReducesAtTheEnd) {
  for (const int64_t n : {10, 100000}) {
    const auto fused = check({normal({n}, 1), normal({n}, 2)}, [](const Tensors& in) -> Tensors {
      return {mean(squared_difference(in[0], in[1]))};
    });
    EXPECT_EQ(fused->nodes().size(), 3u) << fused->to_string();
  }
}

TEST_F(Fuse, CollectsColumnsAtTheEnd) {
  // Of what is stored too, of what is not, and of what is only read.
  const auto fused =
      check({normal({70, 33}, 1), normal({70, 33}, 2)}, [](const Tensors& in) -> Tensors {
        const Tensor d = in[0] * relu(in[1]);
        return {d, sum(d, Ints{0}), mean(square(d), Ints{0}, true), max(in[1], Ints{0})};
      });
  EXPECT_EQ(fused->nodes().size(), 3u) << fused->to_string();
}

TEST_F(Fuse, CollectsOverAllLeadingDimensions) {
  // The moments of batch norm; the second waits for the first, so there are two groups at least.
  const auto fused = check({normal({4, 5, 6, 40}, 1)}, [](const Tensors& in) -> Tensors {
    const Tensor m = mean(in[0], Ints{0, 1, 2}, true);
    return {m, mean(squared_difference(in[0], m), Ints{0, 1, 2})};
  });
  EXPECT_EQ(count(*fused, "fused"), 1) << fused->to_string();
  EXPECT_EQ(count(*fused, "squared_difference"), 0) << fused->to_string();
  const auto both = check({normal({4, 5, 6, 40}, 1)}, [](const Tensors& in) -> Tensors {
    return {mean(in[0], Ints{0, 1, 2}), mean(square(in[0]), Ints{0, 1, 2})};
  });
  EXPECT_EQ(both->nodes().size(), 2u) << both->to_string();
}

TEST_F(Fuse, CollectsColumnsBesideReductionsOfRows) {
  const auto fused = check({normal({50, 64}, 1), normal({50, 64}, 2), normal({64}, 3)},
                           [](const Tensors& in) -> Tensors {
                             const Tensor g = in[1] * in[2];
                             const Tensor dx = g - in[0] * mean(g * in[0], Ints{-1}, true);
                             return {dx, sum(in[1] * in[0], Ints{0}), sum(in[1], Ints{0})};
                           });
  EXPECT_EQ(count(*fused, "sum"), 0) << fused->to_string();
}

TEST_F(Fuse, ProductsCollectTheColumnsOfTheirResult) {
  for (const Shape& shape : {Shape{300, 40}, Shape{3, 40}, Shape{1000, 40}, Shape{2, 130, 40}}) {
    const auto fused = check({normal(shape, 1), normal({40, 72}, 2), normal({72}, 3)},
                             [&](const Tensors& in) -> Tensors {
                               const Tensor d = relu(matmul(in[0], in[1]) + in[2]);
                               Ints axes;
                               for (int a = 0; a + 1 < shape.rank(); ++a) axes.push_back(a);
                               return {d, sum(d, axes), sum(d * 0.5f, axes, true)};
                             });
    EXPECT_EQ(count(*fused, "matmul+fused"), 1) << fused->to_string();
    EXPECT_EQ(count(*fused, "sum"), 0) << fused->to_string();
  }
}

TEST_F(Fuse, ProductsCollectTheSameByAnyNumberOfThreads) {
  const Tensors inputs = {normal({2, 33, 31, 24}, 1), normal({3, 3, 24, 40}, 2),
                          normal({1500, 64}, 3), normal({64, 500}, 4)};
  const auto graph = compile::fuse(traced(inputs, [](const Tensors& in) -> Tensors {
    const Tensor image = relu(convolution(in[0], in[1], Ints{1, 1}, "SAME"));
    const Tensor rows = tanh(matmul(in[2], in[3]));
    return {image, mean(image, Ints{0, 1, 2}), rows, sum(rows, Ints{0})};
  }));
  EXPECT_EQ(count(*graph, "mean") + count(*graph, "sum"), 0) << graph->to_string();
  const Tensors first = run(graph, inputs);
  for (const int threads : {1, 3, 8}) {
    const int old = set_num_threads(threads);
    const Tensors again = run(graph, inputs);
    set_num_threads(old);
    for (size_t o = 0; o < first.size(); ++o) {
      EXPECT_EQ(std::memcmp(first[o].raw_data(), again[o].raw_data(), first[o].nbytes()), 0)
          << "output " << o << ", " << threads << " threads";
    }
  }
}

TEST_F(Fuse, LooksThroughRepetition) {
  const auto fused =
      check({normal({30, 20}, 1), normal({1, 20}, 2)}, [](const Tensors& in) -> Tensors {
        const Tensor wide = call("broadcast_to", {in[1], Tensor::of({30, 20})});
        return {tanh(in[0] * wide)};
      });
  EXPECT_EQ(count(*fused, "broadcast_to"), 0) << fused->to_string();
  // Nothing else has the size: the repetition stays.
  check({normal({1, 20}, 2)}, [](const Tensors& in) -> Tensors {
    return {tanh(call("broadcast_to", {in[0], Tensor::of({30, 20})})) + 1.f};
  });
}

TEST_F(Fuse, DropsOutInOnePass) {
  const Tensor seed = Tensor::of<int32_t>({7, 9});
  const auto fused = check({normal({40, 100}, 1), seed}, [](const Tensors& in) -> Tensors {
    const Tensor u = call("stateless_random_uniform", {Tensor::of({40, 100}), in[1]});
    const Tensor kept = call("cast", {greater_equal(u, Tensor(0.3f))}, {{"dtype", DType::float32}});
    const Tensor noise = call("stateless_random_normal", {Tensor::of({40, 100}), in[1] + 1});
    return {in[0] * kept / 0.7f + noise, softmax_by_hand(in[0] + u)};
  });
  EXPECT_EQ(count(*fused, "stateless_random_uniform"), 0) << fused->to_string();
}

TEST_F(Fuse, MakesNoCycles) {
  // exp waits for the product, the sum for both: h cannot join them, which run on its tiles.
  const auto fused =
      check({normal({8, 8}, 1), normal({8, 8}, 2)}, [](const Tensors& in) -> Tensors {
        const Tensor h = relu(in[0] + in[1]);
        const Tensor product = matmul(h, in[1]);
        return {exp(product) + h * 2.f};
      });
  EXPECT_EQ(count(*fused, "fused"), 1) << fused->to_string();
  EXPECT_EQ(fused->nodes().size(), 4) << fused->to_string();  // two inputs, h, the product
}

TEST_F(Fuse, GradientsOfALossRunFused) {
  check({normal({16, 8}, 1), normal({8, 5}, 2), normal({5}, 3), normal({16, 5}, 4)},
        [](const Tensors& in) -> Tensors {
          GradientTape tape;
          tape.watch(in[1]);
          tape.watch(in[2]);
          const Tensor logits = matmul(in[0], in[1]) + in[2];
          const Tensor loss = mean(square(softmax_by_hand(logits) - in[3]));
          const auto [dw, db] = tape.gradient(loss, {in[1], in[2]});
          return {dw, db, loss};
        });
}

TEST_F(Fuse, VariablesAreReadBeforeTheyChange) {
  const auto fresh = [] {
    return std::vector<Variable>{Variable(normal({100}, 1)), Variable(normal({100}, 2))};
  };
  const Tensor g = normal({100}, 3);
  const auto step = [](const std::vector<Variable>& v) {
    return [&v](const Tensors& in) -> Tensors {
      Variable m = v[0], w = v[1];
      const Tensor before = m.value() * 3.f + in[0];
      m.assign_add((in[0] - m.value()) * 0.1f);
      w.assign_sub(m.value() * 0.01f + before * 0.5f);
      return {before + m.value(), w.value() * 2.f + before};
    };
  };
  const std::vector<Variable> a = fresh(), b = fresh();
  const auto plain = traced({g}, step(a));
  const auto fused = compile::fuse(traced({g}, step(b)));
  for (int round = 0; round < 3; ++round) {
    expect_close(run(fused, {g}), run(plain, {g}), fused->to_string());
    for (size_t i = 0; i < 2; ++i) {
      expect_close({b[i].value()}, {a[i].value()}, "variables");
    }
  }
}

/// Variables, their moments, and Adam's step on them.
struct Model {
  std::vector<Variable> w, m, v;
  explicit Model(const std::vector<Shape>& shapes) {
    for (size_t i = 0; i < shapes.size(); ++i) {
      w.emplace_back(normal(shapes[i], static_cast<int>(i)));
      m.emplace_back(normal(shapes[i], 50) * 0.1f);
      v.emplace_back(square(normal(shapes[i], 70)));
    }
  }
  Tensors step(const Tensors& gradients) {
    const Tensor rate = mean(gradients[0]) * 0.001f + 0.01f;
    for (size_t i = 0; i < w.size(); ++i) {
      const Tensor& g = gradients[i];
      m[i].assign_add((g - m[i].value()) * 0.1f);
      v[i].assign_add((square(g) - v[i].value()) * 0.001f);
      w[i].assign_sub(m[i].value() * rate / (sqrt(v[i].value()) + 1e-7f));
    }
    return {rate};
  }
  Tensors values() const {
    Tensors all;
    for (const auto& list : {w, m, v}) {
      for (const Variable& variable : list) all.push_back(variable.value());
    }
    return all;
  }
};

std::shared_ptr<graph::Graph> swept(const std::shared_ptr<graph::Graph>& graph) {
  return compile::run_passes(graph);
}

TEST_F(Fuse, AllVariablesAreUpdatedInOneSweep) {
  const std::vector<Shape> shapes = {{300, 200}, {200}, {200, 7}, {7}, {}, {3, 3, 4, 8}};
  Model plain(shapes), fast(shapes);
  Tensors gradients;
  for (size_t i = 0; i < shapes.size(); ++i) gradients.push_back(normal(shapes[i], 90));
  const auto one = traced(gradients, [&](const Tensors& in) { return plain.step(in); });
  const auto two = swept(traced(gradients, [&](const Tensors& in) { return fast.step(in); }));
  EXPECT_EQ(count(*two, "sweep"), 1) << two->to_string();
  EXPECT_EQ(count(*two, "update_variable"), 0) << two->to_string();
  EXPECT_EQ(count(*two, "read_variable"), 0) << two->to_string();
  const void* lies = fast.w[0].value().raw_data();
  for (int round = 0; round < 4; ++round) {
    expect_close(run(two, gradients), run(one, gradients), "rate");
    expect_close(fast.values(), plain.values(), "variables");
  }
  EXPECT_EQ(fast.w[0].value().raw_data(), lies);
}

/// Assignments come in the order of the variables' ids, so a count that is itself read by the
/// updates stands among them.
TEST_F(Fuse, AnUpdateBetweenOthersDoesNotKeepThemFromASweep) {
  const Variable first(normal({100}, 1)), count_of_steps(normal({}, 2)), last(normal({100}, 3));
  const std::vector<double> before = testing::doubles(first.value());
  const auto step = [&](const Tensors& in) -> Tensors {
    Variable a = first, n = count_of_steps, b = last;
    n.assign_add(Tensor(1.f));
    const Tensor rate = n.value() * 0.5f;
    a.assign_sub(in[0] * rate);
    b.assign_sub(in[0] * rate * 2.f);
    return {rate};
  };
  const Tensors inputs = {normal({100}, 4)};
  const auto graph = swept(traced(inputs, step));
  EXPECT_EQ(count(*graph, "sweep"), 1) << graph->to_string();
  EXPECT_EQ(count(*graph, "update_variable"), 1) << graph->to_string();
  const double rate = testing::doubles(run(graph, inputs)[0])[0];
  const std::vector<double> after = testing::doubles(first.value());
  const std::vector<double> x = testing::doubles(inputs[0]);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(after[i], before[i] - x[i] * rate, 1e-5);
}

TEST_F(Fuse, ValuesThatAreReadElsewhereAreNotSwept) {
  const auto step = [](Variable a, Variable b) {
    return [a, b](const Tensors& in) mutable -> Tensors {
      const Tensor old = a.value();
      a.assign_add(in[0] * 2.f);
      b.assign(tanh(old) + b.value());  // the value before the change
      const Tensor now = a.value();
      a.assign_sub(now * 0.5f);
      return {now + 1.f, old * 2.f};
    };
  };
  const Tensor x = normal({64}, 1);
  const auto variable = [](int seed) { return Variable(normal({64}, seed)); };
  const Variable a = variable(2), b = variable(3), c = variable(2), d = variable(3);
  const auto plain = traced({x}, step(a, b));
  const auto fast = swept(traced({x}, step(c, d)));
  for (int round = 0; round < 3; ++round) {
    expect_close(run(fast, {x}), run(plain, {x}), fast->to_string());
    expect_close({c.value(), d.value()}, {a.value(), b.value()}, fast->to_string());
  }
}

TEST_F(Fuse, AVariableSomebodyHoldsKeepsItsOldValueForHim) {
  Model fast(std::vector<Shape>{Shape{1000}});
  const Tensors gradients = {normal({1000}, 90)};
  const auto graph = swept(traced(gradients, [&](const Tensors& in) { return fast.step(in); }));
  const Tensor held = fast.w[0].value();
  const std::vector<double> before = testing::doubles(held);
  run(graph, gradients);
  EXPECT_EQ(testing::doubles(held), before);
  EXPECT_NE(testing::doubles(fast.w[0].value()), before);
}

// --- random graphs
// --------------------------------------------------------------------------------

class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : rng_(seed) {}

  Tensors inputs() {
    rows_ = 1 + static_cast<int64_t>(rng_() % 9);
    cols_ = 1 + static_cast<int64_t>(rng_() % 40);
    return {normal({rows_, cols_}, 1), normal({rows_, cols_}, 2), normal({cols_}, 3),
            normal({rows_, 1}, 4), normal({}, 5)};
  }

  Tensors operator()(const Tensors& in) {
    values_ = in;
    const int length = 3 + static_cast<int>(rng_() % 40);
    for (int i = 0; i < length; ++i) add();
    Tensors outputs;
    for (size_t i = 0; i < 4; ++i) {
      const size_t back = rng_() % std::min(values_.size(), static_cast<size_t>(length));
      outputs.push_back(values_[values_.size() - 1 - back]);
    }
    return outputs;
  }

 private:
  Tensor any() { return values_[rng_() % values_.size()]; }
  /// Kept small, so that nothing overflows.
  void push(const Tensor& t) { values_.push_back(t); }
  void add() {
    const Tensor x = any(), y = any();
    switch (rng_() % 16) {
      case 0:
        return push(maximum(x, y));
      case 1:
        return push((x + y) * 0.5f);
      case 2:
        return push(tanh(x) * y);
      case 3:
        return push(select(less(x, y), x, y * 0.5f));
      case 4:
        return push(sigmoid(x));
      case 5:
        if (x.rank() == 2) push(sum(tanh(x), Ints{-1}, true) * 0.1f);
        return;
      case 6:
        if (x.rank() == 2) push(x - max(x, Ints{1}, true));
        return;
      case 7:
        if (x.rank() == 2) {
          push(call("expand_dims", {mean(x, Ints{1})}, {{"axis", 1}}));
        }
        return;
      case 8:
        if (x.rank() == 2) push(mean(x, Ints{0}));
        return;
      case 9:
        if (x.rank() == 2 && x.dim(1) == cols_ && x.dim(0) == rows_) {
          push(mean(tanh(matmul(x, x, false, true)), Ints{1}, true));
        }
        return;
      case 10:
        return push(call("broadcast_to", {x, Tensor::of({rows_, cols_})}));
      case 11:
        return push(mean(tanh(x)));
      case 12:
        return push(call("cast", {call("cast", {x}, {{"dtype", DType::float64}})},
                         {{"dtype", DType::float32}}));
      case 13:
        if (x.rank() == 2) push(max(x * y, Ints{0}, true));
        return;
      case 14:
        if (x.rank() == 2) push(sum(tanh(x), Ints{0}) * 0.1f);
        return;
      default:
        return push(x - y);
    }
  }

  std::mt19937 rng_;
  int64_t rows_ = 0, cols_ = 0;
  Tensors values_;
};

TEST_F(Fuse, RandomGraphsGiveTheSame) {
  int groups = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    RandomGraph make(seed);
    const Tensors inputs = make.inputs();
    const auto graph = traced(inputs, [&](const Tensors& in) { return make(in); });
    const auto fused = compile::fuse(graph);
    compile::verify(*fused);
    groups += count(*fused, "fused");
    expect_close(run(fused, inputs), run(graph, inputs), message("seed ", seed), 2e-3);
    // Printing finds source lines: too slow to do it for all.
    if (HasFailure()) FAIL() << graph->to_string() << fused->to_string();
  }
  EXPECT_GT(groups, 1500);
}

}  // namespace
}  // namespace tidemark
