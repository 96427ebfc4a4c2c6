// Handler: who answers on this thread. Calls of ops, steps that are more than an op, readings and
// updates of variables and gradients given by users all ask one stack of handlers.
//
//   class Counting final : public td::Handler {          // sees every call, then hands it down
//     void handle(const OpCall& call, std::span<Tensor> outputs) override {
//       ++count;
//       next(call, outputs);
//     }
//   };
//   Counting counting;
//   const td::HandlerScope scope(counting);
//
// Where the stack is empty, everything happens now.
#pragma once

#include <tidemark/tensor.h>

#include <memory>

namespace tidemark {

class Attr;
class OpDef;
class Variable;
struct OpCall;

namespace autodiff {
class CustomBackward;
}
namespace graph {
class Special;
struct OutputInfo;
}  // namespace graph

/// Sees the calls of its thread while it is on the stack, the top one first.
class TIDEMARK_API Handler {
 public:
  virtual ~Handler() = default;
  /// Fills all outputs or throws. To ask those below, call next().
  virtual void handle(const OpCall& call, std::span<Tensor> outputs) = 0;
  /// A step was made whose gradient is `backward`. False: those below are not to know.
  virtual bool record(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
                      const std::shared_ptr<autodiff::CustomBackward>& backward);

  /// True iff it is a LastHandler.
  bool is_last() const noexcept { return is_last_; }
  /// The next one down; null: everything happens now.
  Handler* below() const noexcept { return below_; }

 protected:
  Handler() = default;
  /// Hands the call to the handler below, in the end to the eager executor.
  void next(const OpCall& call, std::span<Tensor> outputs);
  /// Until the end of the scope this thread's calls go to those below `self`.
  class TIDEMARK_API Below {
   public:
    explicit Below(const Handler& self) noexcept;
    ~Below();
    Below(const Below&) = delete;
    Below& operator=(const Below&) = delete;

   private:
    Handler* top_;
  };

 private:
  friend class LastHandler;
  friend class HandlerScope;
  friend void push_handler(Handler&) noexcept;
  friend bool remove_handler(Handler&) noexcept;
  Handler* below_ = nullptr;
  bool is_last_ = false;
};

/// Answers for everything and hands nothing down, so that those below take no part: a graph that is
/// being built.
class TIDEMARK_API LastHandler : public Handler {
 public:
  /// A step that is more than an op. Fills all outputs or throws; inputs may be moved from.
  virtual void handle_step(const std::shared_ptr<const graph::Special>& step,
                           std::span<const graph::OutputInfo> infos, std::span<Tensor> inputs,
                           std::span<Tensor> outputs) = 0;
  virtual Tensor read(const Variable& variable) = 0;
  /// `op` gets the value and `rest`; null: the variable is assigned `rest`, a single tensor.
  virtual void update(const Variable& variable, const OpDef* op, std::span<const Tensor> rest,
                      std::span<const Attr> attrs) = 0;
  /// Itself, or the handler of another thread in whose place it answers.
  virtual LastHandler& origin() { return *this; }

  bool record(std::span<const Tensor> inputs, std::span<const Tensor> outputs,
              const std::shared_ptr<autodiff::CustomBackward>& backward) final;

 protected:
  LastHandler() noexcept { is_last_ = true; }
};

/// Puts a handler on top of this thread's stack until the end of the scope.
class TIDEMARK_API HandlerScope {
 public:
  explicit HandlerScope(Handler& handler) noexcept;
  ~HandlerScope();
  HandlerScope(const HandlerScope&) = delete;
  HandlerScope& operator=(const HandlerScope&) = delete;
};

/// Until the end of the scope this thread has no handlers: everything happens now.
class TIDEMARK_API NoHandlers {
 public:
  NoHandlers() noexcept;
  ~NoHandlers();
  NoHandlers(const NoHandlers&) = delete;
  NoHandlers& operator=(const NoHandlers&) = delete;

 private:
  Handler* top_;
};

/// For handlers whose scopes need not nest: on top of this thread's stack, and off it wherever it
/// is by now. False: it was not on this thread's stack.
TIDEMARK_API void push_handler(Handler& handler) noexcept;
TIDEMARK_API bool remove_handler(Handler& handler) noexcept;

}  // namespace tidemark
