#include "tidemark/kernels/cuda/staging.h"

#include <algorithm>

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

/// One that the GPU is done with, else one that is not made yet, else the one given back longest
/// ago; -1: all are taken.
int Staging::free_slot() const {
  const Place* oldest = nullptr;
  const Place* unmade = nullptr;
  for (const Place& place : slots_) {
    if (place.is_taken) continue;
    if (!place.memory) {
      if (!unmade) unmade = &place;
    } else if (!oldest || place.given_back < oldest->given_back) {
      oldest = &place;
    }
  }
  const auto number = [&](const Place* place) { return static_cast<int>(place - slots_.data()); };
  if (!oldest) return unmade ? number(unmade) : -1;
  const bool is_idle =
      !oldest->ends_unknown && (!oldest->used_until || oldest->used_until->has_come());
  return number(is_idle || !unmade ? oldest : unmade);
}

Staging::Slot Staging::prepare(std::unique_lock<std::mutex> hold, int number) {
  Place& place = slots_[static_cast<size_t>(number)];
  place.is_taken = true;
  hold.unlock();
  Slot slot(*this, number);  // nobody else looks at the place now
  if (place.ends_unknown) context_.check(context_.driver().synchronize(), "cuCtxSynchronize");
  place.ends_unknown = false;
  if (place.used_until) place.used_until->await();
  place.used_until.reset();
  if (!place.memory) {
    void* memory = nullptr;
    context_.check(context_.driver().pin(&memory, kSlotBytes), "cuMemHostAlloc");
    hold.lock();
    place.memory = static_cast<char*>(memory);
    ++made_;
  }
  return slot;
}

Staging::Slot Staging::take() {
  std::unique_lock hold(mutex_);
  int number = -1;
  has_free_.wait(hold, [&] { return (number = free_slot()) >= 0; });
  return prepare(std::move(hold), number);
}

Staging::Slot Staging::take_if_free() {
  std::unique_lock hold(mutex_);
  const int number = free_slot();
  return number < 0 ? Slot() : prepare(std::move(hold), number);
}

Staging::Slot::~Slot() {
  if (!staging_) return;
  {
    std::lock_guard hold(staging_->mutex_);
    Place& place = staging_->slots_[static_cast<size_t>(number_)];
    if (is_copied_) {
      place.ends_unknown = !copied_with_;
      place.used_until = std::move(copied_with_);
    }
    place.given_back = ++staging_->returns_;
    place.is_taken = false;
  }
  staging_->has_free_.notify_one();
}

}  // namespace tidemark::cuda
