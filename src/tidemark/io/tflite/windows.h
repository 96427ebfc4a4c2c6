// What operators over windows share, on reals and on integers.
#pragma once

#include "tidemark/io/tflite/ops.h"

namespace tidemark::io::tflite {

/// "SAME" or "VALID".
std::string padding_of(const Call& c);
/// Numbers of the options, each at least 1.
Ints steps_of(const Call& c, std::initializer_list<std::string_view> names);
void check_rank(const Call& c, const Tensor& t, int rank);

}  // namespace tidemark::io::tflite
