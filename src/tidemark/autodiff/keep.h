// What stays of a tensor until its op's gradient is asked for.
#pragma once

#include <tidemark/op.h>

#include "tidemark/tensor/storage.h"

namespace tidemark::autodiff {

/// Bit of input or output i in a mask of Keep. Masks have 32 bits; the items of a list beyond them
/// share the last bit.
inline bool is_kept(uint32_t mask, size_t i) { return (mask >> (i < 31 ? i : 31)) & 1u; }

/// The tensor itself where the definition keeps it, else its shape and dtype.
inline Tensor kept(const Tensor& t, uint32_t mask, size_t i) {
  return is_kept(mask, i) ? t : shape_only(t);
}

}  // namespace tidemark::autodiff
