// What is attached to the library from outside while it runs: a front end, and observers. The only
// place where such a thing is set; what one layer needs from another is in base/upcalls.h.
//
//   attach(FrontEnd{.give_lock_away = …, .take_lock_back = …});   // once, when it is loaded
//
//   class Counting final : public Observer {
//     void op_ended(const char* op, uint64_t began) noexcept override { ++count; }
//   };
//   static Counting counting;                                      // never destroyed
//   attach(counting);
//   detach(counting);
#pragma once

#include <tidemark/device.h>
#include <tidemark/export.h>

#include <atomic>
#include <cstdint>

namespace tidemark {

class OpDef;
struct Interrupt;
struct OpCall;
namespace memory {
struct Buffer;
struct Site;
}  // namespace memory
namespace exec {
struct PlannedGraph;
}

/// What a front end does for the library. Null: nothing.
struct FrontEnd {
  /// Around kernels that run longer than a few microseconds, and around waiting for another thread:
  /// the lock that this thread holds is given away, because others may want it meanwhile. What the
  /// one returns the other gets.
  void* (*give_lock_away)() = nullptr;
  void (*take_lock_back)(void* token) = nullptr;
  /// Of threads without an interrupt of their own, while they do long work (base/interrupt.h).
  const Interrupt* interrupt = nullptr;
  /// While a recording is made: the live bytes have grown by a quarter since the last time (and by
  /// 64 KiB at least), or the number of ops has doubled. A moment worth a look at who holds what.
  /// It comes on the thread of an op that has ended, with no lock held.
  void (*look)() = nullptr;
  /// The inputs of a call are about to be promoted to one dtype; throws where an error is wanted.
  void (*check_promotion)(const OpCall& call) = nullptr;
};

/// Once, before the first call.
TIDEMARK_API void attach(const FrontEnd& front_end) noexcept;
const FrontEnd& front_end() noexcept;

/// For the time of a scope the lock of the front end is given away.
class LockGivenAway {
 public:
  explicit LockGivenAway(bool give = true)
      : is_given_(give && front_end().give_lock_away != nullptr) {
    if (is_given_) token_ = front_end().give_lock_away();
  }
  ~LockGivenAway() {
    if (is_given_) front_end().take_lock_back(token_);
  }
  LockGivenAway(const LockGivenAway&) = delete;
  LockGivenAway& operator=(const LockGivenAway&) = delete;

 private:
  bool is_given_;
  void* token_ = nullptr;
};

/// What a device other than the CPU did for an op or a step.
struct DeviceWork {
  Device device;
  const char* name = "";                // in static storage
  const memory::Site* place = nullptr;  // the line that asked; null: nobody knows
  uint64_t began = 0;                   // on the clock of observers_time()
  uint64_t nanoseconds = 0;             // by the device's clock
};

/// CLOCK_MONOTONIC, in nanoseconds.
TIDEMARK_API uint64_t observers_time() noexcept;

/// Sees what the library does, on every thread. An observer is never destroyed: a thread may be
/// about to call it when it is detached.
class TIDEMARK_API Observer {
 public:
  /// An op is about to run. What compiled programs run is told as their trace names it.
  virtual void op_called(const OpDef& /*op*/) {}
  /// A step has run or failed, or is enqueued. The name is in static storage; `began`: on the clock
  /// of observers_time().
  virtual void op_ended(const char* /*op*/, uint64_t /*began*/) noexcept {}
  /// An op has run there, or is enqueued there. What compiled programs run is not told one by one.
  virtual void op_placed(const OpDef& /*op*/, Device /*device*/) noexcept {}
  /// A device has done something, which may be told late and on any thread; of what is done from a
  /// recording nothing is.
  virtual void device_worked(const DeviceWork& /*work*/) noexcept {}
  /// A program is going to run by this plan.
  virtual void planned(const exec::PlannedGraph& /*planned*/) noexcept {}

  // With the lock of memory/ held: short, and neither throw nor take memory from there.
  /// It was there when the observer was attached; see memory/watch.h.
  virtual void buffer_found(const memory::Buffer& /*buffer*/) noexcept {}
  virtual void buffer_added(const memory::Buffer& /*buffer*/) noexcept {}
  virtual void buffer_removed(const memory::Buffer& /*buffer*/) noexcept {}
  /// Its holder or its size is another now, or it became idle or ceased to be.
  virtual void buffer_changed(const memory::Buffer& /*buffer*/) noexcept {}

 protected:
  ~Observer() = default;
};

/// Nothing where it is attached already. Throws InternalError where there are four.
TIDEMARK_API void attach(Observer& observer);
/// Nothing where it is not attached. A call of it may still be running when this returns.
TIDEMARK_API void detach(Observer& observer) noexcept;

namespace detail {
inline constexpr int kMostObservers = 4;
extern constinit std::atomic<int> num_observers;
extern constinit std::atomic<Observer*> observers[kMostObservers];
}  // namespace detail

/// All that those pay who are not observed.
inline bool is_observed() noexcept {
  return detail::num_observers.load(std::memory_order_relaxed) != 0;
}

template <class Visit>
void for_each_observer(Visit visit) {
  for (const std::atomic<Observer*>& place : detail::observers) {
    if (Observer* observer = place.load(std::memory_order_acquire)) visit(*observer);
  }
}

}  // namespace tidemark
