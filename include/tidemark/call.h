// Calling an op. Who answers (computing now, building a node, recording for a tape) is this
// thread's stack of handlers (<tidemark/handler.h>).
//
//   td::Tensor y = td::call("square", {x});
//   td::Tensor z = td::call("sum", {x}, {{"axis", td::Ints{0}}, {"keepdims", true}});
#pragma once

#include <tidemark/handler.h>
#include <tidemark/op.h>

namespace tidemark {

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
