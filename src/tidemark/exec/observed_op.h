// Who is at work on this thread: for the records of memory/ and for observers.
#pragma once

#include <tidemark/op.h>

#include <span>

#include "tidemark/base/attached.h"
#include "tidemark/memory/context.h"

namespace tidemark::exec {

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

void tell_called(const OpDef& op);
void tell_placed(const OpDef& op, Device device) noexcept;
void tell_ended(const char* op, uint64_t began) noexcept;

/// Tells observers, if there are any, that an op is called and that it has ended.
class ObservedOp {
 public:
  /// A step of a plan: what is called was told when the run began.
  explicit ObservedOp(const char* op) {
    if (is_observed()) [[unlikely]]
      begin(op);
  }
  explicit ObservedOp(const OpDef& op) {
    if (is_observed()) [[unlikely]] {
      tell_called(op);
      begin(op.name().c_str());
    }
  }
  ~ObservedOp() {
    if (op_ != nullptr) [[unlikely]]
      tell_ended(op_, began_);
  }
  ObservedOp(const ObservedOp&) = delete;

  /// Where it ran: where its results lie.
  void ran_into(const OpDef& op, std::span<const Tensor> outputs) const {
    if (op_ != nullptr) [[unlikely]]
      tell_placed(op, outputs.empty() ? Device() : outputs[0].device());
  }

 private:
  void begin(const char* op) {
    op_ = op;
    began_ = observers_time();
  }

  const char* op_ = nullptr;
  uint64_t began_ = 0;
};

}  // namespace tidemark::exec
