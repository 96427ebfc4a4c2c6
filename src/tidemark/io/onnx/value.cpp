#include "tidemark/io/onnx/value.h"

#include <iterator>

namespace tidemark::io::onnx {

namespace {

struct ElementFacts {
  std::string_view name;
  DType storage;
  bool is_narrow = false;
};

constexpr ElementFacts kFacts[] = {
    {"undefined", DType::invalid},
    {"float32", DType::float32},
    {"uint8", DType::uint8},
    {"int8", DType::int8},
    {"uint16", DType::uint16},
    {"int16", DType::int16},
    {"int32", DType::int32},
    {"int64", DType::int64},
    {"string", DType::string},
    {"bool", DType::bool_},
    {"float16", DType::float16},
    {"float64", DType::float64},
    {"uint32", DType::uint32},
    {"uint64", DType::uint64},
    {"complex64", DType::complex64},
    {"complex128", DType::complex128},
    {"bfloat16", DType::bfloat16},
    {"float8e4m3fn", DType::uint8, true},
    {"float8e4m3fnuz", DType::uint8, true},
    {"float8e5m2", DType::uint8, true},
    {"float8e5m2fnuz", DType::uint8, true},
    {"uint4", DType::uint8, true},
    {"int4", DType::int8, true},
    {"float4e2m1", DType::uint8, true},
    {"float8e8m0", DType::uint8, true},
    {"uint2", DType::uint8, true},
    {"int2", DType::int8, true},
};
static_assert(std::size(kFacts) == kElements);

const ElementFacts& facts(Element element) { return kFacts[static_cast<size_t>(element)]; }

}  // namespace

DType storage_of(Element element) { return facts(element).storage; }
bool is_narrow(Element element) { return facts(element).is_narrow; }
std::string_view name_of(Element element) { return facts(element).name; }

Element element_of(DType dtype) {
  for (int i = 1; i < kElements; ++i) {
    if (kFacts[i].storage == dtype && !kFacts[i].is_narrow) return static_cast<Element>(i);
  }
  return Element::undefined;
}

bool Value::is_concrete() const {
  if (kind == Kind::tensor) return !tensor.is_symbolic();
  for (const Value& item : items) {
    if (!item.is_concrete()) return false;
  }
  return true;
}

}  // namespace tidemark::io::onnx
