// Context: one GPU as this process has it open, and how calls of its driver are made.
//
//   const Context::Scope scope(context);                 // this thread speaks to that GPU
//   context.check(context.driver().record(event, stream), "cuEventRecord");
#pragma once

#include <tidemark/error.h>

#include <atomic>

#include "tidemark/kernels/cuda/interface.h"

namespace tidemark::cuda {

class Context {
 public:
  /// Throws FailedPreconditionError where the driver refuses.
  Context(const Driver& driver, int device);
  Context(const Context&) = delete;

  const Driver& driver() const { return driver_; }
  int device() const { return device_; }
  Handle handle() const { return context_; }
  const DeviceFacts& facts() const { return facts_; }
  /// Whether float32 operands of products are rounded (base/precision.h); the same while it is
  /// open: plans count on the workspace that follows from it.
  bool rounds_float32() const { return rounds_float32_; }

  /// Throws for what is not kDone: ResourceExhaustedError where memory is lacking, else
  /// InternalError, with the call and the driver's words.
  void check(int status, const char* call) const {
    if (status != kDone) [[unlikely]]
      fail_call(status, call);
  }
  /// Throws FailedPreconditionError in a process that was forked from the one that opened it: the
  /// driver stayed behind.
  void check_process() const {
    if (forks_of_this_process.load(std::memory_order_relaxed) != forks_) [[unlikely]]
      fail_forked();
  }

  /// Makes the GPU that of this thread's calls, and gives way to what it was before.
  class Scope {
   public:
    explicit Scope(const Context& context) : context_(context) {
      context.check(context.driver_.push_context(context.context_), "cuCtxPushCurrent");
    }
    ~Scope() { context_.driver_.pop_context(); }
    Scope(const Scope&) = delete;

   private:
    const Context& context_;
  };

 private:
  /// How often it was forked since its first GPU was opened, counted in the child.
  static std::atomic<int> forks_of_this_process;

  [[noreturn, gnu::cold]] void fail_call(int status, const char* call) const;
  [[noreturn, gnu::cold]] void fail_forked() const;

  const Driver& driver_;
  const int device_;
  const int forks_;
  const bool rounds_float32_;
  DeviceFacts facts_{};
  Handle context_ = 0;
};

}  // namespace tidemark::cuda
