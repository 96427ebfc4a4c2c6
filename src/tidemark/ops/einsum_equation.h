// What the equation of an einsum says, with numbers for its labels.
#pragma once

#include <tidemark/shape.h>

#include <span>
#include <string_view>
#include <vector>

namespace tidemark {

/// A letter is its character; the dimensions of "..." are numbered from kEllipsis on, counted from
/// the right, so that those of several operands line up as in broadcasting.
using Labels = std::vector<int>;
inline constexpr int kEllipsis = 256;

struct EinsumEquation {
  std::vector<Labels> inputs;  // one label a dimension
  Labels output;
};

/// Throws InvalidArgumentError saying what is wrong with the equation for operands of those shapes.
EinsumEquation parse_einsum(std::string_view equation, std::span<const Shape> shapes);

}  // namespace tidemark
