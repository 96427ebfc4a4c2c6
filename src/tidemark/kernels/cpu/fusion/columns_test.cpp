// Reductions over the rows of a fused program.

#include "tidemark/kernels/cpu/fusion/columns.h"

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/fusion/testing.h"

namespace tidemark::fusion {
namespace {

/// Stores the elements and collects them, their squares and their extremes.
FusedProgram everything(DType dtype, int row_dims = 1) {
  Builder b;
  b.set_row_dims(row_dims);
  const Value x = b.load(dtype), y = b.load(dtype);
  const Value d = b.map(op("multiply"), {x, y});
  b.output(d);
  b.output(b.collect(Reduction::sum, d), true);
  b.output(b.collect(Reduction::max, d), true);
  b.output(b.collect(Reduction::min, x));
  if (is_floating(dtype)) {
    b.output(b.collect(Reduction::mean, b.map(op("square"), {x})));
    b.output(b.collect(Reduction::mean, x), true);
  }
  return b.finish();
}

/// Elements to the bit; sums within what so many roundings of their terms may make.
void expect_agrees(const FusedProgram& p, const std::vector<Tensor>& inputs,
                   const std::string& what) {
  const std::vector<Tensor> want = run_ops(p, inputs);
  std::vector<Tensor> reference;
  for (const BackEnd b : kBackEnds) {
    UsingBackEnd use(b);
    const auto fused = CompiledFusion::make(p);
    const std::vector<Tensor> got = run(*fused, inputs);
    if (b == BackEnd::interpreter) reference = got;
    for (size_t o = 0; o < got.size(); ++o) {
      const std::string where = message(what, " output ", o, " by ", name(b));
      const Instruction& i = p.code[p.outputs[o].value];
      const bool exact = i.code != Code::collect || !is_floating(i.dtype) ||
                         i.reduction == Reduction::max || i.reduction == Reduction::min;
      if (exact) {
        expect_close(got[o], want[o], 0, where);
      } else {
        ASSERT_EQ(got[o].shape(), want[o].shape()) << where;
        const std::vector<double> a = doubles(got[o]), w = doubles(want[o]);
        const double eps = i.dtype == DType::float64    ? 1e-12
                           : i.dtype == DType::float16  ? 2e-3
                           : i.dtype == DType::bfloat16 ? 1e-2
                                                        : 2e-5;
        for (size_t k = 0; k < a.size(); ++k) {
          if (std::isnan(a[k]) && std::isnan(w[k])) continue;
          if (a[k] == w[k]) continue;
          ASSERT_NEAR(a[k], w[k], eps * (1 + std::abs(w[k]))) << where << " at " << k;
        }
      }
      // The same lanes are added in the same order by all back ends.
      expect_close(got[o], reference[o], 0, where + " against the interpreter");
    }
    if (::testing::Test::HasFatalFailure()) return;
  }
}

TEST(Columns, EveryDtypeAndShape) {
  std::mt19937 rng(11);
  const std::vector<Shape> shapes = {{1, 1},    {1, 40},    {40, 1},      {7, 3},      {129, 5},
                                     {33, 64},  {500, 17},  {3, 5000},    {100, 2049}, {2000, 130},
                                     {2, 9, 7}, {70, 4, 8}, {5, 3, 2, 16}};
  for (const DType dtype : {DType::float32, DType::float16, DType::bfloat16, DType::float64,
                            DType::int32, DType::int64}) {
    for (const Shape& shape : shapes) {
      const Tensor x = random_tensor(rng, dtype, shape);
      std::vector<Shape> others = {shape, Shape{shape.dim(-1)}, Shape{}};
      Shape one_a_row = shape;
      one_a_row[shape.rank() - 1] = 1;
      others.push_back(one_a_row);
      for (const Shape& other : others) {
        for (int row = 1; row < shape.rank(); ++row) {
          expect_agrees(everything(dtype, row), {x, random_tensor(rng, dtype, other)},
                        message(name_of(dtype), " ", shape, " with ", other, ", rows of ", row));
        }
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Columns, NothingToCollect) {
  for (const Shape& shape : {Shape{0, 5}, Shape{5, 0}, Shape{0, 0}, Shape{0, 3000}}) {
    const Tensor x = Tensor::uninitialized(DType::float32, shape);
    expect_agrees(everything(DType::float32), {x, x}, message("of ", shape));
  }
}

TEST(Columns, NotNumbersAndInfinities) {
  std::mt19937 rng(12);
  for (const Shape& shape : {Shape{50, 3}, Shape{200, 100}, Shape{5, 2500}}) {
    const Tensor x = random_tensor(rng, DType::float32, shape, true);
    const Tensor y = random_tensor(rng, DType::float32, shape, true);
    expect_agrees(everything(DType::float32), {x, y}, message("of ", shape));
  }
}

TEST(Columns, LongColumnsStayExact) {
  // A float alone would lose every term beyond 2^24 of them, and drift long before.
  const int64_t rows = 1 << 20;
  for (const int64_t cols : {3, 64}) {
    const Tensor x =
        testing::tensor(DType::float32, std::vector<double>(rows * cols, 0.1), {rows, cols});
    Builder b;
    b.set_row_dims(1);
    const Value v = b.load(DType::float32);
    b.output(b.collect(Reduction::sum, v), true);
    b.output(b.collect(Reduction::mean, b.map(op("square"), {v})), true);
    const FusedProgram p = b.finish();
    for (const BackEnd back_end : kBackEnds) {
      UsingBackEnd use(back_end);
      const std::vector<Tensor> got = run(*CompiledFusion::make(p), {x});
      const double term = 0.1f;
      for (const double sum : doubles(got[0])) {
        ASSERT_NEAR(sum, term * rows, 1e-6 * term * rows) << name(back_end);
      }
      for (const double mean : doubles(got[1])) {
        ASSERT_NEAR(mean, term * term, 1e-6 * term * term) << name(back_end);
      }
    }
  }
}

TEST(Columns, NextToReductionsOfRows) {
  // The gradients of layer norm: of its input by rows, of scale and shift by columns.
  std::mt19937 rng(13);
  Builder b;
  b.set_row_dims(1);
  const Value x = b.load(DType::float32), dy = b.load(DType::float32);
  const Value scaled = b.map(op("multiply"), {dy, b.load(DType::float32)});
  const Value product = b.map(op("multiply"), {x, scaled});
  const Value mean = b.reduce(Reduction::mean, product);
  b.output(b.map(op("subtract"), {scaled, b.map(op("multiply"), {x, mean})}));
  b.output(b.collect(Reduction::sum, b.map(op("multiply"), {dy, x})), true);
  b.output(b.collect(Reduction::sum, dy), true);
  b.output(mean, true);
  const FusedProgram p = b.finish();
  for (const Shape& shape : {Shape{1, 7}, Shape{300, 65}, Shape{40, 3000}, Shape{3, 20000}}) {
    const std::vector<Tensor> inputs = {random_tensor(rng, DType::float32, shape),
                                        random_tensor(rng, DType::float32, shape),
                                        random_tensor(rng, DType::float32, {shape.dim(-1)})};
    const std::vector<Tensor> want = run_ops(p, inputs);
    for (const BackEnd back_end : kBackEnds) {
      UsingBackEnd use(back_end);
      const auto fused = CompiledFusion::make(p);
      const std::vector<Tensor> got = run(*fused, inputs);
      EXPECT_EQ(fused->is_machine_code(), back_end != BackEnd::interpreter);
      for (size_t o = 0; o < got.size(); ++o) {
        const auto a = doubles(got[o]), w = doubles(want[o]);
        ASSERT_EQ(a.size(), w.size());
        for (size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], w[i], 2e-4 * (1 + std::abs(w[i])));
      }
    }
  }
}

TEST(Columns, ResultsDoNotDependOnThreads) {
  std::mt19937 rng(14);
  for (int round = 0; round < 60; ++round) {
    const FusedProgram p = Generator(rng, DType::float32, round % 2, true).make(10);
    const Shape space = round % 3 == 0   ? Shape{1000, 47}
                        : round % 3 == 1 ? Shape{67, 3031}
                                         : Shape{9, 100, 130};
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      inputs.push_back(random_tensor(rng, DType::float32, i == 0 ? space : some_shape(rng, space)));
    }
    for (const BackEnd back_end : kBackEnds) {
      UsingBackEnd use(back_end);
      const auto fused = CompiledFusion::make(p);
      const std::vector<Tensor> first = run(*fused, inputs);
      for (const int threads : {1, 2, 5}) {
        const int old = set_num_threads(threads);
        const std::vector<Tensor> again = run(*fused, inputs);
        set_num_threads(old);
        for (size_t o = 0; o < first.size(); ++o) {
          ASSERT_EQ(std::memcmp(first[o].raw_data(), again[o].raw_data(), first[o].nbytes()), 0)
              << threads << " threads, " << name(back_end) << "\n"
              << to_string(p);
        }
      }
    }
  }
}

TEST(Columns, RandomProgramsAgree) {
  std::mt19937 rng(15);
  const std::vector<DType> dtypes = {DType::float32, DType::float32, DType::bfloat16,
                                     DType::float16, DType::float64, DType::int32,
                                     DType::int64};
  const std::vector<Shape> spaces = {{1},      {5},      {3, 4},       {7, 300},  {2, 3, 5, 4},
                                     {40, 65}, {300, 9}, {4, 1, 1029}, {130, 200}};
  for (int round = 0; round < 800; ++round) {
    const DType dtype = dtypes[rng() % dtypes.size()];
    const Shape space = spaces[rng() % spaces.size()];
    const FusedProgram p =
        Generator(rng, dtype, rng() % 3 == 0, true).make(static_cast<int>(rng() % 20));
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      inputs.push_back(random_tensor(rng, p.inputs[i], i == 0 ? space : some_shape(rng, space)));
    }
    const std::vector<Tensor> want = run_ops(p, inputs);
    UsingBackEnd use(BackEnd::interpreter);
    const std::vector<Tensor> got = run(*CompiledFusion::make(p), inputs);
    for (size_t o = 0; o < got.size(); ++o) {
      const Instruction& i = p.code[p.outputs[o].value];
      const bool sums = i.code == Code::collect && is_floating(i.dtype);
      const std::string what = message("round ", round, " over ", space, " of ", name_of(dtype),
                                       " output ", o, "\n", to_string(p));
      if (!sums) {
        expect_close(got[o], want[o], 0, what);
        continue;
      }
      // Terms may be of any size and cancel: what is left is compared with the largest of them.
      ASSERT_EQ(got[o].shape(), want[o].shape()) << what;
      const std::vector<double> a = doubles(got[o]), w = doubles(want[o]);
      for (size_t k = 0; k < a.size(); ++k) {
        if (!std::isfinite(w[k]) || !std::isfinite(a[k])) continue;
        const double eps = is_half(dtype) ? 2e-2 : 1e-3;
        ASSERT_LE(std::abs(a[k] - w[k]), eps * (1 + std::abs(w[k]))) << what;
      }
    }
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Columns, AreTheEndOfAProgram) {
  Builder b;
  b.set_row_dims(1);
  const Value x = b.load(DType::float32);
  const Value sum = b.collect(Reduction::sum, x);
  b.output(b.map(op("add"), {x, sum}));
  EXPECT_THROW(b.finish(), InternalError);
  Builder flat;
  flat.output(flat.collect(Reduction::sum, flat.load(DType::float32)));
  EXPECT_THROW(flat.finish(), InternalError);
  Builder whole;
  whole.set_row_dims(FusedProgram::kAllDims);
  whole.output(whole.collect(Reduction::sum, whole.load(DType::float32)));
  EXPECT_THROW(whole.finish(), InternalError);
  Builder ints;
  ints.set_row_dims(1);
  ints.output(ints.collect(Reduction::mean, ints.load(DType::int32)));
  EXPECT_THROW(ints.finish(), InternalError);
  EXPECT_NE(to_string(everything(DType::float32)).find("column_sum(%2)"), std::string::npos);
}

}  // namespace
}  // namespace tidemark::fusion
