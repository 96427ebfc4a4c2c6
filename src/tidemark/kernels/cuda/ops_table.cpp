#include "tidemark/kernels/cuda/ops_table.h"

#include <algorithm>
#include <iterator>

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
    {"floordiv", kFloats},
    {"truncatediv", kFloats},
    {"floormod", kFloats, true},
    {"truncatemod", kFloats, true},
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
    {"exp", kFloats, true},
    {"expm1", kFloats, true},
    {"log", kFloats, true},
    {"log1p", kFloats, true},
    {"erf", kFloats, true},
    {"erfc", kFloats, true},
    {"pow", kFloats, true},
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

}  // namespace

const ElementOp* find_element_op(std::string_view name, DType dtype) {
  const auto found = std::find_if(std::begin(kOps), std::end(kOps),
                                  [&](const ElementOp& op) { return op.name == name; });
  return found != std::end(kOps) && found->dtypes.contains(dtype) ? found : nullptr;
}

}  // namespace tidemark::cuda
