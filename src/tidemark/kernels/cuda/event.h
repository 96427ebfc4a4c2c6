// Event: a place in the order of a stream that others can ask about and wait for.
#pragma once

#include <mutex>
#include <vector>

#include "tidemark/kernels/cuda/context.h"

namespace tidemark::cuda {

/// Events of the driver's that are used again: making one costs as much as a launch.
class EventPool {
 public:
  enum class Kind { ordering, timed };
  explicit EventPool(const Context& context, Kind kind = Kind::ordering)
      : context_(context), kind_(kind) {}
  ~EventPool() {
    if (context_.driver().push_context(context_.handle()) != kDone) return;
    for (const Handle event : free_) context_.driver().destroy_event(event);
    context_.driver().pop_context();
  }
  EventPool(const EventPool&) = delete;

  const Context& context() const { return context_; }

  /// With the context pushed. Throws what the driver refuses.
  Handle take() {
    {
      std::lock_guard hold(mutex_);
      if (!free_.empty()) {
        const Handle event = free_.back();
        free_.pop_back();
        return event;
      }
    }
    Handle event = 0;
    const Driver& driver = context_.driver();
    const auto create = kind_ == Kind::timed ? driver.create_timed_event : driver.create_event;
    context_.check(create(&event), "cuEventCreate");
    return event;
  }
  /// Whoever waits for it was told before: a stream goes by what was recorded when it was asked.
  void put(Handle event) noexcept {
    {
      std::lock_guard hold(mutex_);
      if (free_.size() < kMostKept) {
        free_.push_back(event);  // reserved
        return;
      }
    }
    if (context_.driver().push_context(context_.handle()) != kDone) return;
    context_.driver().destroy_event(event);
    context_.driver().pop_context();
  }

 private:
  static constexpr size_t kMostKept = 32;
  static std::vector<Handle> with_room() {
    std::vector<Handle> room;
    room.reserve(kMostKept);
    return room;
  }

  const Context& context_;
  const Kind kind_;
  std::mutex mutex_;
  std::vector<Handle> free_ = with_room();
};

class Event {
 public:
  /// Everything enqueued on the stream so far. With the context pushed, as all functions.
  Event(EventPool& pool, Handle stream) : pool_(pool), event_(pool.take()) {
    const int status = driver().record(event_, stream);
    if (status == kDone) return;
    pool.put(event_);
    pool.context().check(status, "cuEventRecord");
  }
  ~Event() { pool_.put(event_); }
  Event(const Event&) = delete;

  Handle handle() const { return event_; }
  /// Throws what work before it failed with.
  bool has_come() const {
    const int status = driver().query(event_);
    if (status == kNotReady) return false;
    pool_.context().check(status, "cuEventQuery");
    return true;
  }
  /// The host waits. Throws what work before it failed with.
  void await() const { pool_.context().check(driver().await(event_), "cuEventSynchronize"); }

 private:
  const Driver& driver() const { return pool_.context().driver(); }

  EventPool& pool_;
  const Handle event_;
};

}  // namespace tidemark::cuda
