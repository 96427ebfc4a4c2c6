// Reals rounded to 256 steps for each batch, as TFLite does it where weights alone are integers.
#pragma once

#include "tidemark/io/tflite/ops.h"

namespace tidemark::io::tflite {

/// Integers times a scale for each batch.
struct Rounded {
  Tensor numbers, scale;
  Tensor as_dtype(DType wide) const { return onnx::as(numbers, wide); }
};

/// -127 to 127 between what is farthest from 0 along the axes and its negative.
Rounded rounded_about_zero(const Tensor& x, const Ints& axes);
/// -128 to 127 between the least and the greatest, less the number that stands for 0.
Rounded rounded_between(const Tensor& x, const Ints& axes);

}  // namespace tidemark::io::tflite
