// Computing an op now: infer shapes, take outputs from memory/, run the kernel.
#pragma once

#include <tidemark/call.h>

namespace tidemark::exec {

/// Called around kernels that run longer than a few microseconds: the Python front end gives its
/// lock away there.
struct LongWorkHooks {
  void* (*enter)() = nullptr;
  void (*leave)(void* token) = nullptr;
};
TIDEMARK_API void set_long_work_hooks(LongWorkHooks hooks) noexcept;

/// Sees every op that is computed. Where nobody watches that is one branch.
class OpWatch {
 public:
  /// The time now, handed back to `ended`.
  virtual uint64_t began() noexcept = 0;
  /// Also of an op that failed. The name is in static storage.
  virtual void ended(const char* op, uint64_t began) noexcept = 0;

 protected:
  ~OpWatch() = default;
};
/// Null: nobody. A watch is never destroyed: an op may be on its way when it is replaced.
TIDEMARK_API void set_op_watch(OpWatch* watch) noexcept;

/// For tests: called with every op that runs; null: nobody looks. What compiled programs run is
/// told as their trace names it.
using OpObserver = void (*)(const OpDef& op);
TIDEMARK_API void set_op_observer(OpObserver see) noexcept;
extern constinit OpObserver op_observer;

/// Fills `outputs` or throws, leaving nothing behind.
TIDEMARK_API void run_eager(const OpCall& call, std::span<Tensor> outputs);

}  // namespace tidemark::exec
