// Attention and its gradient against the formula in double, over all dtypes.

#include <gtest/gtest.h>
#include <tidemark/memory.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <thread>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/testing.h"

namespace tidemark {
namespace {

using namespace testing;
using Values = std::vector<double>;

struct Sizes {
  int64_t items, queries, keys, depth, value_depth;
};

/// One call: its inputs, as the dtype rounds them, and what it should give.
struct Example {
  Sizes s;
  bool causal;
  Tensor q, k, v, mask, dy;
  Values y, lse, dq, dk, dv;

  Example(DType d, Sizes sizes, bool is_causal, bool masked) : s(sizes), causal(is_causal) {
    q = draw(d, {s.items, s.queries, s.depth}, 1);
    k = draw(d, {s.items, s.keys, s.depth}, 2);
    v = draw(d, {s.items, s.keys, s.value_depth}, 3);
    dy = draw(d, {s.items, s.queries, s.value_depth}, 4);
    mask = masked
               ? call("greater", {draw(DType::float32, {1, s.queries, s.keys}, 5), Tensor(-0.5f)})
               : Tensor(true);
    for (int64_t i = 0; i < s.items; ++i) add_item(i);
  }

  static Tensor draw(DType d, const Shape& shape, uint32_t seed) {
    std::mt19937 random(seed);
    Values out(static_cast<size_t>(shape.num_elements()));
    for (double& x : out) x = static_cast<double>(random() % 2048) / 1024 - 1;
    return tensor(d, out, shape);
  }

  static double at(const Tensor& t, int64_t i) { return doubles(t)[static_cast<size_t>(i)]; }

  bool sees(int64_t query, int64_t key) const {
    const bool open = mask.rank() == 0 || mask.data<bool>()[query * s.keys + key];
    return open && (!causal || key <= query);
  }

  void add_item(int64_t item) {
    const Values Q = doubles(q), K = doubles(k), V = doubles(v), DY = doubles(dy);
    const auto at = [](const Values& x, int64_t i) { return x[static_cast<size_t>(i)]; };
    dq.resize(Q.size());
    dk.resize(K.size());
    dv.resize(V.size());
    for (int64_t i = 0; i < s.queries; ++i) {
      const int64_t row = item * s.queries + i;
      Values p(static_cast<size_t>(s.keys)), mean(static_cast<size_t>(s.value_depth));
      double sum = 0;
      for (int64_t j = 0; j < s.keys; ++j) {
        double score = 0;
        for (int64_t e = 0; e < s.depth; ++e) {
          score += at(Q, row * s.depth + e) * at(K, (item * s.keys + j) * s.depth + e);
        }
        p[static_cast<size_t>(j)] = sees(i, j) ? std::exp(kScale * score) : 0;
        sum += p[static_cast<size_t>(j)];
      }
      lse.push_back(std::log(sum));
      for (double& x : p) x = sum > 0 ? x / sum : 0;
      double inner = 0;
      for (int64_t e = 0; e < s.value_depth; ++e) {
        double total = 0;
        for (int64_t j = 0; j < s.keys; ++j) {
          const int64_t cell = (item * s.keys + j) * s.value_depth + e;
          total += at(p, j) * at(V, cell);
          dv[static_cast<size_t>(cell)] += at(p, j) * at(DY, row * s.value_depth + e);
        }
        y.push_back(total);
        inner += total * at(DY, row * s.value_depth + e);
      }
      add_slopes(item, row, p, inner, Q, K, V, DY);
    }
  }

  void add_slopes(int64_t item, int64_t row, const Values& p, double inner, const Values& Q,
                  const Values& K, const Values& V, const Values& DY) {
    for (int64_t j = 0; j < s.keys; ++j) {
      const int64_t key = item * s.keys + j;
      double dp = 0;
      for (int64_t e = 0; e < s.value_depth; ++e) {
        dp += DY[static_cast<size_t>(row * s.value_depth + e)] *
              V[static_cast<size_t>(key * s.value_depth + e)];
      }
      const double slope = p[static_cast<size_t>(j)] * (dp - inner) * kScale;
      for (int64_t e = 0; e < s.depth; ++e) {
        const auto a = static_cast<size_t>(row * s.depth + e);
        const auto b = static_cast<size_t>(key * s.depth + e);
        dq[a] += slope * K[b];
        dk[b] += slope * Q[a];
      }
    }
  }

  static constexpr double kScale = 0.3;
};

void expect_near(const Tensor& got, const Values& expected, double room) {
  const Values values = doubles(got);
  ASSERT_EQ(values.size(), expected.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isinf(expected[i])) {
      ASSERT_EQ(values[i], expected[i]);
    } else {
      ASSERT_NEAR(values[i], expected[i], room * (1 + std::abs(expected[i]))) << i;
    }
  }
}

std::vector<Tensor> forward(const Example& e) {
  const Tensor inputs[] = {e.q, e.k, e.v, e.mask};
  return call_all("attention", inputs, {{"scale", Example::kScale}, {"causal", e.causal}});
}

std::vector<Tensor> backward(const Example& e, const std::vector<Tensor>& y) {
  const DType wide = y[1].dtype();
  const Tensor none = call("cast", {Tensor(0.0)}, {{"dtype", wide}});
  const Tensor inputs[] = {e.q, e.k, e.v, e.mask, y[0], y[1], e.dy, none};
  return call_all("attention_grad", inputs, {{"scale", Example::kScale}, {"causal", e.causal}});
}

double room_of(DType d) {
  return d == DType::float64   ? 1e-12
         : d == DType::float32 ? 1e-5
         : d == DType::float16 ? 1e-2
                               : 8e-2;
}

TEST(Attention, EqualsTheFormulaInEveryDtype) {
  const Sizes all[] = {{1, 1, 1, 1, 1},
                       {2, 5, 7, 3, 4},
                       {1, 131, 20, 16, 9},
                       {1, 20, 131, 8, 17},
                       {1, 140, 140, 4, 5}};
  for (DType d : all_of(kFloats)) {
    for (const Sizes& s : all) {
      for (const bool causal : {false, true}) {
        for (const bool masked : {false, true}) {
          SCOPED_TRACE(message(name_of(d), " ", s.queries, "x", s.keys, causal ? " causal" : "",
                               masked ? " masked" : ""));
          const Example e(d, s, causal, masked);
          const std::vector<Tensor> y = forward(e);
          EXPECT_EQ(y[0].dtype(), d);
          EXPECT_EQ(y[1].dtype(), d == DType::float64 ? d : DType::float32);
          expect_near(y[0], e.y, room_of(d));
          expect_near(y[1], e.lse, d == DType::float64 ? 1e-12 : 1e-5);
          const std::vector<Tensor> gradients = backward(e, y);
          expect_near(gradients[0], e.dq, 2 * room_of(d));
          expect_near(gradients[1], e.dk, 2 * room_of(d));
          expect_near(gradients[2], e.dv, 2 * room_of(d));
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Attention, DoesNotDependOnTheNumberOfThreads) {
  for (DType d : {DType::float32, DType::bfloat16}) {
    const Example e(d, {3, 150, 150, 8, 8}, true, false);
    const int before = set_num_threads(1);
    const std::vector<Tensor> alone = forward(e), alone_back = backward(e, alone);
    set_num_threads(4);
    const std::vector<Tensor> many = forward(e), many_back = backward(e, many);
    set_num_threads(before);
    EXPECT_EQ(std::memcmp(alone[0].raw_data(), many[0].raw_data(), many[0].nbytes()), 0);
    for (size_t i = 0; i < 3; ++i) {
      const Tensor &a = alone_back[i], &b = many_back[i];
      EXPECT_EQ(std::memcmp(a.raw_data(), b.raw_data(), b.nbytes()), 0) << i;
    }
  }
}

TEST(Attention, ItsWorkspaceIsLinearInTheLength) {
  for (DType d : {DType::float32, DType::float16}) {
    const auto extra = [&](int64_t length) {
      const Tensor x = Example::draw(d, {1, length, 4}, 1);
      const Tensor inputs[] = {x, x, x, Tensor(true)};
      memory::reset_peak();
      const int64_t before = memory::stats().live;
      call_all("attention", inputs, {{"scale", 1.0}});
      return memory::stats().peak - before;
    };
    const int64_t at_1k = extra(1024), at_2k = extra(2048), at_4k = extra(4096);
    // A longer sequence has work for more processors, each with memory for its blocks.
    const int64_t cores = std::thread::hardware_concurrency();
    const int64_t more = std::max<int64_t>(0, cores - 4) * (512 << 10);
    EXPECT_LE(at_4k - at_2k, 2 * (at_2k - at_1k) + (16 << 10) + more) << name_of(d);
    EXPECT_LT(at_4k, 4096 * 4096) << name_of(d);
  }
}

TEST(Attention, RefusesALogarithmOfAnotherDtype) {
  const Example e(DType::float16, {1, 3, 3, 2, 2}, false, false);
  std::vector<Tensor> y = forward(e);
  y[1] = call("cast", {y[1]}, {{"dtype", DType::float64}});
  EXPECT_THROW(backward(e, y), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
