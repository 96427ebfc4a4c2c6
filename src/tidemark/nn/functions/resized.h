// Signals of another length.
#pragma once

#include <tidemark/tensor.h>

#include <string_view>

namespace tidemark::signal {

/// Cut, or filled up with zeros, along an axis.
Tensor resized(std::string_view name, const Tensor& x, int axis, int64_t length);

}  // namespace tidemark::signal
