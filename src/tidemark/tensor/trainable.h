// Which variables tapes watch by themselves: those made trainable, unless the program has said
// otherwise since. Ids say how they were made; what was said since is kept while the variable
// lives.
#pragma once

#include <tidemark/export.h>

#include <atomic>
#include <cstdint>

#include "tidemark/tensor/storage.h"

namespace tidemark {

namespace detail {
/// How many variables are no longer as they were made.
TIDEMARK_API extern std::atomic<uint64_t> num_changed_trainable;
TIDEMARK_API bool is_changed_trainable(uint64_t id) noexcept;
}  // namespace detail

/// Whether this is the id of a variable that tapes watch by themselves.
inline bool is_trainable(uint64_t id) noexcept {
  const bool made_so = (id & kTrainableIds) != 0;
  if (detail::num_changed_trainable.load(std::memory_order_relaxed) == 0) return made_so;
  return made_so != detail::is_changed_trainable(id);
}

/// From now on tapes watch, or do not watch, the variable with this id by themselves.
TIDEMARK_API void set_trainable(uint64_t id, bool trainable);
/// The variable is gone.
void forget_trainable(uint64_t id) noexcept;

}  // namespace tidemark
