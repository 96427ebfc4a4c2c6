// The vector-Jacobian product of one op, by its own gradient definition.
//
//   std::vector<Tensor> dx = autodiff::vjp(op, inputs, attrs, outputs, dy);
#pragma once

#include <tidemark/op.h>

#include <vector>

namespace tidemark::autodiff {

/// One gradient each input; an empty handle where none flows. Throws UnimplementedError when the op
/// has no gradient definition.
TIDEMARK_API std::vector<Tensor> vjp(const OpDef& op, std::span<const Tensor> inputs,
                                     std::span<const Attr> attrs, std::span<const Tensor> outputs,
                                     std::span<const Tensor> dy);

}  // namespace tidemark::autodiff
