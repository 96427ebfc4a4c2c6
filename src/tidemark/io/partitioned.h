// A tensor that is stored in parts, each a box of it.
#pragma once

#include <tidemark/tensor.h>

#include <span>
#include <vector>

#include "tidemark/io/ordered_code.h"

namespace tidemark::io {

/// Nothing is wrong: null. Else why the parts are not the whole tensor, each element once.
const char* find_fault_of_parts(const Shape& whole, std::span<const std::vector<Extent>> parts);

/// The part must be without fault.
Shape shape_of_part(const Shape& whole, std::span<const Extent> part);

/// Copies a part to its place. Of any dtype but string.
void copy_part(const Tensor& whole, std::span<const Extent> part, const Tensor& value);

}  // namespace tidemark::io
