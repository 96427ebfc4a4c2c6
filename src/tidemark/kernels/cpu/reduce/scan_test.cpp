#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>

#include "tidemark/base/thread_pool.h"

namespace tidemark {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

Tensor ramp(const Shape& shape, DType dtype = DType::float64) {
  const Tensor t = Tensor::uninitialized(DType::float64, shape);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    t.mutable_data<double>()[i] = static_cast<double>(i * 7 % 11) - 3.5;
  }
  return dtype == DType::float64 ? t : call("cast", {t}, {{"dtype", dtype}});
}

double joined(const std::string& op, double a, double b) {
  if (op == "cumsum") return a + b;
  if (op == "cumprod") return a * b;
  return std::log(std::exp(a) + std::exp(b));
}

void check(const std::string& op, const Shape& shape, int axis, bool exclusive, bool reverse) {
  const Tensor x = ramp(shape);
  const Tensor y = call(op, {x}, {{"axis", axis}, {"exclusive", exclusive}, {"reverse", reverse}});
  int64_t inner = 1;
  for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  const int64_t n = shape[axis], step = n * inner;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const int64_t place = i % step / inner;
    double wanted = op == "cumsum" ? 0 : op == "cumprod" ? 1 : -kInf;
    for (int64_t p = 0; p < n; ++p) {
      const bool before = reverse ? p > place : p < place;
      if (before || (p == place && !exclusive)) {
        wanted = joined(op, wanted, x.data<double>()[i + (p - place) * inner]);
      }
    }
    const double given = y.data<double>()[i];
    if (std::isinf(wanted)) {
      ASSERT_EQ(given, wanted);
    } else {
      ASSERT_NEAR(given, wanted, 1e-9 * (1 + std::abs(wanted))) << op << axis << " " << i;
    }
  }
}

TEST(Scan, AgreesWithPlainLoops) {
  for (const char* op : {"cumsum", "cumprod", "cumulative_logsumexp"}) {
    for (const bool exclusive : {false, true}) {
      for (const bool reverse : {false, true}) {
        for (int axis = 0; axis < 3; ++axis) check(op, {3, 7, 5}, axis, exclusive, reverse);
        check(op, {6, 200}, 0, exclusive, reverse);
      }
    }
  }
}

TEST(Scan, OtherDtypes) {
  const Tensor ints = call("cumsum", {Tensor::of<uint8_t>({200, 100, 1})});
  EXPECT_EQ(ints.data<uint8_t>()[2], 45);
  const Tensor halves = call("cumsum", {ramp({40}, DType::float16)});
  const Tensor wanted = call("cumsum", {ramp({40})});
  for (int i = 0; i < 40; ++i) {
    EXPECT_NEAR(static_cast<float>(halves.data<Half>()[i]), wanted.data<double>()[i], 0.02);
  }
  using C = std::complex<float>;
  const Tensor c = Tensor::of<C>({C(1, 1), C(0, 2), C(3, 0)});
  EXPECT_EQ(call("cumsum", {c}).data<C>()[2], C(4, 3));
  EXPECT_EQ(call("cumprod", {c}).data<C>()[2], C(-6, 6));
  EXPECT_EQ(call("cumsum", {Tensor::uninitialized(DType::float32, {0, 3})}).shape(), (Shape{0, 3}));
}

TEST(Scan, LogsumexpOfInfinities) {
  const Tensor y = call("cumulative_logsumexp", {Tensor::of<float>({-kInf, -kInf, 2, kInf})});
  EXPECT_EQ(y.data<float>()[1], -kInf);
  EXPECT_FLOAT_EQ(y.data<float>()[2], 2);
  EXPECT_EQ(y.data<float>()[3], kInf);
}

TEST(Scan, RefusesBadAxes) {
  EXPECT_THROW(call("cumsum", {ramp({3})}, {{"axis", 3}}), InvalidArgumentError);
  EXPECT_THROW(call("cumsum", {Tensor(1.0)}), InvalidArgumentError);
}

TEST(Arg, FindsTheFirstExtreme) {
  for (const DType dtype : {DType::float16, DType::bfloat16, DType::float32, DType::float64,
                            DType::int8, DType::int32, DType::int64}) {
    for (const Shape& shape : {Shape{1000}, Shape{5, 300}, Shape{300, 5}, Shape{4, 9, 150}}) {
      const Tensor x = ramp(shape, dtype);
      const Tensor values = call("cast", {x}, {{"dtype", DType::float64}});
      for (int axis = 0; axis < shape.rank(); ++axis) {
        int64_t inner = 1;
        for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
        for (const bool is_max : {true, false}) {
          const Tensor y = call(is_max ? "argmax" : "argmin", {x}, {{"axis", axis - shape.rank()}});
          for (int64_t i = 0; i < y.num_elements(); ++i) {
            const double* line =
                values.data<double>() + i / inner * shape[axis] * inner + i % inner;
            int64_t best = 0;
            for (int64_t p = 1; p < shape[axis]; ++p) {
              const double a = line[p * inner], b = line[best * inner];
              if (is_max ? a > b : a < b) best = p;
            }
            ASSERT_EQ(y.data<int64_t>()[i], best) << name_of(dtype) << shape.to_string() << axis;
          }
        }
      }
    }
  }
}

TEST(Arg, NanNeverWins) {
  const auto at = [](std::initializer_list<float> x) {
    return call("argmax", {Tensor::of(x)}).item<int64_t>();
  };
  EXPECT_EQ(at({1, kNan, 3}), 2);
  EXPECT_EQ(at({kNan, 3}), 1);
  EXPECT_EQ(at({kNan, kNan}), 0);
  EXPECT_EQ(at({-kInf, -kInf}), 0);
  Tensor t = Tensor::uninitialized(DType::float32, {2000});
  std::fill_n(t.mutable_data<float>(), 2000, kNan);
  t.mutable_data<float>()[1500] = -kInf;
  EXPECT_EQ(call("argmax", {t}).item<int64_t>(), 1500);
  EXPECT_EQ(call("argmax", {t.reshaped({1000, 2})}, {{"axis", 0}}).data<int64_t>()[0], 750);
}

TEST(Arg, LinesOfManyPieces) {
  constexpr int64_t kLength = 400'000;
  for (const int64_t columns : {1, 3}) {
    Tensor t = Tensor::uninitialized(DType::float32, {kLength, columns});
    float* const x = t.mutable_data<float>();
    const auto best = [&](const char* op) {
      return call(op, {t}, {{"axis", 0}}).data<int64_t>()[columns - 1];
    };
    const auto set = [&](int64_t row, float value) { x[row * columns + columns - 1] = value; };
    std::fill_n(x, kLength * columns, kNan);
    EXPECT_EQ(best("argmax"), 0);
    set(390'000, -kInf);
    EXPECT_EQ(best("argmax"), 390'000);
    for (const int64_t row : {300'000, 200'000, 150'000}) {
      set(row, 7);  // the first of equal ones wins
      EXPECT_EQ(best("argmax"), row);
    }
    EXPECT_EQ(best("argmin"), 390'000);
    set(399'999, 8);
    EXPECT_EQ(best("argmax"), 399'999);
  }
}

TEST(Arg, DtypesAndErrors) {
  const Tensor t = Tensor::of<float>({1, 5, 3});
  EXPECT_EQ(call("argmax", {t}, {{"output_type", DType::uint16}}).item<uint16_t>(), 1);
  EXPECT_EQ(call("argmin", {Tensor::of<bool>({true, false})}).item<int64_t>(), 1);
  EXPECT_THROW(call("argmax", {t}, {{"output_type", DType::float32}}), InvalidArgumentError);
  EXPECT_THROW(call("argmax", {t}, {{"axis", 1}}), InvalidArgumentError);
  EXPECT_THROW(call("argmax", {Tensor(1.f)}), InvalidArgumentError);
  EXPECT_THROW(call("argmax", {Tensor::uninitialized(DType::float32, {0})}), InvalidArgumentError);
  EXPECT_EQ(call("argmax", {Tensor::uninitialized(DType::float32, {0, 3})}, {{"axis", 1}}).shape(),
            (Shape{0}));
}

}  // namespace
}  // namespace tidemark
