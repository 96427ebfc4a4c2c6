// Which calls may write their result where an input lies.
#pragma once

#include <tidemark/op.h>

namespace tidemark {

/// What the op's definition says for all its calls, or what the attributes of this one allow. The
/// result and the input have the same shape and dtype, and nobody needs the input afterwards.
TIDEMARK_API bool may_write_into(const OpDef& op, std::span<const Tensor> inputs,
                                 std::span<const Attr> attrs, size_t input);

}  // namespace tidemark
