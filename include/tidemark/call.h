// Calling an op. Who answers (computing now, building a node, recording for a tape) is a per-thread
// stack; nothing else in the runtime switches on the mode.
//
//   Tensor y = tm::call("square", {x});
//   Tensor z = tm::call("sum", {x}, {{"axis", Ints{0}}, {"keepdims", true}});
#pragma once

#include <tidemark/op.h>

namespace tidemark {

/// Answers calls while it is on top of this thread's stack.
class TIDEMARK_API CallHandler {
 public:
  virtual ~CallHandler() = default;
  /// Fills all outputs or throws. To ask those below, call next().
  virtual void handle(const OpCall& call, std::span<Tensor> outputs) = 0;
  /// True: it hands nothing down, so that those below take no part in what happens.
  virtual bool is_last() const { return false; }

 protected:
  /// Hands the call to the handler below, in the end to the eager executor.
  void next(const OpCall& call, std::span<Tensor> outputs);
  /// Until the end of the scope this thread's calls go to those below `self`.
  class TIDEMARK_API Below {
   public:
    explicit Below(const CallHandler& self) noexcept;
    ~Below();
    Below(const Below&) = delete;
    Below& operator=(const Below&) = delete;

   private:
    CallHandler* top_;
  };

 private:
  friend class CallScope;
  friend void push_handler(CallHandler&) noexcept;
  friend bool remove_handler(CallHandler&) noexcept;
  friend CallHandler* handler_below(const CallHandler&) noexcept;
  friend void dispatch(const OpCall&, std::span<Tensor>);
  CallHandler* below_ = nullptr;
};

/// Puts a handler on top of this thread's stack until the end of the scope.
class TIDEMARK_API CallScope {
 public:
  explicit CallScope(CallHandler& handler);
  ~CallScope();
  CallScope(const CallScope&) = delete;
  CallScope& operator=(const CallScope&) = delete;
};

/// Until the end of the scope this thread has no handlers: calls compute now.
class TIDEMARK_API NoHandlers {
 public:
  NoHandlers() noexcept;
  ~NoHandlers();
  NoHandlers(const NoHandlers&) = delete;
  NoHandlers& operator=(const NoHandlers&) = delete;

 private:
  CallHandler* top_;
};

/// For handlers whose scopes need not nest: on top of this thread's stack, and off it wherever it
/// is by now. False: it was not on this thread's stack.
TIDEMARK_API void push_handler(CallHandler& handler) noexcept;
TIDEMARK_API bool remove_handler(CallHandler& handler) noexcept;
/// The next one down; null: the eager executor.
TIDEMARK_API CallHandler* handler_below(const CallHandler& handler) noexcept;

/// Checks dtypes, promotes inputs that share a type variable to one dtype (by calling "cast") and
/// hands the call to the top of the stack.
TIDEMARK_API void dispatch(const OpCall& call, std::span<Tensor> outputs);

/// The outputs of an op with all attributes given in order.
TIDEMARK_API std::vector<Tensor> call_all(const OpDef& op, std::span<const Tensor> inputs,
                                          std::span<const Attr> attrs = {});
/// The only output.
TIDEMARK_API Tensor call(const OpDef& op, std::span<const Tensor> inputs,
                         std::span<const Attr> attrs = {});

/// By name, attributes by name, defaults filled in. For gradient definitions and rare calls. Inputs
/// given up (temporaries, std::move) are written in place, as by the operators below.
struct NamedAttr {
  std::string_view name;
  Attr value;
};
TIDEMARK_API Tensor call(std::string_view op, std::initializer_list<Tensor> inputs,
                         std::initializer_list<NamedAttr> attrs = {});
TIDEMARK_API std::vector<Tensor> call_all(std::string_view op, std::span<const Tensor> inputs,
                                          std::initializer_list<NamedAttr> attrs = {});

/// Operands given up (temporaries, std::move) are written in place where nobody else shares them:
/// a * b + c takes one buffer, not two.
#define TIDEMARK_DECLARE_OPERATOR(symbol)                                \
  TIDEMARK_API Tensor operator symbol(const Tensor& a, const Tensor& b); \
  TIDEMARK_API Tensor operator symbol(Tensor&& a, const Tensor& b);      \
  TIDEMARK_API Tensor operator symbol(const Tensor& a, Tensor&& b);      \
  TIDEMARK_API Tensor operator symbol(Tensor&& a, Tensor&& b);
TIDEMARK_DECLARE_OPERATOR(+)
TIDEMARK_DECLARE_OPERATOR(-)
TIDEMARK_DECLARE_OPERATOR(*)
TIDEMARK_DECLARE_OPERATOR(/)
#undef TIDEMARK_DECLARE_OPERATOR
TIDEMARK_API Tensor operator-(const Tensor& a);

/// Shows borrowed handles as a span of tensors without touching reference counts.
template <int N>
class Borrowed {
 public:
  template <class... T>
  explicit Borrowed(const T&... tensors) : impls_{tensors.impl()...} {}
  std::span<const Tensor> span() const {
    static_assert(sizeof(Tensor) == sizeof(detail::TensorImpl*));
    return {reinterpret_cast<const Tensor*>(impls_), N};
  }

 private:
  detail::TensorImpl* impls_[N];
};

}  // namespace tidemark
