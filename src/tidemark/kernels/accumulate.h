// Elements reduced into others where they lie: what collectives do with what they receive.
#pragma once

#include <tidemark/dtype.h>
#include <tidemark/export.h>

#include <cstdint>
#include <string_view>

namespace tidemark {

enum class Reduce : uint8_t { sum, product, min, max };

TIDEMARK_API std::string_view name_of(Reduce reduce);

/// Throws InvalidArgumentError for a dtype whose elements cannot be reduced so.
void check_reducible(DType dtype, Reduce reduce);

/// sum[i] = sum[i] ∘ more[i], by the kernels of the ops, so in their precision.
void accumulate(void* sum, const void* more, int64_t count, DType dtype, Reduce reduce);

}  // namespace tidemark
