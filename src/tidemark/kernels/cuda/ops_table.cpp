#include "tidemark/kernels/cuda/ops_table.h"

#include <string_view>
#include <unordered_map>

namespace tidemark::cuda {

namespace {

constexpr ElementOp kOps[] = {
    {"add", kReal},
    {"subtract", kReal},
    {"multiply", kReal},
    {"truediv", kFloats},
    {"negative", kReal},
    {"square", kReal},
    {"squared_difference", kReal},
    {"maximum", kReal},
    {"minimum", kReal},
    {"clip_by_value", kReal},
    {"relu", kReal},
    {"relu_grad", kReal},
    {"relu6", kReal},
    {"abs", kReal},
    {"sign", kReal},
    {"floor", kFloats},
    {"ceil", kFloats},
    {"round", kReal},
    {"rint", kFloats},
    {"sqrt", kFloats},
    {"rsqrt", kFloats},
    {"reciprocal", kFloats},
    {"softsign", kFloats},
    {"leaky_relu", kFloats},
    {"floordiv", kReal},
    {"truncatediv", kReal},
    {"floormod", kReal, true},
    {"truncatemod", kReal, true},
    {"nextafter", kFloats, true},
    {"divide_no_nan", kFloats},
    {"multiply_no_nan", kFloats},
    {"xdivy", kFloats},
    {"equal", kReal | kBool},
    {"not_equal", kReal | kBool},
    {"less", kReal},
    {"less_equal", kReal},
    {"greater", kReal},
    {"greater_equal", kReal},
    {"logical_and", kBool},
    {"logical_or", kBool},
    {"logical_xor", kBool},
    {"logical_not", kBool},
    {"is_nan", kFloats},
    {"is_inf", kFloats},
    {"is_finite", kFloats},
    {"bitwise_and", kInts},
    {"bitwise_or", kInts},
    {"bitwise_xor", kInts},
    {"left_shift", kInts},
    {"right_shift", kInts},
    {"invert", kInts},
    {"multiply_fixed_point", dtype_set(DType::int32)},
    {"exp", kFloats, true},
    {"expm1", kFloats, true},
    {"log", kFloats, true},
    {"log1p", kFloats, true},
    {"erf", kFloats, true},
    {"erfc", kFloats, true},
    {"erfinv", kFloats, true},
    {"ndtri", kFloats, true},
    {"lgamma", kFloats, true},
    {"digamma", kFloats, true},
    {"trigamma", kFloats, true},
    {"bessel_i0e", kFloats, true},
    {"bessel_i1e", kFloats, true},
    {"pow", kReal, true},
    {"xlogy", kFloats, true},
    {"xlog1py", kFloats, true},
    {"sin", kFloats, true},
    {"cos", kFloats, true},
    {"tan", kFloats, true},
    {"asin", kFloats, true},
    {"acos", kFloats, true},
    {"atan", kFloats, true},
    {"sinh", kFloats, true},
    {"cosh", kFloats, true},
    {"tanh", kFloats, true},
    {"asinh", kFloats, true},
    {"acosh", kFloats, true},
    {"atanh", kFloats, true},
    {"atan2", kFloats, true},
    {"sigmoid", kFloats, true},
    {"log_sigmoid", kFloats, true},
    {"softplus", kFloats, true},
    {"elu", kFloats, true},
    {"selu", kFloats, true},
    {"swish", kFloats, true},
    {"gelu", kFloats, true},
    {"gelu_grad", kFloats, true},
};

constexpr DTypeSet kParts = dtype_set(DType::float32, DType::float64);
constexpr ElementOp kComplexOps[] = {
    {"add", kComplex},        {"subtract", kComplex},       {"multiply", kComplex},
    {"truediv", kComplex},    {"divide_no_nan", kComplex},  {"multiply_no_nan", kComplex},
    {"xdivy", kComplex},      {"equal", kComplex},          {"not_equal", kComplex},
    {"negative", kComplex},   {"conj", kComplex},           {"square", kComplex},
    {"reciprocal", kComplex}, {"real", kComplex},           {"imag", kComplex},
    {"abs", kComplex},        {"angle", kComplex | kParts}, {"complex", kParts},
};

}  // namespace

bool has_complex_op(std::string_view name, DType dtype) {
  for (const ElementOp& op : kComplexOps) {
    if (op.name == name) return op.dtypes.contains(dtype);
  }
  return false;
}

const ElementOp* find_element_op(std::string_view name, DType dtype) {
  // Asked with every call.
  static const auto* by_name = [] {
    auto* all = new std::unordered_map<std::string_view, const ElementOp*>;
    for (const ElementOp& op : kOps) all->emplace(op.name, &op);
    return all;
  }();
  const auto found = by_name->find(name);
  return found != by_name->end() && found->second->dtypes.contains(dtype) ? found->second : nullptr;
}

}  // namespace tidemark::cuda
