#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/testing.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark {
namespace {

using namespace testing;

std::vector<double> draw(int64_t count, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<double> out(static_cast<size_t>(count));
  for (double& v : out) v = static_cast<double>(random() % 17) / 8 - 1;
  return out;
}

Tensor draw(DType d, const Shape& shape, uint32_t seed) {
  return tensor(d, draw(shape.num_elements(), seed), shape);
}

struct Layout {
  Shape images, filter;
  Ints strides;
  const char* padding;
  Ints dilations;
};

/// Sizes that reach the library and sizes that do not; groups; each kind of padding.
const Layout kLayouts[] = {
    {{2, 5, 6, 3}, {3, 3, 3, 4}, {1, 1}, "SAME", {}},
    {{8, 12, 12, 16}, {3, 3, 16, 32}, {1, 1}, "SAME", {}},
    {{1, 40, 40, 16}, {3, 3, 16, 32}, {1, 1}, "SAME", {}},
    {{1, 41, 40, 16}, {5, 3, 16, 16}, {2, 2}, "SAME", {}},
    {{3, 14, 13, 16}, {1, 1, 16, 24}, {1, 1}, "VALID", {}},
    {{9, 14, 14, 16}, {3, 3, 1, 16}, {1, 1}, "SAME", {}},
    {{2, 14, 14, 16}, {3, 3, 1, 32}, {2, 2}, "SAME", {}},
    {{2, 17, 16, 8}, {3, 3, 8, 8}, {1, 1}, "VALID", {3, 2}},
    {{2, 30, 8}, {4, 8, 16}, {3}, "SAME", {}},
    {{2, 6, 7, 8, 8}, {2, 3, 2, 8, 8}, {1, 2, 1}, "SAME", {}},
    // Filters that are large beside the images.
    {{1, 4, 4, 64}, {3, 3, 64, 64}, {1, 1}, "SAME", {}},
    {{2, 7, 6, 48}, {3, 2, 48, 128}, {2, 1}, "SAME", {}},
    {{1, 9, 8, 40}, {3, 3, 40, 96}, {1, 1}, "VALID", {2, 3}},
    {{3, 8, 8, 128}, {1, 1, 128, 256}, {2, 2}, "SAME", {}},
    {{1, 4, 5, 3, 64}, {2, 3, 2, 64, 64}, {1, 2, 1}, "SAME", {}},
};

std::vector<NamedAttr> attrs_of(const Layout& l) {
  return {{"strides", l.strides}, {"padding", l.padding}, {"dilations", l.dilations}};
}
std::vector<double> run(const char* op, std::vector<Tensor> inputs, const Layout& l) {
  const auto a = attrs_of(l);
  return doubles(call_all(op, inputs, {a[0], a[1], a[2]})[0]);
}
Tensor sizes(const Shape& s) { return Tensor::of(s.dims(), {s.rank()}); }

void expect_near(const std::vector<double>& a, const std::vector<double>& b, double limit) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], limit * (1 + std::abs(b[i]))) << i;
}

/// Double goes through our own loops, which the gradient tests prove; the library agrees with them.
TEST(Convolution, AllDtypesAgreeWithDouble) {
  for (const Layout& l : kLayouts) {
    SCOPED_TRACE(l.images.to_string() + l.filter.to_string());
    for (const DType d : {DType::float32, DType::bfloat16, DType::float16}) {
      const double limit = d == DType::float32 ? 1e-5 : d == DType::float16 ? 2e-3 : 1e-2;
      const Tensor x = draw(DType::float64, l.images, 1), w = draw(DType::float64, l.filter, 2);
      const auto cast = [&](const Tensor& t) { return call("cast", {t}, {{"dtype", d}}); };
      const std::vector<double> y = run("convolution", {x, w}, l);
      expect_near(run("convolution", {cast(x), cast(w)}, l), y, limit);
      const auto a = attrs_of(l);
      const std::vector<Tensor> both = {x, w};
      const Tensor dy =
          draw(DType::float64, call_all("convolution", both, {a[0], a[1], a[2]})[0].shape(), 3);
      expect_near(run("convolution_input_grad", {sizes(l.images), cast(w), cast(dy)}, l),
                  run("convolution_input_grad", {sizes(l.images), w, dy}, l), limit);
      expect_near(run("convolution_filter_grad", {cast(x), sizes(l.filter), cast(dy)}, l),
                  run("convolution_filter_grad", {x, sizes(l.filter), dy}, l), limit);
      if (HasFatalFailure()) FAIL() << name_of(d);
    }
  }
}

TEST(Convolution, AgreesWithPlainLoops) {
  const Tensor x = draw(DType::float64, {2, 5, 6, 3}, 1), w = draw(DType::float64, {3, 2, 3, 2}, 2);
  const Tensor y = call(
      "convolution", {x, w},
      {{"strides", Ints{2, 1}}, {"padding", "EXPLICIT"}, {"explicit_paddings", Ints{1, 2, 0, 1}}});
  ASSERT_EQ(y.shape(), (Shape{2, 3, 6, 2}));
  for (int64_t e = 0; e < y.num_elements(); ++e) {
    const int64_t o = e % 2, c = e / 2 % 6, r = e / 12 % 3, n = e / 36;
    double sum = 0;
    for (int64_t i = 0; i < 3; ++i) {
      for (int64_t j = 0; j < 2; ++j) {
        const int64_t a = 2 * r - 1 + i, b = c + j;
        if (a < 0 || a >= 5 || b >= 6) continue;
        for (int64_t k = 0; k < 3; ++k) {
          sum += x.data<double>()[((n * 5 + a) * 6 + b) * 3 + k] *
                 w.data<double>()[((i * 2 + j) * 3 + k) * 2 + o];
        }
      }
    }
    ASSERT_NEAR(y.data<double>()[e], sum, 1e-12) << e;
  }
}

TEST(Convolution, DoesNotDependOnThreads) {
  for (const Layout& l : {kLayouts[1], kLayouts[10]}) {
    const Tensor x = draw(DType::float32, l.images, 1), w = draw(DType::float32, l.filter, 2);
    Shape made = l.images;
    made[3] = l.filter[3];
    const Tensor dy = draw(DType::float32, made, 3);
    const int before = set_num_threads(1);
    const auto y = run("convolution", {x, w}, l);
    const auto dx = run("convolution_input_grad", {sizes(l.images), w, dy}, l);
    const auto dw = run("convolution_filter_grad", {x, sizes(l.filter), dy}, l);
    set_num_threads(4);
    EXPECT_EQ(run("convolution", {x, w}, l), y);
    EXPECT_EQ(run("convolution_input_grad", {sizes(l.images), w, dy}, l), dx);
    EXPECT_EQ(run("convolution_filter_grad", {x, sizes(l.filter), dy}, l), dw);
    set_num_threads(before);
  }
}

TEST(Convolution, EmptyAndBadInput) {
  const Tensor w = draw(DType::float32, {3, 3, 2, 4}, 1);
  const Layout plain{{}, {}, {}, "SAME", {}};
  EXPECT_EQ(call("convolution", {draw(DType::float32, {0, 5, 5, 2}, 1), w}, {{"padding", "SAME"}})
                .shape(),
            (Shape{0, 5, 5, 4}));
  const auto zeros = run("convolution_filter_grad",
                         {draw(DType::float32, {0, 5, 5, 2}, 1), sizes({3, 3, 2, 4}),
                          draw(DType::float32, {0, 5, 5, 4}, 1)},
                         plain);
  EXPECT_EQ(zeros, std::vector<double>(72, 0));
  const Tensor x = draw(DType::float32, {1, 2, 2, 2}, 1);
  EXPECT_THROW(call("convolution", {x, w}), InvalidArgumentError);
  EXPECT_THROW(call("convolution", {x, w}, {{"padding", "HALF"}}), InvalidArgumentError);
  EXPECT_THROW(call("convolution", {x, w}, {{"padding", "SAME"}, {"strides", Ints{0, 1}}}),
               InvalidArgumentError);
  EXPECT_THROW(call("convolution", {draw(DType::float32, {1, 4, 4, 3}, 1), w}),
               InvalidArgumentError);
  EXPECT_THROW(call("convolution_input_grad", {sizes({1, 5, 5, 2}), w, x}, {{"padding", "SAME"}}),
               InvalidArgumentError);
}

TEST(Pooling, AgreesWithPlainLoops) {
  const Tensor x = draw(DType::float64, {2, 5, 6, 70}, 1);
  for (const DType d : {DType::float64, DType::float32, DType::float16, DType::bfloat16}) {
    const Tensor given = call("cast", {x}, {{"dtype", d}});
    const std::vector<NamedAttr> a = {
        {"ksize", Ints{3, 2}}, {"strides", Ints{2, 1}}, {"padding", "SAME"}};
    const std::vector<Tensor> in = {given};
    const Tensor top = call_all("max_pool", in, {a[0], a[1], a[2]})[0];
    const Tensor mean = call_all("avg_pool", in, {a[0], a[1], a[2]})[0];
    const auto found = call_all("max_pool_with_argmax", in, {a[0], a[1], a[2]});
    ASSERT_EQ(top.shape(), (Shape{2, 3, 6, 70}));
    for (int64_t e = 0; e < top.num_elements(); ++e) {
      const int64_t k = e % 70, c = e / 70 % 6, r = e / 420 % 3, n = e / 1260;
      double best = -1e9, sum = 0, count = 0;
      int64_t where = -1;
      for (int64_t i = 0; i < 3; ++i) {
        for (int64_t j = 0; j < 2; ++j) {
          const int64_t p = 2 * r - 1 + i, q = c + j;
          if (p < 0 || p >= 5 || q >= 6) continue;
          const double v = x.data<double>()[((n * 5 + p) * 6 + q) * 70 + k];
          if (v > best) where = (p * 6 + q) * 70 + k;
          best = std::max(best, v);
          sum += v;
          ++count;
        }
      }
      ASSERT_EQ(doubles(top)[static_cast<size_t>(e)], best);
      ASSERT_EQ(found[1].data<int64_t>()[e], where);
      ASSERT_NEAR(doubles(mean)[static_cast<size_t>(e)], sum / count,
                  d == DType::float64 ? 1e-12 : 1e-2);
      if (e > 300) e += 97;
    }
  }
}

TEST(Convolution, PlansSeenAgainStayAndPlansSeenOnceGo) {
  const auto use = [] {
    for (const memory::CacheUse& cache : memory::cache_uses()) {
      if (cache.name == "convolution primitives") return cache;
    }
    return memory::CacheUse{};
  };
  const Tensor filter = draw(DType::float32, {3, 3, 16, 16}, 1);
  const auto convolve = [&](int64_t height, int64_t width) {
    return call("convolution", {draw(DType::float32, {1, height, width, 16}, 2), filter});
  };
  if (convolve(9, 9); use().entries == 0) GTEST_SKIP() << "built without oneDNN";
  for (int round = 0; round < 3; ++round) {
    for (int64_t size = 30; size < 50; ++size) convolve(size, size);
  }
  const memory::CacheUse known = use();
  EXPECT_GE(known.entries, 20);
  for (int64_t width = 60; width < 160; ++width) convolve(8, width);
  EXPECT_LE(use().entries, known.entries + 8);
  const int64_t misses = use().misses;
  for (int64_t size = 30; size < 50; ++size) convolve(size, size);
  EXPECT_EQ(use().misses, misses);
}

TEST(Pooling, GradientsOfWindowsApartAndMeetingEqualSums) {
  for (const int64_t stride : {1, 2, 3}) {
    const Tensor x = draw(DType::float64, {2, 7, 8, 70}, 3);
    const Ints size{2, 2}, steps{stride, stride};
    const Tensor y = call("max_pool", {x}, {{"ksize", size}, {"strides", steps}});
    const Tensor dy = draw(DType::float64, y.shape(), 4);
    const Tensor dx = call("max_pool_grad", {x, y, dy}, {{"ksize", size}, {"strides", steps}});
    std::vector<double> expected(static_cast<size_t>(x.num_elements()));
    const int64_t rows = y.dim(1), columns = y.dim(2);
    for (int64_t e = 0; e < y.num_elements(); ++e) {
      const int64_t k = e % 70, c = e / 70 % columns, r = e / 70 / columns % rows;
      const int64_t n = e / 70 / columns / rows;
      for (int64_t w = 0; w < 4; ++w) {
        const int64_t at = ((n * 7 + r * stride + w / 2) * 8 + c * stride + w % 2) * 70 + k;
        if (x.data<double>()[at] != y.data<double>()[e]) continue;
        expected[static_cast<size_t>(at)] += dy.data<double>()[e];
        break;
      }
    }
    EXPECT_EQ(doubles(dx), expected) << stride;
  }
}

TEST(Pooling, EmptyAndBadInput) {
  const Tensor none = draw(DType::float32, {0, 4, 4, 3}, 1);
  EXPECT_EQ(call("max_pool", {none}, {{"ksize", Ints{2, 2}}}).shape(), (Shape{0, 3, 3, 3}));
  const Tensor x = draw(DType::float32, {1, 4, 4, 3}, 1);
  EXPECT_THROW(call("max_pool", {x}, {{"ksize", Ints{5, 5}}}), InvalidArgumentError);
  EXPECT_THROW(call("avg_pool", {x}, {{"ksize", Ints{0, 1}}}), InvalidArgumentError);
  EXPECT_THROW(call("avg_pool", {x}, {{"ksize", Ints{2}}}), InvalidArgumentError);
}

}  // namespace
}  // namespace tidemark
