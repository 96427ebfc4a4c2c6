#include <tidemark/call.h>

#include <array>

#include "tidemark/base/attached.h"
#include "tidemark/memory/context.h"
#include "tidemark/ops/refused.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark {

namespace {

std::string allowed_dtypes(DTypeSet set) {
  std::string out;
  for (int i = 1; i < kDTypeSlots; ++i) {
    if (!set.contains(static_cast<DType>(i))) continue;
    if (!out.empty()) out += ", ";
    out += name_of(static_cast<DType>(i));
  }
  return out;
}

void check_input(const OpDef& op, int i, DType dtype) {
  const Param& param = op.input_param(i);
  if (param.dtypes.contains(dtype)) return;
  fail<RefusedDTypeError>("[", op.name(), "] '", param.name, "' has dtype ", name_of(dtype),
                          "; allowed are ", allowed_dtypes(param.dtypes),
                          ". Convert it with tf.cast");
}

void check_count(const OpCall& call) {
  const size_t wanted = call.op.inputs().size();
  const size_t given = call.inputs.size();
  if (given == wanted || (call.op.has_input_list() && given >= wanted)) return;
  fail("[", call.op.name(), "] takes ", call.op.has_input_list() ? "at least " : "", wanted,
       " tensors; ", given, " were given");
}

void check_dtype_attrs(const OpCall& call) {
  for (size_t i = 0; i < call.attrs.size(); ++i) {
    const Param& p = call.op.params()[static_cast<size_t>(call.op.attrs()[i])];
    if (p.attr_kind != AttrKind::dtype || call.attrs[i].is_none()) continue;
    const DType given = call.attrs[i].as_dtype();
    if (!p.dtypes.contains(given)) {
      fail("[", call.op.name(), "] '", p.name, "' is ", name_of(given), "; allowed are ",
           allowed_dtypes(p.dtypes));
    }
  }
}

AttrKind kind_of(const Attr& a, AttrKind fallback) { return a.is_none() ? fallback : a.kind(); }

/// The value as the parameter's kind: integers serve as real numbers and as lists of one.
Attr coerced(const OpDef& op, const Param& p, const Attr& value) {
  const AttrKind kind = kind_of(value, p.attr_kind);
  if (value.is_none() && !p.optional) fail("[", op.name(), "] '", p.name, "' must be given");
  if (kind == p.attr_kind) return value;
  if (kind == AttrKind::integer && p.attr_kind == AttrKind::real) {
    return Attr(static_cast<double>(value.as_int()));
  }
  if (kind == AttrKind::integer && p.attr_kind == AttrKind::ints) return Attr(Ints{value.as_int()});
  fail("[", op.name(), "] '", p.name, "' cannot be ", value, ": it has another kind");
}

/// The common case: all inputs have one dtype, and the op takes it.
bool is_plain(const OpCall& call) {
  if (call.inputs.empty()) return false;
  const DType dtype = call.inputs[0].dtype();
  for (size_t i = 1; i < call.inputs.size(); ++i) {
    if (call.inputs[i].dtype() != dtype) return false;
  }
  return call.op.takes(call.inputs.size(), dtype);
}

bool needs_promotion(const OpCall& call) {
  if (call.op.has_one_type_var()) {
    for (size_t i = 1; i < call.inputs.size(); ++i) {
      if (call.inputs[i].dtype() != call.inputs[0].dtype()) return true;
    }
    return false;
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (call.inputs[i].dtype() != call.inputs[j].dtype() &&
          call.op.input_param(static_cast<int>(i)).type_var ==
              call.op.input_param(static_cast<int>(j)).type_var) {
        return true;
      }
    }
  }
  return false;
}

std::vector<Tensor> promoted_inputs(const OpCall& call) {
  std::array<DType, 128> by_var{};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    DType& joined = by_var[call.op.input_param(static_cast<int>(i)).type_var & 127];
    const DType mine = call.inputs[i].dtype();
    const DType both = joined == DType::invalid ? mine : promote(joined, mine);
    if (both == DType::invalid) {
      fail("[", call.op.name(), "] has no common dtype for ", name_of(joined), " and ",
           name_of(mine), ". Convert one with tf.cast");
    }
    joined = both;
  }
  std::vector<Tensor> out;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const DType target = by_var[call.op.input_param(static_cast<int>(i)).type_var & 127];
    const Tensor& t = call.inputs[i];
    out.push_back(t.dtype() == target ? t : tidemark::call("cast", {t}, {{"dtype", target}}));
  }
  return out;
}

Tensor binary(const OpDef& op, const Tensor& a, const Tensor& b, uint64_t donated,
              const void* return_address) {
  const memory::ScopedSite here(memory::site_of_address(return_address));
  Tensor out;
  const Borrowed<2> inputs(a, b);
  dispatch({op, inputs.span(), {}, donated}, {&out, 1});
  return out;
}

}  // namespace

void dispatch(const OpCall& call, std::span<Tensor> outputs) {
  if (call.op.has_dtype_attrs()) check_dtype_attrs(call);
  if (is_plain(call)) return answer(call, outputs);
  check_count(call);
  if (needs_promotion(call)) {
    if (front_end().check_promotion) front_end().check_promotion(call);
    const std::vector<Tensor> inputs = promoted_inputs(call);
    for (size_t i = 0; i < inputs.size(); ++i) {
      check_input(call.op, static_cast<int>(i), inputs[i].dtype());
    }
    return answer({call.op, inputs, call.attrs, 0}, outputs);
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    check_input(call.op, static_cast<int>(i), call.inputs[i].dtype());
  }
  answer(call, outputs);
}

Tensor call(const OpDef& op, std::span<const Tensor> inputs, std::span<const Attr> attrs) {
  Tensor out;
  dispatch({op, inputs, attrs, 0}, {&out, 1});
  return out;
}

std::vector<Tensor> call_all(const OpDef& op, std::span<const Tensor> inputs,
                             std::span<const Attr> attrs) {
  std::vector<Tensor> out(static_cast<size_t>(op.num_outputs(attrs)));
  dispatch({op, inputs, attrs, 0}, out);
  return out;
}

namespace {

std::vector<Tensor> call_by_name(std::string_view name, std::span<const Tensor> inputs,
                                 std::initializer_list<NamedAttr> named, uint64_t donated) {
  const OpDef& op = OpRegistry::instance().get(name);
  std::vector<Attr> attrs;
  for (int index : op.attrs()) attrs.push_back(op.params()[static_cast<size_t>(index)].fallback);
  for (const NamedAttr& attr : named) {
    const int index = op.attr_index(attr.name);
    if (index < 0) fail("[", name, "] has no attribute '", attr.name, "'");
    const Param& p = op.params()[static_cast<size_t>(op.attrs()[static_cast<size_t>(index)])];
    attrs[static_cast<size_t>(index)] = coerced(op, p, attr.value);
  }
  for (size_t i = 0; i < attrs.size(); ++i) {
    const Param& p = op.params()[static_cast<size_t>(op.attrs()[i])];
    if (p.required && attrs[i].is_none()) fail("[", name, "] '", p.name, "' must be given");
  }
  std::vector<Tensor> out(static_cast<size_t>(op.num_outputs(attrs)));
  dispatch({op, inputs, attrs, donated}, out);
  return out;
}

}  // namespace

std::vector<Tensor> call_all(std::string_view name, std::span<const Tensor> inputs,
                             std::initializer_list<NamedAttr> named) {
  return call_by_name(name, inputs, named, 0);
}

Tensor call(std::string_view name, std::initializer_list<Tensor> inputs,
            std::initializer_list<NamedAttr> named) {
  // The list holds handles of its own: one that nobody shares was a temporary or moved in.
  constexpr uint64_t kAll = ~uint64_t{0};
  return std::move(call_by_name(name, {inputs.begin(), inputs.size()}, named, kAll).at(0));
}

// Given-up operands are moved out, so that the caller's temporary no longer shares the result.
#define TIDEMARK_BINARY_OPERATOR(symbol, name)                        \
  namespace {                                                         \
  const OpDef& op_##name() {                                          \
    static const OpDef& op = OpRegistry::instance().get(#name);       \
    return op;                                                        \
  }                                                                   \
  }                                                                   \
  Tensor operator symbol(const Tensor& a, const Tensor& b) {          \
    return binary(op_##name(), a, b, 0, __builtin_return_address(0)); \
  }                                                                   \
  Tensor operator symbol(Tensor&& a, const Tensor& b) {               \
    const Tensor x = std::move(a);                                    \
    return binary(op_##name(), x, b, 1, __builtin_return_address(0)); \
  }                                                                   \
  Tensor operator symbol(const Tensor& a, Tensor&& b) {               \
    const Tensor y = std::move(b);                                    \
    return binary(op_##name(), a, y, 2, __builtin_return_address(0)); \
  }                                                                   \
  Tensor operator symbol(Tensor&& a, Tensor&& b) {                    \
    const Tensor x = std::move(a), y = std::move(b);                  \
    return binary(op_##name(), x, y, 3, __builtin_return_address(0)); \
  }
TIDEMARK_BINARY_OPERATOR(+, add)
TIDEMARK_BINARY_OPERATOR(-, subtract)
TIDEMARK_BINARY_OPERATOR(*, multiply)
#undef TIDEMARK_BINARY_OPERATOR

namespace {

/// What dividing two of this dtype gives: 1 / 2 is 0.5.
DType quotient_dtype(DType d) {
  switch (d) {
    case DType::bool_:
    case DType::int8:
    case DType::uint8:
    case DType::int16:
    case DType::uint16:
      return DType::float32;
    default:
      return is_integer(d) ? DType::float64 : d;
  }
}

Tensor as_quotient(const Tensor& t) {
  const DType target = quotient_dtype(t.dtype());
  return t.dtype() == target ? t : call("cast", {t}, {{"dtype", target}});
}

Tensor quotient(const Tensor& a, const Tensor& b, uint64_t donated, void* caller) {
  static const OpDef& op = OpRegistry::instance().get("truediv");
  const DType both = a.dtype() == b.dtype() ? a.dtype() : promote(a.dtype(), b.dtype());
  if (quotient_dtype(both) == both) return binary(op, a, b, donated, caller);
  return binary(op, as_quotient(a), as_quotient(b), 0, caller);
}

}  // namespace

Tensor operator/(const Tensor& a, const Tensor& b) {
  return quotient(a, b, 0, __builtin_return_address(0));
}
Tensor operator/(Tensor&& a, const Tensor& b) {
  return quotient(a, b, 1, __builtin_return_address(0));
}
Tensor operator/(const Tensor& a, Tensor&& b) {
  return quotient(a, b, 2, __builtin_return_address(0));
}
Tensor operator/(Tensor&& a, Tensor&& b) { return quotient(a, b, 3, __builtin_return_address(0)); }

Tensor operator-(const Tensor& a) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  static const OpDef& op = OpRegistry::instance().get("negative");
  return call(op, Borrowed<1>(a).span());
}

}  // namespace tidemark
