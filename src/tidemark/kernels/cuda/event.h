// Event: a place in the order of a stream that others can ask about and wait for.
#pragma once

#include "tidemark/kernels/cuda/context.h"

namespace tidemark::cuda {

class Event {
 public:
  /// Everything enqueued on the stream so far. With the context pushed, as all functions.
  Event(const Context& context, Handle stream) : context_(context) {
    context.check(context.driver().create_event(&event_), "cuEventCreate");
    const int status = context.driver().record(event_, stream);
    if (status == kDone) return;
    context.driver().destroy_event(event_);
    context.check(status, "cuEventRecord");
  }
  /// The driver keeps what is still waited for.
  ~Event() {
    if (context_.driver().push_context(context_.handle()) != kDone) return;
    context_.driver().destroy_event(event_);
    context_.driver().pop_context();
  }
  Event(const Event&) = delete;

  Handle handle() const { return event_; }
  /// Throws what work before it failed with.
  bool has_come() const {
    const int status = context_.driver().query(event_);
    if (status == kNotReady) return false;
    context_.check(status, "cuEventQuery");
    return true;
  }
  /// The host waits. Throws what work before it failed with.
  void await() const { context_.check(context_.driver().await(event_), "cuEventSynchronize"); }

 private:
  const Context& context_;
  Handle event_ = 0;
};

}  // namespace tidemark::cuda
