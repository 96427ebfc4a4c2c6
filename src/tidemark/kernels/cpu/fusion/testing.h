// For tests of fused programs: running them by every back end and op by op, and making some up.
#pragma once

#include <gtest/gtest.h>
#include <tidemark/call.h>

#include <cmath>
#include <cstring>
#include <random>

#include "tidemark/kernels/cpu/fusion/compiled.h"
#include "tidemark/kernels/cpu/testing.h"

namespace tidemark::fusion {

using testing::doubles;

inline const OpDef& op(std::string_view name) { return OpRegistry::instance().get(name); }

class UsingBackEnd {
 public:
  explicit UsingBackEnd(BackEnd b) : outer_(set_back_end(b)) {}
  ~UsingBackEnd() { set_back_end(outer_); }

 private:
  BackEnd outer_;
};

inline std::vector<Tensor> run(const CompiledFusion& fused, const std::vector<Tensor>& inputs) {
  std::vector<const Shape*> shapes;
  std::vector<const void*> in;
  for (const Tensor& t : inputs) {
    shapes.push_back(&t.shape());
    in.push_back(t.raw_data());
  }
  const Shape space = space_of(fused.program(), shapes);
  std::vector<Tensor> outputs;
  std::vector<void*> out;
  for (size_t o = 0; o < fused.program().outputs.size(); ++o) {
    outputs.push_back(Tensor::uninitialized(fused.program().output_dtype(o),
                                            output_shape(fused.program(), o, space)));
    out.push_back(outputs.back().mutable_raw_data());
  }
  std::vector<char> workspace(fused.workspace(shapes) + 64);
  void* aligned = workspace.data();
  size_t room = workspace.size();
  if (room > 64) std::align(64, room - 64, aligned, room);
  fused.run(shapes, in, out, aligned);
  return outputs;
}

/// The parameters of an instruction as the op's attributes.
inline std::vector<Attr> attrs_of(const Instruction& i) {
  std::vector<Attr> attrs;
  for (const int index : i.op->attrs()) {
    const double value = i.params[attrs.size()];
    switch (i.op->params()[static_cast<size_t>(index)].attr_kind) {
      case AttrKind::boolean:
        attrs.emplace_back(value != 0);
        break;
      case AttrKind::integer:
        attrs.emplace_back(static_cast<int64_t>(value));
        break;
      default:
        attrs.emplace_back(value);
    }
  }
  return attrs;
}

/// The same instructions as calls of ops.
inline std::vector<Tensor> run_ops(const FusedProgram& p, const std::vector<Tensor>& inputs) {
  std::vector<const Shape*> shapes;
  for (const Tensor& t : inputs) shapes.push_back(&t.shape());
  const Shape space = space_of(p, shapes);
  const int reduced = p.row_dims == FusedProgram::kAllDims ? space.rank() : p.row_dims;
  Ints row_axes, column_axes;
  for (int d = 0; d < space.rank(); ++d) {
    (d < space.rank() - reduced ? column_axes : row_axes).push_back(d);
  }
  std::vector<Tensor> values;
  for (const Instruction& i : p.code) {
    std::vector<Tensor> args;
    for (int a = 0; a < i.arity; ++a) args.push_back(values[i.args[a]]);
    switch (i.code) {
      case Code::load:
        values.push_back(inputs[i.input]);
        break;
      case Code::constant:
        values.push_back(testing::tensor(i.dtype, {i.params[0]}, {}));
        break;
      case Code::map: {
        values.push_back(call(*i.op, args, attrs_of(i)));
        break;
      }
      case Code::select:
        values.push_back(call(op("select"), args));
        break;
      case Code::cast:
        values.push_back(call("cast", {args[0]}, {{"dtype", i.dtype}}));
        break;
      case Code::reduce:
      case Code::collect: {
        constexpr const char* kNames[] = {"sum", "mean", "max", "min"};
        const Tensor whole =
            call("broadcast_to", {args[0], Tensor::of(space.dims(), {int64_t{space.rank()}})});
        const Ints& axes = i.code == Code::reduce ? row_axes : column_axes;
        if (axes.empty()) {  // which would mean all of them
          values.push_back(whole);
          break;
        }
        values.push_back(call(kNames[static_cast<int>(i.reduction)], {whole},
                              {{"axis", axes}, {"keepdims", true}}));
        break;
      }
      case Code::random:
        ADD_FAILURE();
    }
  }
  std::vector<Tensor> outputs;
  for (size_t o = 0; o < p.outputs.size(); ++o) {
    const Shape shape = output_shape(p, o, space);
    Tensor t = values[p.outputs[o].value];
    if (t.num_elements() != shape.num_elements()) {
      t = call("broadcast_to", {t, Tensor::of(shape.dims(), {int64_t{shape.rank()}})});
    }
    outputs.push_back(t.reshaped(shape));
  }
  return outputs;
}

/// Largest distance in ulps of the dtype; beyond `absolute` of the largest value.
inline void expect_close(const Tensor& got, const Tensor& want, double ulps,
                         const std::string& what) {
  ASSERT_EQ(got.dtype(), want.dtype());
  ASSERT_EQ(got.shape(), want.shape()) << what;
  const std::vector<double> a = doubles(got), b = doubles(want);
  const double eps = got.dtype() == DType::float64    ? 0x1p-52
                     : got.dtype() == DType::float16  ? 0x1p-10
                     : got.dtype() == DType::bfloat16 ? 0x1p-7
                     : is_floating(got.dtype())       ? 0x1p-23
                                                      : 0;
  for (size_t i = 0; i < a.size(); ++i) {
    if (std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (a[i] == b[i]) continue;
    const double bound = ulps * eps * std::max(std::abs(b[i]), 1e-37);
    ASSERT_LE(std::abs(a[i] - b[i]), bound)
        << what << " at " << i << ": " << a[i] << " for " << b[i];
  }
}

inline Tensor random_tensor(std::mt19937& rng, DType dtype, const Shape& shape,
                            bool special = false) {
  std::vector<double> values(static_cast<size_t>(shape.num_elements()));
  std::uniform_real_distribution<double> real(-3, 3);
  for (double& v : values) {
    v = real(rng);
    if (is_integer(dtype)) v = std::floor(v * 5);
    if (dtype == DType::bool_) v = v > 0;
    if (special && is_floating(dtype) && rng() % 7 == 0) {
      constexpr double kSpecial[] = {INFINITY, -INFINITY, NAN, 0.0, -0.0, 1e30, -1e-30};
      v = kSpecial[rng() % std::size(kSpecial)];
    }
  }
  return testing::tensor(dtype, values, shape);
}

/// The interpreter first, then those that write code for this processor.
inline const std::vector<BackEnd> kBackEnds =
    best_code_level() == CodeLevel::none
        ? std::vector{BackEnd::interpreter}
        : std::vector{BackEnd::interpreter, BackEnd::avx2, BackEnd::avx512};
inline const char* name(BackEnd b) {
  constexpr const char* kNames[] = {"best", "interpreter", "avx2", "avx512"};
  return kNames[static_cast<int>(b)];
}

/// A program at random. `columns`: elements are collected over the rows too.
class Generator {
 public:
  Generator(std::mt19937& rng, DType dtype, bool rows, bool columns = false)
      : rng_(rng), dtype_(dtype), rows_(rows), columns_(columns) {}

  FusedProgram make(int length) {
    const int inputs = 1 + static_cast<int>(rng_() % 4);
    for (int i = 0; i < inputs; ++i) numbers_.push_back(b_.load(dtype_));
    numbers_.push_back(b_.constant(dtype_, static_cast<double>(rng_() % 5) - 1.5));
    if (rows_ || columns_) b_.set_row_dims(1);
    for (int i = 0; i < length; ++i) add();
    int outputs = 0;
    for (unsigned k = columns_ ? 1 + rng_() % 3 : 0; k > 0; --k) {
      const auto any = static_cast<Reduction>(is_floating(dtype_) ? rng_() % 4 : rng_() % 2 * 2);
      b_.output(b_.collect(any, number()), rng_() % 2);
    }
    for (size_t v = b_.size(); v-- > 0 && outputs < 3;) {
      const Instruction& i = b_[static_cast<Value>(v)];
      if (i.code == Code::load || i.code == Code::constant || i.code == Code::collect) continue;
      b_.output(static_cast<Value>(v), i.level == Level::row && rng_() % 2);
      ++outputs;
    }
    if (outputs == 0) b_.output(numbers_[0]);
    return b_.finish();
  }

 private:
  Value number() { return numbers_[rng_() % numbers_.size()]; }
  void add() {
    const bool floats = is_floating(dtype_);
    const auto pick = [&](auto... names) {
      const char* all[] = {names...};
      return all[rng_() % sizeof...(names)];
    };
    switch (rng_() % (rows_ ? 8 : 7)) {
      case 0:
      case 1:
        numbers_.push_back(b_.map(
            op(pick("add", "subtract", "multiply", "maximum", "minimum", "squared_difference")),
            {number(), number()}));
        break;
      case 2:
        numbers_.push_back(b_.map(op(floats ? pick("exp", "tanh", "sigmoid", "relu", "abs", "sin",
                                                   "negative", "square", "floor", "erf", "gelu")
                                            : pick("abs", "negative", "square", "relu", "sign")),
                                  {number()}));
        break;
      case 3:
        conditions_.push_back(
            b_.map(op(pick("less", "greater_equal", "equal", "not_equal")), {number(), number()}));
        break;
      case 4:
        if (conditions_.empty()) return;
        numbers_.push_back(b_.select(condition(), number(), number()));
        break;
      case 5:
        if (conditions_.empty()) return;
        conditions_.push_back(b_.map(op(pick("logical_and", "logical_or", "logical_xor")),
                                     {condition(), condition()}));
        break;
      case 6: {
        const DType other = floats ? DType::float32 : DType::int64;
        const Value there = b_.cast(number(), other);
        numbers_.push_back(b_.cast(b_.map(op("negative"), {there}), dtype_));
        break;
      }
      default:
        numbers_.push_back(
            b_.reduce(static_cast<Reduction>(floats ? 2 + rng_() % 2 : rng_() % 2 * 2), number()));
    }
  }
  Value condition() { return conditions_[rng_() % conditions_.size()]; }

  std::mt19937& rng_;
  const DType dtype_;
  const bool rows_, columns_;
  Builder b_;
  std::vector<Value> numbers_, conditions_;
};

/// Shapes of inputs that broadcast together.
inline Shape some_shape(std::mt19937& rng, const Shape& space) {
  Shape shape = space;
  for (int d = 0; d < shape.rank(); ++d) {
    if (rng() % 3 == 0) shape[d] = 1;
  }
  while (shape.rank() > 0 && shape[0] == 1 && rng() % 2) shape.erase(0);
  return shape;
}

}  // namespace tidemark::fusion
