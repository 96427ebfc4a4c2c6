// Who is asked before inputs of several dtypes are promoted to one.
#pragma once

#include <tidemark/call.h>

namespace tidemark {

/// Throws where an error is wanted instead.
using PromotionGuard = void (*)(const OpCall& call);

/// Null, as at the start: nobody, they are promoted.
TIDEMARK_API void set_promotion_guard(PromotionGuard guard) noexcept;

}  // namespace tidemark
