#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <complex>
#include <cstring>
#include <limits>
#include <random>

#include "tidemark/base/thread_pool.h"

namespace tidemark {
namespace {

using C = std::complex<double>;

template <class T>
C to_complex(T v) {
  if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return C(static_cast<float>(v));
  } else if constexpr (std::is_arithmetic_v<T>) {
    return C(static_cast<double>(v));
  } else {
    return C(v.real(), v.imag());
  }
}

template <class T>
Tensor random_matrix(const Shape& shape, uint32_t seed) {
  const Tensor t = Tensor::uninitialized(dtype_of<T>(), shape);
  std::mt19937 generator(seed);
  std::uniform_real_distribution<float> draw(std::is_unsigned_v<T> ? 0.f : -2.f, 2.9f);
  for (int64_t i = 0; i < t.num_elements(); ++i) {
    if constexpr (std::is_integral_v<T>) {
      t.mutable_data<T>()[i] = static_cast<T>(draw(generator));
    } else if constexpr (requires(T v) { v.real(); }) {
      t.mutable_data<T>()[i] = T(draw(generator), draw(generator));
    } else {
      t.mutable_data<T>()[i] = T(draw(generator));
    }
  }
  return t;
}

struct How {
  bool transpose_a = false, transpose_b = false, adjoint_a = false, adjoint_b = false;
};

Tensor product(const Tensor& a, const Tensor& b, How h = {}) {
  return call("matmul", {a, b},
              {{"transpose_a", h.transpose_a},
               {"transpose_b", h.transpose_b},
               {"adjoint_a", h.adjoint_a},
               {"adjoint_b", h.adjoint_b}});
}

/// Element (i, j) of op(matrix), whose memory starts at `data`.
template <class T>
C element(const T* data, int64_t rows, int64_t columns, bool transposed, bool adjoint, int64_t i,
          int64_t j) {
  if (transposed) return to_complex(data[j * columns + i]);
  if (adjoint) return std::conj(to_complex(data[j * columns + i]));
  (void)rows;
  return to_complex(data[i * columns + j]);
}

/// One matrix product against doubles.
template <class T>
void check(int64_t m, int64_t n, int64_t k, How h, double tolerance) {
  const bool swap_a = h.transpose_a || h.adjoint_a, swap_b = h.transpose_b || h.adjoint_b;
  const Tensor a = random_matrix<T>(swap_a ? Shape{k, m} : Shape{m, k}, 1);
  const Tensor b = random_matrix<T>(swap_b ? Shape{n, k} : Shape{k, n}, 2);
  const Tensor c = product(a, b, h);
  ASSERT_EQ(c.shape(), (Shape{m, n}));
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      C sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        sum += element(a.data<T>(), m, swap_a ? m : k, h.transpose_a, h.adjoint_a, i, l) *
               element(b.data<T>(), k, swap_b ? k : n, h.transpose_b, h.adjoint_b, l, j);
      }
      const C given = to_complex(c.data<T>()[i * n + j]);
      ASSERT_LE(std::abs(given - sum), tolerance * (static_cast<double>(k) + std::abs(sum)))
          << name_of(dtype_of<T>()) << " " << m << "x" << n << "x" << k << " at " << i << "," << j;
    }
  }
}

template <class T>
class MatmulTyped : public testing::Test {};
using Types = testing::Types<Half, BFloat16, float, double, std::complex<float>,
                             std::complex<double>, int32_t, int64_t, uint8_t, uint16_t, uint32_t>;
TYPED_TEST_SUITE(MatmulTyped, Types);

TYPED_TEST(MatmulTyped, AgreesWithDoubles) {
  using T = TypeParam;
  const double tolerance = std::is_same_v<T, BFloat16>   ? 8e-3
                           : std::is_same_v<T, Half>     ? 1e-3
                           : std::is_same_v<T, float>    ? 1e-6
                           : size_of(dtype_of<T>()) == 8 ? 1e-6
                                                         : 1e-12;
  const int64_t most = std::is_same_v<T, uint8_t> ? 20 : 1000;  // products that do not wrap
  for (const auto& [m, n, k] : {std::array<int64_t, 3>{1, 1, 1},
                                {3, 5, 7},
                                {1, 70, 33},
                                {1, 600, 40},
                                {65, 1, 40},
                                {17, 49, 20},
                                {64, 64, 64},
                                {70, 130, 90},
                                {130, 200, 300}}) {
    for (int swaps = 0; swaps < 4; ++swaps) {
      How h;
      h.transpose_a = swaps & 1;
      h.transpose_b = swaps & 2;
      check<T>(m, n, std::min(k, most), h, tolerance);
    }
  }
}

TEST(Matmul, AdjointConjugates) {
  for (int swaps = 1; swaps < 4; ++swaps) {
    How h;
    h.adjoint_a = swaps & 1;
    h.adjoint_b = swaps & 2;
    check<std::complex<float>>(9, 40, 13, h, 1e-5);
    check<float>(9, 40, 13, h, 1e-5);
  }
}

TEST(Matmul, IntegersWrapAround) {
  const Tensor a = Tensor::of<uint8_t>({200, 100}, {1, 2});
  const Tensor b = Tensor::of<uint8_t>({2, 3}, {2, 1});
  EXPECT_EQ(product(a, b).item<uint8_t>(), static_cast<uint8_t>(200 * 2 + 100 * 3));
}

/// Item by item, each batch dimension broadcast by hand.
void check_batches(const Shape& a_batch, const Shape& b_batch, int64_t m, int64_t n, int64_t k) {
  const auto with = [](Shape s, int64_t rows, int64_t columns) {
    s.push_back(rows);
    s.push_back(columns);
    return s;
  };
  const Tensor a = random_matrix<float>(with(a_batch, m, k), 3);
  const Tensor b = random_matrix<float>(with(b_batch, k, n), 4);
  const Shape batch = broadcast_shapes(a_batch, b_batch);
  const Tensor c = product(a, b);
  ASSERT_EQ(c.shape(), with(batch, m, n));
  for (int64_t item = 0; item < batch.num_elements(); ++item) {
    const auto matrix = [&](const Tensor& t, const Shape& own, int64_t rows, int64_t columns) {
      int64_t rest = item, index = 0, scale = 1;
      for (int d = batch.rank() - 1, o = own.rank() - 1; o >= 0; --d, --o) {
        if (own[o] != 1) index += rest % batch[d] * scale;
        scale *= own[o];
        rest /= batch[d];
      }
      return t.reshaped({own.num_elements(), rows, columns})
          .rows(index, 1)
          .reshaped({rows, columns});
    };
    const Tensor wanted = product(matrix(a, a_batch, m, k), matrix(b, b_batch, k, n));
    for (int64_t i = 0; i < m * n; ++i) {
      ASSERT_NEAR(c.data<float>()[item * m * n + i], wanted.data<float>()[i], 1e-4);
    }
  }
}

TEST(Matmul, BatchesBroadcast) {
  for (const int64_t size : {5, 40}) {
    check_batches({3}, {3}, size, size + 1, size + 2);
    check_batches({4, 3}, {}, size, size + 1, size + 2);
    check_batches({}, {4}, size, size + 1, size + 2);
    check_batches({4, 1}, {3}, size, size + 1, size + 2);
    check_batches({2, 1, 3}, {4, 1}, 1, size + 1, size + 2);
  }
}

TEST(Matmul, EmptyAndSpecialValues) {
  const auto zeros = [](const Shape& s) { return Tensor::uninitialized(DType::float32, s); };
  const Tensor nothing = product(zeros({2, 0}), zeros({0, 3}));
  EXPECT_EQ(nothing.shape(), (Shape{2, 3}));
  for (const float v : nothing.values<float>()) EXPECT_EQ(v, 0);
  EXPECT_EQ(product(zeros({0, 4}), zeros({4, 3})).shape(), (Shape{0, 3}));
  EXPECT_EQ(product(zeros({0, 2, 4}), zeros({4, 3})).shape(), (Shape{0, 2, 3}));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  for (const int64_t size : {4, 64}) {
    Tensor a = random_matrix<float>({size, size}, 5), b = random_matrix<float>({size, size}, 6);
    a.mutable_data<float>()[0] = nan;
    b.mutable_data<float>()[1] = std::numeric_limits<float>::infinity();
    const Tensor c = product(a, b);
    EXPECT_TRUE(std::isnan(c.data<float>()[size - 1]));
    EXPECT_FALSE(std::isfinite(c.data<float>()[size + 1]));
    EXPECT_TRUE(std::isfinite(c.data<float>()[size]));
  }
}

TEST(Matmul, RefusesWhatDoesNotFit) {
  const auto t = [](const Shape& s) { return random_matrix<float>(s, 1); };
  EXPECT_THROW(product(t({2, 3}), t({2, 3})), InvalidArgumentError);
  EXPECT_THROW(product(t({3}), t({3, 2})), InvalidArgumentError);
  EXPECT_THROW(product(t({4, 2, 3}), t({5, 3, 2})), InvalidArgumentError);
  How both;
  both.transpose_a = both.adjoint_a = true;
  EXPECT_THROW(product(t({2, 2}), t({2, 2}), both), InvalidArgumentError);
}

TEST(Matmul, DoesNotDependOnThreads) {
  const int before = num_threads();
  for (const DType dtype : {DType::float32, DType::bfloat16, DType::float64}) {
    const auto cast = [&](const Tensor& t) {
      return dtype == DType::float32 ? t : call("cast", {t}, {{"dtype", dtype}});
    };
    for (const auto& [m, n, k] :
         {std::array<int64_t, 3>{300, 200, 100}, {1, 3000, 700}, {513, 130, 520}}) {
      const Tensor a = cast(random_matrix<float>({m, k}, 1)),
                   b = cast(random_matrix<float>({k, n}, 2));
      std::vector<Tensor> results;
      for (const int threads : {1, 2, 3}) {
        set_num_threads(threads);
        results.push_back(product(a, b));
      }
      for (const Tensor& r : results) {
        ASSERT_EQ(std::memcmp(r.raw_data(), results[0].raw_data(), r.nbytes()), 0);
      }
    }
  }
  set_num_threads(before);
}

}  // namespace
}  // namespace tidemark
