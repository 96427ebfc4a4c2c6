#include "tidemark/tensor/trainable.h"

#include <mutex>
#include <unordered_set>

namespace tidemark {

namespace {

/// Never destroyed: variables may outlive whatever is destroyed at the end of the process.
struct Changed {
  std::mutex mutex;
  std::unordered_set<uint64_t> ids;
};

Changed& changed() {
  static Changed* const all = new Changed;
  return *all;
}

}  // namespace

std::atomic<uint64_t> detail::num_changed_trainable{0};

bool detail::is_changed_trainable(uint64_t id) noexcept {
  const std::lock_guard lock(changed().mutex);
  return changed().ids.contains(id);
}

void set_trainable(uint64_t id, bool trainable) {
  Changed& all = changed();
  const std::lock_guard lock(all.mutex);
  if (trainable != ((id & kTrainableIds) != 0)) {
    all.ids.insert(id);
  } else {
    all.ids.erase(id);
  }
  detail::num_changed_trainable.store(all.ids.size(), std::memory_order_relaxed);
}

void forget_trainable(uint64_t id) noexcept {
  if (detail::num_changed_trainable.load(std::memory_order_relaxed) == 0) return;
  Changed& all = changed();
  const std::lock_guard lock(all.mutex);
  all.ids.erase(id);
  detail::num_changed_trainable.store(all.ids.size(), std::memory_order_relaxed);
}

}  // namespace tidemark
