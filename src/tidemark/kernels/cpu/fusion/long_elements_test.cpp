// Programs with elements of 64 bits, alone and beside narrower ones, by machine code.

#include "tidemark/kernels/cpu/fusion/testing.h"

namespace tidemark::fusion {
namespace {

/// All back ends give the interpreter's bits, the others by machine code.
void expect_same(const FusedProgram& p, const std::vector<Tensor>& inputs,
                 const std::string& what) {
  std::vector<Tensor> want;
  for (const BackEnd b : kBackEnds) {
    UsingBackEnd use(b);
    const auto fused = CompiledFusion::make(p);
    const std::vector<Tensor> got = run(*fused, inputs);
    if (b == BackEnd::interpreter) {
      want = got;
      continue;
    }
    EXPECT_TRUE(fused->is_machine_code()) << name(b) << " refused " << what << "\n" << to_string(p);
    for (size_t o = 0; o < got.size(); ++o) {
      expect_close(got[o], want[o], 0, message(what, " by ", name(b), ", output ", o));
    }
  }
}

const std::vector<int64_t> kLengths = {1, 3, 4, 7, 8, 21, 1000};

TEST(LongElements, EveryOpIsTheSameToTheBit) {
  std::mt19937 rng(31);
  for (const DType dtype : {DType::float64, DType::int64}) {
    int ops = 0;
    for (const std::string_view op_name :
         {"add",       "subtract",   "multiply",   "truediv",       "negative",
          "square",    "maximum",    "minimum",    "relu",          "relu6",
          "abs",       "floor",      "ceil",       "round",         "rint",
          "sqrt",      "rsqrt",      "reciprocal", "exp",           "tanh",
          "sigmoid",   "log",        "sin",        "erf",           "gelu",
          "softsign",  "relu_grad",  "leaky_relu", "clip_by_value", "divide_no_nan",
          "sign",      "is_nan",     "is_inf",     "is_finite",     "squared_difference",
          "less",      "less_equal", "greater",    "greater_equal", "equal",
          "not_equal", "floordiv",   "pow",        "swish",         "atan2"}) {
      const OpDef& def = op(op_name);
      if (!is_fusable(def, dtype)) continue;
      ++ops;
      for (const int64_t n : kLengths) {
        Builder b;
        std::vector<Value> args;
        std::vector<Tensor> inputs;
        for (size_t k = 0; k < def.inputs().size(); ++k) {
          args.push_back(b.load(dtype));
          inputs.push_back(random_tensor(rng, dtype, {n}, n > 7));
        }
        b.output(b.map(def, args, {op_name == "leaky_relu" ? 0.2 : op_name == "swish" ? 1. : 0.}));
        // Something beside it: a call alone is better interpreted.
        for (const char* more : {"add", "subtract", "maximum", "minimum"}) {
          b.output(b.map(op(more), {args[0], args.back()}));
        }
        expect_same(b.finish(), inputs, message(op_name, " of ", n, " ", name_of(dtype)));
      }
      if (::testing::Test::HasFailure()) return;
    }
    EXPECT_GE(ops, dtype == DType::float64 ? 40 : 12);
  }
}

TEST(LongElements, LargeIntegersKeepAllTheirBits) {
  const std::vector<int64_t> some = {0,
                                     1,
                                     -1,
                                     INT64_MAX,
                                     INT64_MIN,
                                     int64_t{1} << 53,
                                     (int64_t{1} << 53) + 1,
                                     -(int64_t{1} << 40) + 7,
                                     0x1234567890abcdef};
  std::vector<int64_t> left, right;
  for (const int64_t a : some) {
    for (const int64_t c : some) {
      left.push_back(a);
      right.push_back(c);
    }
  }
  const auto tensor_of = [](const std::vector<int64_t>& values) {
    Tensor t = Tensor::uninitialized(DType::int64, {static_cast<int64_t>(values.size())});
    std::memcpy(t.mutable_raw_data(), values.data(), t.nbytes());
    return t;
  };
  const Tensor x = tensor_of(left), y = tensor_of(right);
  Builder b;
  const Value u = b.load(DType::int64), v = b.load(DType::int64);
  for (const char* name : {"add", "subtract", "multiply", "maximum", "minimum", "less", "equal"}) {
    b.output(b.map(op(name), {u, v}));
  }
  for (const char* name : {"negative", "abs", "relu"}) b.output(b.map(op(name), {u}));
  b.output(b.cast(u, DType::int32));
  b.output(b.cast(u, DType::float64));
  b.output(b.cast(u, DType::float32));
  const FusedProgram p = b.finish();
  std::vector<Tensor> want;
  for (const BackEnd back_end : kBackEnds) {
    UsingBackEnd use(back_end);
    const auto fused = CompiledFusion::make(p);
    const std::vector<Tensor> got = run(*fused, {x, y});
    if (want.empty()) want = got;
    EXPECT_EQ(fused->is_machine_code(), back_end != BackEnd::interpreter);
    for (size_t o = 0; o < got.size(); ++o) {
      EXPECT_EQ(std::memcmp(got[o].raw_data(), want[o].raw_data(), got[o].nbytes()), 0)
          << "output " << o << " by " << name(back_end);
    }
  }
}

TEST(LongElements, CastsBetweenAllWidths) {
  std::mt19937 rng(32);
  const std::vector<DType> dtypes = {DType::float64, DType::int64,    DType::float32, DType::int32,
                                     DType::float16, DType::bfloat16, DType::bool_};
  for (const DType from : dtypes) {
    for (const DType to : dtypes) {
      if (size_of(from) != 8 && size_of(to) != 8) continue;
      for (const int64_t n : kLengths) {
        Builder b;
        const Value x = b.load(from);
        b.output(b.cast(x, to));
        for (const char* more : {"add", "subtract", "maximum", "minimum"}) {
          if (from != DType::bool_) b.output(b.map(op(more), {x, x}));
        }
        expect_same(b.finish(), {random_tensor(rng, from, {n})},
                    message(n, " ", name_of(from), " to ", name_of(to)));
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

/// What a loss of labels and logits does: both widths, conditions between them, every kind stored.
TEST(LongElements, StandBesideNarrowOnes) {
  std::mt19937 rng(33);
  Builder b;
  const Value labels = b.load(DType::int64), logits = b.load(DType::float32);
  const Value weights = b.load(DType::float64), mask = b.load(DType::bool_);
  const Value half = b.load(DType::bfloat16), count = b.load(DType::int32);
  const Value known = b.map(op("greater_equal"), {labels, b.constant(DType::int64, 0)});
  const Value chosen = b.map(op("logical_and"), {known, mask});
  const Value scaled = b.map(op("multiply"), {logits, b.cast(weights, DType::float32)});
  b.output(b.select(chosen, scaled, b.map(op("negative"), {logits})));
  b.output(b.select(chosen, labels, b.constant(DType::int64, -1)));
  b.output(b.select(b.map(op("less"), {logits, b.cast(half, DType::float32)}), weights,
                    b.map(op("sqrt"), {b.map(op("abs"), {weights})})));
  b.output(chosen);
  b.output(b.map(op("add"), {b.cast(half, DType::float64), b.cast(count, DType::float64)}));
  b.output(b.cast(b.map(op("square"), {logits}), DType::bfloat16));
  b.output(b.map(op("sin"), {b.cast(logits, DType::float64)}));
  const FusedProgram p = b.finish();
  for (const Shape& shape :
       {Shape{1}, Shape{5}, Shape{8}, Shape{77}, Shape{3000}, Shape{40, 130}}) {
    std::vector<Tensor> inputs;
    for (const DType d : p.inputs) inputs.push_back(random_tensor(rng, d, shape));
    expect_same(p, inputs, shape.to_string());
    inputs[0] = random_tensor(rng, DType::int64, {1});
    inputs[2] = random_tensor(rng, DType::float64, {});
    if (shape.num_elements() > 1) expect_same(p, inputs, shape.to_string() + " with single ones");
  }
}

TEST(LongElements, AreReducedOverRowsAndColumns) {
  std::mt19937 rng(34);
  for (const DType dtype : {DType::float64, DType::int64}) {
    Builder b;
    b.set_row_dims(1);
    const Value x = b.load(dtype), narrow = b.load(DType::float32), whole = b.load(DType::int32);
    const Value largest = b.reduce(Reduction::max, x);
    b.output(b.map(op("subtract"), {x, largest}));
    b.output(b.reduce(Reduction::max, narrow), true);
    b.output(b.collect(Reduction::sum, whole), true);
    b.output(b.collect(Reduction::max, x), true);
    b.output(b.collect(Reduction::sum, x), true);
    b.output(b.collect(Reduction::min, narrow), true);
    const Value total = b.reduce(dtype == DType::float64 ? Reduction::mean : Reduction::sum, x);
    b.output(total, true);
    const FusedProgram p = b.finish();
    for (const Shape& shape : {Shape{1, 1}, Shape{3, 5}, Shape{70, 33}, Shape{9, 1000}}) {
      const std::vector<Tensor> inputs = {random_tensor(rng, dtype, shape),
                                          random_tensor(rng, DType::float32, shape),
                                          random_tensor(rng, DType::int32, shape)};
      const std::vector<Tensor> want = run_ops(p, inputs);
      for (const BackEnd back_end : kBackEnds) {
        UsingBackEnd use(back_end);
        const auto fused = CompiledFusion::make(p);
        const std::vector<Tensor> got = run(*fused, inputs);
        EXPECT_EQ(fused->is_machine_code(), back_end != BackEnd::interpreter) << to_string(p);
        for (size_t o = 0; o < got.size(); ++o) {
          const std::vector<double> a = doubles(got[o]), w = doubles(want[o]);
          ASSERT_EQ(a.size(), w.size());
          for (size_t i = 0; i < a.size(); ++i) {
            ASSERT_NEAR(a[i], w[i], 1e-12 * (1 + std::abs(w[i])))
                << name(back_end) << " " << shape.to_string() << " output " << o << " at " << i;
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace tidemark::fusion
