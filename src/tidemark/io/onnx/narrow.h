// Element types of four to eight bits that we have no dtype for: to and from those that we have.
#pragma once

#include "tidemark/io/onnx/value.h"

namespace tidemark::io::onnx {

struct NarrowOptions {
  bool saturate = true;
  std::string_view round_mode = "up";  // of float8e8m0: up, down, nearest
};

/// The numbers: float32 of small floats, int8 or uint8 of small integers.
Tensor widened(const Value& value);
/// The nearest elements of the narrow type; ties go to the even one.
Value narrowed(const Tensor& x, Element element, const NarrowOptions& options);
/// Any element type to any other, texts among them.
Value converted(const Value& value, Element element, const NarrowOptions& options = {});

}  // namespace tidemark::io::onnx
