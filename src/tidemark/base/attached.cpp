#include "tidemark/base/attached.h"

#include <tidemark/error.h>
#include <time.h>

namespace tidemark {

namespace detail {
constinit std::atomic<int> num_observers{0};
constinit std::atomic<Observer*> observers[kMostObservers];
}  // namespace detail

namespace {
constinit FrontEnd attached_front_end;
}

const FrontEnd& front_end() noexcept { return attached_front_end; }

uint64_t observers_time() noexcept {
  timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return static_cast<uint64_t>(t.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(t.tv_nsec);
}

void attach(const FrontEnd& front_end) noexcept { attached_front_end = front_end; }

// No lock: the child of a fork detaches what a thread of its parent may be attaching.
void attach(Observer& observer) {
  for (const std::atomic<Observer*>& place : detail::observers) {
    if (place.load(std::memory_order_relaxed) == &observer) return;
  }
  for (std::atomic<Observer*>& place : detail::observers) {
    Observer* nobody = nullptr;
    if (!place.compare_exchange_strong(nobody, &observer, std::memory_order_release)) continue;
    detail::num_observers.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  fail<InternalError>(detail::kMostObservers, " observers are attached; there is no place left");
}

void detach(Observer& observer) noexcept {
  for (std::atomic<Observer*>& place : detail::observers) {
    Observer* there = &observer;
    if (!place.compare_exchange_strong(there, nullptr, std::memory_order_relaxed)) continue;
    detail::num_observers.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace tidemark
