// Programs by every back end against the ops one by one.

#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cpu/fusion/testing.h"
#include "tidemark/memory/cache_registry.h"

namespace tidemark::fusion {
namespace {

FusedProgram bench_program() {
  Builder b;
  const Value x = b.load(DType::float32);
  const Value w = b.map(
      op("add"), {b.map(op("multiply"), {b.constant(DType::float32, 2), b.map(op("square"), {x})}),
                  b.constant(DType::float32, 1)});
  b.output(b.map(op("multiply"),
                 {b.map(op("tanh"), {w}), b.map(op("exp"), {b.map(op("negative"), {w})})}));
  return b.finish();
}

TEST(Fusion, TheBenchProgramAgreesEverywhere) {
  std::mt19937 rng(1);
  const FusedProgram p = bench_program();
  for (const int64_t n : {1, 7, 16, 1000, 4096, 100001}) {
    const Tensor x = random_tensor(rng, DType::float32, {n});
    const Tensor want = run_ops(p, {x})[0];
    for (const BackEnd b : kBackEnds) {
      UsingBackEnd use(b);
      const auto fused = CompiledFusion::make(p);
      expect_close(run(*fused, {x})[0], want, b == BackEnd::interpreter ? 0 : 4, name(b));
      EXPECT_EQ(fused->is_machine_code(), b != BackEnd::interpreter);
    }
  }
}

/// Every op that can be fused, by itself, against its own kernel.
TEST(Fusion, EveryOpAgreesWithItsKernel) {
  std::mt19937 rng(2);
  int tried = 0;
  for (const OpDef* def : OpRegistry::instance().all()) {
    for (const DType dtype : {DType::float32, DType::float64, DType::bfloat16, DType::float16,
                              DType::int32, DType::int64, DType::bool_}) {
      if (!is_fusable(*def, dtype) || !kernels_of(*def)) continue;
      if (def->name() == "cast" || def->name() == "select") continue;
      Builder b;
      std::vector<Value> args;
      std::vector<Tensor> inputs;
      for (size_t a = 0; a < def->inputs().size(); ++a) {
        args.push_back(b.load(dtype));
        inputs.push_back(random_tensor(rng, dtype, {333}, true));
      }
      b.output(b.map(*def, args, {0.25, 0}));
      const FusedProgram p = b.finish();
      const Tensor want = run_ops(p, inputs)[0];
      for (const BackEnd back_end : kBackEnds) {
        UsingBackEnd use(back_end);
        const double ulps = back_end == BackEnd::interpreter ? 0 : is_half(dtype) ? 1 : 4;
        expect_close(run(*CompiledFusion::make(p), inputs)[0], want, ulps,
                     message(def->name(), " of ", name_of(dtype), " by ", name(back_end)));
        ++tried;
      }
    }
  }
  EXPECT_GT(tried, 200 * static_cast<int>(kBackEnds.size()));
}

double exact(std::string_view function, double x) {
  if (function == "exp") return std::exp(x);
  if (function == "tanh") return std::tanh(x);
  if (function == "log") return std::log(x);
  if (function == "sigmoid") return 1 / (1 + std::exp(-x));
  return 0.5 * x * std::erfc(x * -0.70710678118654752440);
}

TEST(Fusion, FunctionsAreCloseToExact) {
  for (const std::string_view function : {"exp", "tanh", "sigmoid", "log", "gelu"}) {
    std::vector<double> values;
    for (double v = 1e-30; v < 87; v *= 1.0003) {
      values.push_back(static_cast<float>(v));
      if (function != "log" && (function != "gelu" || v < 5)) {
        values.push_back(static_cast<float>(-v));
      }
    }
    const Tensor x = testing::tensor(DType::float32, values);
    Builder b;
    const Value v = b.load(DType::float32);
    b.output(b.map(op(function), {v}));
    const FusedProgram p = b.finish();
    for (const BackEnd back_end : kBackEnds) {
      UsingBackEnd use(back_end);
      const std::vector<double> got = doubles(run(*CompiledFusion::make(p), {x})[0]);
      double worst = 0;
      for (size_t i = 0; i < got.size(); ++i) {
        const double want = exact(function, values[i]);
        const double ulp = std::ldexp(1.0, std::ilogb(want) - 23);
        worst = std::max(worst, std::abs(got[i] - want) / ulp);
      }
      // log by AVX2 is the loop's.
      const bool by_loop = back_end == BackEnd::interpreter || function == "log";
      const double bound = function == "gelu" ? 6 : by_loop ? 4 : 2.5;
      EXPECT_LE(worst, bound) << function << " by " << name(back_end);
    }
  }
}

FusedProgram softmax_program(bool logarithm) {
  Builder b;
  b.set_row_dims(1);
  const Value x = b.load(DType::float32);
  const Value shifted = b.map(op("subtract"), {x, b.reduce(Reduction::max, x)});
  const Value e = b.map(op("exp"), {shifted});
  const Value sum = b.reduce(Reduction::sum, e);
  b.output(logarithm ? b.map(op("subtract"), {shifted, b.map(op("log"), {sum})})
                     : b.map(op("truediv"), {e, sum}));
  return b.finish();
}

FusedProgram layer_norm_program() {
  Builder b;
  b.set_row_dims(1);
  const Value x = b.load(DType::float32), gamma = b.load(DType::float32),
              beta = b.load(DType::float32);
  const Value centered = b.map(op("subtract"), {x, b.reduce(Reduction::mean, x)});
  const Value variance = b.reduce(Reduction::mean, b.map(op("square"), {centered}));
  const Value scale =
      b.map(op("rsqrt"), {b.map(op("add"), {variance, b.constant(DType::float32, 1e-5)})});
  const Value y = b.map(op("multiply"), {b.map(op("multiply"), {centered, scale}), gamma});
  b.output(b.map(op("add"), {y, beta}));
  b.output(variance, true);
  return b.finish();
}

TEST(Fusion, RowsAreReducedInTheMiddle) {
  std::mt19937 rng(3);
  for (const Shape& shape : {Shape{5, 7}, Shape{64, 1000}, Shape{3, 4, 33}, Shape{1, 1},
                             Shape{200, 16}, Shape{2, 5000}}) {
    const Tensor x = random_tensor(rng, DType::float32, shape);
    const Shape last{shape.dim(-1)};
    const Tensor gamma = random_tensor(rng, DType::float32, last);
    const Tensor beta = random_tensor(rng, DType::float32, last);
    const std::vector<std::pair<FusedProgram, std::vector<Tensor>>> cases = {
        {softmax_program(false), {x}},
        {softmax_program(true), {x}},
        {layer_norm_program(), {x, gamma, beta}}};
    for (const auto& [program, inputs] : cases) {
      const std::vector<Tensor> want = run_ops(program, inputs);
      for (const BackEnd b : kBackEnds) {
        UsingBackEnd use(b);
        const auto fused = CompiledFusion::make(program);
        const std::vector<Tensor> got = run(*fused, inputs);
        for (size_t o = 0; o < got.size(); ++o) {
          const auto a = doubles(got[o]), w = doubles(want[o]);
          ASSERT_EQ(got[o].shape(), want[o].shape());
          for (size_t i = 0; i < a.size(); ++i) {
            ASSERT_NEAR(a[i], w[i], 2e-6 * (1 + std::abs(w[i])) * (shape.dim(-1) == 1 ? 1e3 : 1))
                << name(b) << " " << shape.to_string() << " output " << o << "\n"
                << to_string(program);
          }
        }
        EXPECT_EQ(fused->is_machine_code(), b != BackEnd::interpreter);
      }
    }
  }
}

TEST(Fusion, WholeTensorsAreReducedAlikeByAnyNumberOfThreads) {
  std::mt19937 rng(4);
  Builder b;
  b.set_row_dims(FusedProgram::kAllDims);
  const Value x = b.load(DType::float32), y = b.load(DType::float32);
  const Value d = b.map(op("squared_difference"), {x, y});
  b.output(b.map(op("sqrt"), {b.reduce(Reduction::mean, d)}), true);
  b.output(b.reduce(Reduction::max, d), true);
  const FusedProgram p = b.finish();
  for (const int64_t n : {0, 1, 100, 30000, 1000003}) {
    const std::vector<Tensor> inputs = {random_tensor(rng, DType::float32, {n}),
                                        random_tensor(rng, DType::float32, {n})};
    const std::vector<Tensor> want = run_ops(p, inputs);
    for (const BackEnd back_end : kBackEnds) {
      UsingBackEnd use(back_end);
      const auto fused = CompiledFusion::make(p);
      const std::vector<Tensor> first = run(*fused, inputs);
      for (size_t o = 0; o < 2; ++o) {
        expect_close(first[o], want[o], 100, message(name(back_end), " of ", n));
      }
      for (const int threads : {1, 3, 8}) {
        const int old = set_num_threads(threads);
        const std::vector<Tensor> again = run(*fused, inputs);
        set_num_threads(old);
        for (size_t o = 0; o < 2; ++o) {
          EXPECT_EQ(std::memcmp(again[o].raw_data(), first[o].raw_data(), 4), 0) << threads;
        }
      }
    }
  }
}

// --- random programs ----------------------------------------------------------------------------

/// A value that is far from every step of the program: discontinuities (floor, comparisons) turn
/// one ulp into anything, so machine code is compared where it agrees on almost all elements.
void expect_mostly_close(const Tensor& got, const Tensor& want, const std::string& what) {
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> a = doubles(got), b = doubles(want);
  const double eps = is_half(got.dtype()) ? 0x1p-5 : 1e-4;
  size_t off = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (std::isfinite(a[i]) && std::isfinite(b[i]) &&
        std::abs(a[i] - b[i]) <= eps * (1 + std::abs(b[i]))) {
      continue;
    }
    ++off;
  }
  EXPECT_LE(off, a.size() / 20 + 1) << what;
}

TEST(Fusion, RandomProgramsAgree) {
  std::mt19937 rng(5);
  const std::vector<DType> dtypes = {DType::float32,  DType::float32, DType::float32,
                                     DType::bfloat16, DType::float16, DType::float64,
                                     DType::int32,    DType::int64};
  const std::vector<Shape> spaces = {{},     {1},      {0},          {5},      {1000},
                                     {3, 4}, {7, 300}, {2, 3, 5, 4}, {40, 65}, {4, 1, 129}};
  int machine_code = 0;
  for (int round = 0; round < 1500; ++round) {
    const DType dtype = dtypes[rng() % dtypes.size()];
    const Shape space = spaces[rng() % spaces.size()];
    const bool rows = space.rank() > 0 && rng() % 3 == 0;
    const FusedProgram p = Generator(rng, dtype, rows).make(1 + static_cast<int>(rng() % 25));
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < p.inputs.size(); ++i) {
      inputs.push_back(
          random_tensor(rng, p.inputs[i], i == 0 ? space : some_shape(rng, space), rng() % 8 == 0));
    }
    const std::vector<Tensor> want = run_ops(p, inputs);
    for (const BackEnd back_end : kBackEnds) {
      UsingBackEnd use(back_end);
      const auto fused = CompiledFusion::make(p);
      const std::vector<Tensor> got = run(*fused, inputs);
      machine_code += fused->is_machine_code();
      const std::string what = message("round ", round, " by ", name(back_end), " over ", space,
                                       " of ", name_of(dtype), "\n", to_string(p));
      for (size_t o = 0; o < got.size(); ++o) {
        if (back_end == BackEnd::interpreter) {
          expect_close(got[o], want[o], 0, what);
        } else {
          expect_mostly_close(got[o], want[o], what);
        }
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_EQ(machine_code > 1500, best_code_level() != CodeLevel::none);
}

TEST(Fusion, ResultsDoNotDependOnThreads) {
  std::mt19937 rng(6);
  for (int round = 0; round < 40; ++round) {
    const bool rows = round % 2;
    const FusedProgram p = Generator(rng, DType::float32, rows).make(12);
    const Shape space = rows ? Shape{123, 457} : Shape{67, 1031};
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
          ASSERT_EQ(std::memcmp(first[o].raw_data(), again[o].raw_data(), first[o].nbytes()), 0);
        }
      }
    }
  }
}

TEST(Fusion, RandomNumbersAreThoseOfTheOps) {
  Builder b;
  const Value x = b.load(DType::float32);
  const uint16_t seed = b.seed_input(DType::int32);
  const Value u = b.random(Drawn::uniform, DType::float32, 0, 1, seed);
  b.output(b.map(op("multiply"), {x, u}));
  const FusedProgram p = b.finish();
  std::mt19937 rng(7);
  for (const Shape& shape : {Shape{10}, Shape{33, 100}, Shape{100000}}) {
    const Tensor t = random_tensor(rng, DType::float32, shape);
    const Tensor key = Tensor::of<int32_t>({3, 4});
    const Tensor drawn =
        call("stateless_random_uniform", {Tensor::of(shape.dims(), {int64_t{shape.rank()}}), key});
    const Tensor want = call("multiply", {t, drawn});
    for (const BackEnd back_end : kBackEnds) {
      UsingBackEnd use(back_end);
      expect_close(run(*CompiledFusion::make(p), {t, key})[0], want, 0, name(back_end));
    }
  }
}

TEST(Fusion, WritesInPlaceOnlyWhereNothingIsReadLater) {
  const auto softmax = CompiledFusion::make(softmax_program(false));
  EXPECT_TRUE(softmax->may_write_into(0, 0));
  Builder b;
  const Value x = b.load(DType::float32), y = b.load(DType::float32);
  b.output(b.map(op("add"), {x, y}));
  b.output(b.map(op("subtract"), {x, y}));
  const auto two = CompiledFusion::make(b.finish());
  EXPECT_FALSE(two->may_write_into(0, 0));
  EXPECT_TRUE(two->may_write_into(1, 0));

  std::mt19937 rng(8);
  for (const BackEnd back_end : kBackEnds) {
    UsingBackEnd use(back_end);
    const auto fused = CompiledFusion::make(softmax_program(false));
    Tensor t = random_tensor(rng, DType::float32, {9, 77});
    const Tensor want = run(*fused, {t})[0];
    const Shape* shape = &t.shape();
    const void* in = t.raw_data();
    void* out = t.mutable_raw_data();
    std::vector<char> workspace(fused->workspace({&shape, 1}));
    fused->run({&shape, 1}, {&in, 1}, {&out, 1}, workspace.data());
    expect_close(t, want, 0, name(back_end));
  }
}

int64_t code_bytes() {
  for (const memory::CacheUse& use : memory::cache_uses()) {
    if (use.name == "fusion code") return use.bytes;
  }
  return 0;
}

TEST(Fusion, CodeGoesWithItsOwner) {
  std::mt19937 rng(9);
  const Tensor x = random_tensor(rng, DType::float32, {100});
  run(*CompiledFusion::make(bench_program()), {x});
  const int64_t before = code_bytes();
  {
    const auto fused = CompiledFusion::make(bench_program());
    run(*fused, {x});
    EXPECT_TRUE(!fused->is_machine_code() || code_bytes() > before);
  }
  for (int i = 0; i < 3000; ++i) run(*CompiledFusion::make(bench_program()), {x});
  EXPECT_EQ(code_bytes(), before);
}

/// Sums along rows beside an op that is called, and beside others; of any length.
TEST(Fusion, SumsHaveTheSameBitsAtEveryLevel) {
  std::mt19937 rng(21);
  for (const DType dtype : {DType::float32, DType::float64, DType::float16}) {
    for (const int64_t n : {3, 8, 15, 16, 17, 24, 100, 1000}) {
      Builder b;
      b.set_row_dims(1);
      const Value x = b.load(dtype), y = b.load(dtype);
      const Value power = b.map(op("pow"), {x, b.constant(dtype, 2)});
      const Value product = b.map(op("multiply"), {x, y});
      b.output(b.reduce(Reduction::sum, power), true);
      b.output(b.reduce(Reduction::mean, product), true);
      b.output(b.reduce(Reduction::max, product), true);
      const FusedProgram p = b.finish();
      const std::vector<Tensor> inputs = {random_tensor(rng, dtype, {5, n}),
                                          random_tensor(rng, dtype, {5, n})};
      const std::vector<Tensor> exact = run_ops(p, inputs);
      std::vector<Tensor> first;
      for (const BackEnd back_end : kBackEnds) {
        if (back_end == BackEnd::interpreter) continue;
        UsingBackEnd use(back_end);
        const std::vector<Tensor> got = run(*CompiledFusion::make(p), inputs);
        if (first.empty()) first = got;
        for (size_t o = 0; o < got.size(); ++o) {
          EXPECT_EQ(std::memcmp(got[o].raw_data(), first[o].raw_data(), got[o].nbytes()), 0)
              << "output " << o << " of rows of " << n << " by " << name(back_end);
          expect_mostly_close(got[o], exact[o], message("output ", o, " by ", name(back_end)));
        }
      }
    }
  }
}

TEST(Fusion, BrokenProgramsAreRefused) {
  Builder b;
  const Value x = b.load(DType::float32), i = b.load(DType::int32);
  EXPECT_THROW(
      {
        Builder mixed = b;
        mixed.output(mixed.map(op("add"), {x, i}));
        mixed.finish();
      },
      InternalError);
  FusedProgram p = bench_program();
  p.code.back().args[0] = 99;
  EXPECT_THROW(verify(p), InternalError);
  EXPECT_THROW(CompiledFusion::make(p), InternalError);
  Builder nothing;
  EXPECT_THROW(nothing.finish(), InternalError);
}

TEST(Fusion, ProgramsCompareAndPrint) {
  EXPECT_EQ(bench_program(), bench_program());
  EXPECT_EQ(hash_of(bench_program()), hash_of(bench_program()));
  EXPECT_NE(softmax_program(true), softmax_program(false));
  EXPECT_NE(hash_of(softmax_program(true)), hash_of(softmax_program(false)));
  EXPECT_NE(to_string(softmax_program(false)).find("%1 = row_max(%0) : float32 a row"),
            std::string::npos)
      << to_string(softmax_program(false));
  EXPECT_GT(bytes_of(bench_program()), 0u);
}

}  // namespace
}  // namespace tidemark::fusion
