// Value: what goes along an edge of an ONNX graph: a tensor, a sequence or an optional.
#pragma once

#include <tidemark/tensor.h>

#include "tidemark/io/onnx/messages.h"

namespace tidemark::io::onnx {

/// The dtype that holds elements of the type: their own, or bytes where we have no such dtype.
/// Small integers stand one a byte as int8 or uint8; small floats as their bits in uint8.
/// DType::invalid for a number that is no type.
TIDEMARK_API DType storage_of(Element element);
TIDEMARK_API Element element_of(DType dtype);
/// Whether the elements have no dtype of their own here.
TIDEMARK_API bool is_narrow(Element element);
/// "float32", "float8e4m3fn", …
TIDEMARK_API std::string_view name_of(Element element);

struct Value {
  enum class Kind : uint8_t { none, tensor, sequence, optional };
  Kind kind = Kind::none;
  Element element = Element::undefined;  // of the tensor
  Tensor tensor;
  std::vector<Value> items;  // of a sequence; of an optional at most one

  Value() = default;
  Value(Tensor t) : kind(Kind::tensor), element(element_of(t.dtype())), tensor(std::move(t)) {}
  Value(Tensor t, Element e) : kind(Kind::tensor), element(e), tensor(std::move(t)) {}
  static Value sequence(std::vector<Value> items) {
    Value out;
    out.kind = Kind::sequence;
    out.items = std::move(items);
    return out;
  }
  static Value optional(std::vector<Value> items) {
    Value out = sequence(std::move(items));
    out.kind = Kind::optional;
    return out;
  }
  bool is_tensor() const { return kind == Kind::tensor; }
  /// Whether all tensors inside hold values: what is computed from them can be computed now.
  TIDEMARK_API bool is_concrete() const;
};

}  // namespace tidemark::io::onnx
