#include "tidemark/kernels/cuda/staging.h"

namespace tidemark::cuda {

Staging::Staging(const Context& context, const char* name)
    : context_(context), listed_([this, name] { return use(name); }) {}

Staging::~Staging() {
  if (context_.driver().push_context(context_.handle()) != kDone) return;
  for (Place& place : slots_) {
    place.used_until.reset();
    if (place.memory) context_.driver().unpin(place.memory);
  }
  context_.driver().pop_context();
}

memory::CacheUse Staging::use(const char* name) {
  std::lock_guard hold(mutex_);
  memory::CacheUse use;
  use.name = name;
  use.entries = made_;
  use.bytes = made_ * static_cast<int64_t>(kSlotBytes);
  use.capacity = kSlots * static_cast<int64_t>(kSlotBytes);
  return use;
}

/// The one used longest ago of those that nobody has; -1: all are taken.
int Staging::free_slot() const {
  for (int i = 0; i < kSlots; ++i) {
    const int slot = (next_ + i) % kSlots;
    if (!slots_[static_cast<size_t>(slot)].is_taken) return slot;
  }
  return -1;
}

Staging::Slot Staging::take() {
  std::unique_lock hold(mutex_);
  int number = -1;
  has_free_.wait(hold, [&] { return (number = free_slot()) >= 0; });
  Place& place = slots_[static_cast<size_t>(number)];
  place.is_taken = true;
  next_ = (number + 1) % kSlots;
  const std::shared_ptr<const Event> used_until = std::move(place.used_until);
  hold.unlock();
  Slot slot(*this, number);
  if (used_until) used_until->await();
  if (!place.memory) {
    void* memory = nullptr;
    context_.check(context_.driver().pin(&memory, kSlotBytes), "cuMemHostAlloc");
    hold.lock();
    place.memory = static_cast<char*>(memory);
    ++made_;
  }
  return slot;
}

void Staging::Slot::give_back(std::shared_ptr<const Event> used_until) noexcept {
  Staging* staging = std::exchange(staging_, nullptr);
  if (!staging) return;
  {
    std::lock_guard hold(staging->mutex_);
    Place& place = staging->slots_[static_cast<size_t>(number_)];
    place.used_until = std::move(used_until);
    place.is_taken = false;
  }
  staging->has_free_.notify_one();
}

}  // namespace tidemark::cuda
