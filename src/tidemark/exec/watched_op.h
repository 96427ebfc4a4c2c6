// Who is at work on this thread: for the records of memory/ and for those who watch.
#pragma once

#include <atomic>

#include "tidemark/exec/eager.h"
#include "tidemark/memory/context.h"

namespace tidemark::exec {

extern constinit std::atomic<OpWatch*> op_watch;

/// Names the running op in the records of this thread. The name is in static storage.
class OpName {
 public:
  explicit OpName(const char* op) : outer_(memory::thread_context.op) {
    memory::thread_context.op = op;
  }
  ~OpName() { memory::thread_context.op = outer_; }
  OpName(const OpName&) = delete;

 private:
  const char* outer_;
};

/// Tells the watch, if there is one, when an op begins and ends.
class WatchedOp {
 public:
  explicit WatchedOp(const char* op) : watch_(op_watch.load(std::memory_order_acquire)) {
    if (watch_ != nullptr) [[unlikely]] {
      op_ = op;
      began_ = watch_->began();
    }
  }
  ~WatchedOp() {
    if (watch_ != nullptr) [[unlikely]]
      watch_->ended(op_, began_);
  }
  WatchedOp(const WatchedOp&) = delete;

 private:
  OpWatch* watch_;
  const char* op_ = nullptr;
  uint64_t began_ = 0;
};

}  // namespace tidemark::exec
