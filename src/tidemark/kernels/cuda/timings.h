// How long a GPU takes for each piece of work of a stream, while somebody observes.
//
//   timings.begin(stream);                       // under the stream's lock
//   … the launches of one piece …
//   timings.end(stream, {device, "matmul", place});
//   for (const TimedWork& one : timings.take_finished()) …
//
// A time that the driver does not tell is left out: no work fails for want of its time.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "tidemark/base/attached.h"
#include "tidemark/kernels/cuda/event.h"
#include "tidemark/memory/site.h"

namespace tidemark::cuda {

struct TimedWork {
  DeviceWork work;
  std::shared_ptr<const memory::Site> place;  // keeps that of `work`
};

/// Under the stream's lock and with the context pushed.
class Timings {
 public:
  explicit Timings(const Context& context) : events_(context, EventPool::Kind::timed) {}

  void begin(Handle stream) noexcept;
  void end(Handle stream, TimedWork piece) noexcept;
  /// What the stream has done of it, in order.
  std::vector<TimedWork> take_finished() noexcept;

 private:
  using EventRef = std::shared_ptr<const Event>;
  /// A moment by both clocks.
  struct Base {
    EventRef event;
    uint64_t host = 0;
  };
  struct Pending {
    TimedWork piece;
    std::shared_ptr<const Base> base;
    EventRef began, ended;
  };
  std::optional<uint64_t> between(const Event& earlier, const Event& later) const noexcept;

  EventPool events_;
  std::shared_ptr<const Base> base_;
  EventRef began_;  // of the piece that is being enqueued; null: it is not timed
  std::deque<Pending> pending_;
};

}  // namespace tidemark::cuda
