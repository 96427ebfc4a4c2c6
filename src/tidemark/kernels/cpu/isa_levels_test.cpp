// Every instruction-set level this CPU runs gives the results of the lowest one.

#include "tidemark/kernels/cpu/isa_level.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "tidemark/kernels/cpu/isa/gemm_loops.h"
#include "tidemark/kernels/cpu/isa/product_loops.h"
#include "tidemark/kernels/cpu/isa/random_loops.h"
#include "tidemark/kernels/cpu/isa/reduce_loops.h"
#include "tidemark/kernels/cpu/isa/scan_loops.h"

namespace tidemark::cpu {

TIDEMARK_DECLARE_PER_ISA(ReduceLoops, reduce_table);
TIDEMARK_DECLARE_PER_ISA(GemmTable, gemm_table);
TIDEMARK_DECLARE_PER_ISA(ProductTable, product_table);
TIDEMARK_DECLARE_PER_ISA(RandomTable, random_table);
TIDEMARK_DECLARE_PER_ISA(ScanTable, scan_table);

namespace {

std::vector<Level> levels() {
  std::vector<Level> out;
  for (int l = 0; l <= static_cast<int>(best_level()); ++l) out.push_back(static_cast<Level>(l));
  return out;
}

std::vector<float> numbers(size_t count) {
  std::vector<float> x(count);
  for (size_t i = 0; i < count; ++i) x[i] = static_cast<float>(i * 37 % 101) / 16 - 3;
  return x;
}

TEST(IsaLevels, ReductionsAgree) {
  const std::vector<float> x = numbers(40 * 77);
  const int f32 = static_cast<int>(DType::float32);
  const std::vector<float> params(77, 0.5f);
  for (const ReduceLoop loop : {ReduceLoop::sum, ReduceLoop::sum_squares, ReduceLoop::sum_exp,
                                ReduceLoop::sum_square_deviations}) {
    std::vector<double> first;
    for (const Level level : levels()) {
      const ReduceLoopPair& pair =
          TIDEMARK_FOR_LEVEL(reduce_table, level).pairs[static_cast<int>(loop)][f32];
      std::vector<double> acc(40 + 77 + 3);
      pair.rows(x.data(), 40, 77, 77, params.data(), acc.data());
      pair.columns(x.data(), 40, 77, 77, params.data(), acc.data() + 40);
      pair.columns(x.data(), 1000, 3, 3, params.data(), acc.data() + 117);
      if (first.empty()) first = acc;
      for (size_t i = 0; i < acc.size(); ++i) {
        ASSERT_NEAR(acc[i], first[i], 1e-5 * (1 + std::abs(first[i])));
      }
    }
  }
}

TEST(IsaLevels, ProductsAgree) {
  const std::vector<float> a = numbers(19 * 300), b = numbers(300 * 50);
  const int f32 = static_cast<int>(DType::float32);
  std::vector<float> first;
  for (const Level level : levels()) {
    const GemmTable& table = TIDEMARK_FOR_LEVEL(gemm_table, level);
    const ProductLoops& loops = TIDEMARK_FOR_LEVEL(product_table, level).of_float;
    const MatrixView right{b.data(), 300, 50, 50, 1};
    std::vector<float> packed(
        static_cast<size_t>(300 * ((50 + loops.lanes - 1) / loops.lanes * loops.lanes)));
    loops.pack(right, packed.data());
    std::vector<float> c(19 * 50 + 50), unpacked(19 * 50);
    ProductPart part{19, 50, 300, a.data(), 300, 1, packed.data(), 0, 0, true, c.data(), 50, false};
    loops.multiply(part);
    part.b = b.data();
    part.b_stride = 50;
    part.b_elements = 300 * 50;
    part.is_packed = false;
    part.c = unpacked.data();
    loops.multiply(part);
    ASSERT_EQ(std::memcmp(c.data(), unpacked.data(), unpacked.size() * sizeof(float)), 0);
    table.gemv[f32](a.data(), b.data(), 300, 1, 50, 0, 50, c.data() + 19 * 50);
    if (first.empty()) first = c;
    for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], first[i], 2e-3);
    for (size_t j = 0; j < 50; ++j) ASSERT_NEAR(c[j], c[19 * 50 + j], 2e-3);
  }
}

TEST(IsaLevels, ProductsOfOddSizesAgree) {
  const std::vector<float> x = numbers(40 * 150);
  for (const int64_t rows : {1, 7, 13}) {
    for (const int64_t columns : {3, 16, 41, 130}) {
      std::vector<float> first;
      for (const Level level : levels()) {
        const ProductLoops& loops = TIDEMARK_FOR_LEVEL(product_table, level).of_float;
        std::vector<float> c(static_cast<size_t>(rows * columns));
        loops.multiply({rows, columns, 33, x.data(), 1, rows, x.data() + 5, columns, 33 * columns,
                        false, c.data(), columns, false});
        if (first.empty()) first = c;
        for (size_t i = 0; i < c.size(); ++i) ASSERT_NEAR(c[i], first[i], 1e-3);
      }
    }
  }
}

TEST(IsaLevels, ProductsOfIntegersAgree) {
  std::vector<int32_t> a(19 * 300), b(300 * 50);
  for (size_t i = 0; i < a.size(); ++i) a[i] = static_cast<int32_t>(i * 37 % 101) - 50;
  for (size_t i = 0; i < b.size(); ++i) b[i] = static_cast<int32_t>(i * 53 % 97) - 40;
  std::vector<int32_t> first;
  for (const Level level : levels()) {
    const GemmLoops& gemm =
        TIDEMARK_FOR_LEVEL(gemm_table, level).gemm[static_cast<int>(DType::int32)];
    const MatrixView left{a.data(), 19, 300, 300, 1}, right{b.data(), 300, 50, 50, 1};
    const int64_t panels = (50 + gemm.panel_columns - 1) / gemm.panel_columns;
    const int64_t bytes = gemm.panel_columns * gemm.column_bytes * 300;
    std::vector<char> packed(static_cast<size_t>(panels * bytes));
    for (int64_t p = 0; p < panels; ++p) gemm.pack(right, p, packed.data() + p * bytes);
    std::vector<int32_t> c(19 * 50);
    for (int64_t p = 0; p < panels; p += kGemmPanels) {
      gemm.multiply(left, 0, 19, packed.data(), p, std::min(panels, p + kGemmPanels), c.data(), 50);
    }
    if (first.empty()) first = c;
    ASSERT_EQ(c, first);
  }
}

TEST(IsaLevels, RandomNumbersAgree) {
  RandomDraw draw{};
  draw.stream = {123, 456, 789};
  draw.highest = 1;
  for (const DType dtype : {DType::float32, DType::float64}) {
    for (int loop = 0; loop < 3; ++loop) {
      std::vector<double> first;
      for (const Level level : levels()) {
        const RandomFill fill =
            TIDEMARK_FOR_LEVEL(random_table, level).fill[loop][static_cast<int>(dtype)];
        std::vector<double> values(333);
        if (dtype == DType::float64) {
          fill(draw, 0, 333, values.data());
        } else {
          std::vector<float> floats(333);
          fill(draw, 0, 333, floats.data());
          values.assign(floats.begin(), floats.end());
        }
        if (first.empty()) first = values;
        for (size_t i = 0; i < values.size(); ++i) ASSERT_NEAR(values[i], first[i], 1e-5);
      }
    }
  }
  for (const DType dtype : {DType::uint32, DType::uint64}) {
    std::vector<uint64_t> first;
    for (const Level level : levels()) {
      std::vector<uint64_t> bits(333);
      TIDEMARK_FOR_LEVEL(random_table, level)
          .fill[static_cast<int>(RandomLoop::integers)][static_cast<int>(dtype)](draw, 0, 333,
                                                                                 bits.data());
      if (first.empty()) first = bits;
      ASSERT_EQ(bits, first);
    }
  }
}

TEST(IsaLevels, PlacesOfExtremesAgree) {
  const std::vector<float> x = numbers(5000);
  for (const Level level : levels()) {
    const ArgFn arg =
        TIDEMARK_FOR_LEVEL(scan_table, level).arg_max[static_cast<int>(DType::float32)];
    int64_t index[2];
    arg(x.data() + 1, 4999, 1, 1, index);
    EXPECT_EQ(index[0], std::max_element(x.begin() + 1, x.end()) - x.begin() - 1);
    arg(x.data(), 2500, 2, 2, index);
    EXPECT_EQ(x[static_cast<size_t>(index[1]) * 2 + 1], 100.f / 16 - 3);
  }
}

}  // namespace
}  // namespace tidemark::cpu
