// How operators of TFLite are built: the same table of builders as ONNX's, under the domain
// "tflite". Values are reals where the file's integers stand for such and no operator on integers
// takes them (lowering.h).
#pragma once

#include "tidemark/io/onnx/build.h"
#include "tidemark/io/tflite/lowering.h"

namespace tidemark::io::tflite {

using onnx::Call;
using onnx::Entry;
using onnx::Values;

std::span<const Entry> math_entries();
std::span<const Entry> array_entries();
std::span<const Entry> window_entries();
std::span<const Entry> control_entries();
std::span<const Entry> recurrent_entries();
// Of operators on integers.
std::span<const Entry> integer_product_entries();
std::span<const Entry> integer_element_entries();
std::span<const Entry> integer_table_entries();
std::span<const Entry> rounded_input_entries();

/// What the option `activation` asks for behind the operator.
Tensor activated(const Call& c, const Tensor& x);
/// The element type of the operator's first output.
DType output_dtype(const Call& c);

constexpr Entry entry(std::string_view op, onnx::BuildOne build) { return {op, build, kDomain}; }
constexpr Entry entry(std::string_view op, onnx::BuildAll build) { return {op, build, kDomain}; }

}  // namespace tidemark::io::tflite
