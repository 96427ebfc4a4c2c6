// From one element type to another.
#include "tidemark/io/onnx/build.h"
#include "tidemark/io/onnx/narrow.h"

namespace tidemark::io::onnx {

namespace {

Value cast_to(const Call& c, Element element) {
  const std::string round_mode = c.text("round_mode", "up");
  const NarrowOptions options{c.integer("saturate", 1) != 0, round_mode};
  return converted(c.value(0), element, options);
}

Values cast_node(const Call& c) { return {cast_to(c, c.element("to", Element::float32))}; }
Values cast_like(const Call& c) { return {cast_to(c, c.value(1).element)}; }

/// The same bits, of a type as wide.
Values bit_cast(const Call& c) {
  const Element element = c.element("to", Element::float32);
  const Tensor& x = c.in(0);
  const DType dtype = storage_of(element);
  if (size_of(dtype) != size_of(x.dtype())) c.fail("the two types must be as wide");
  if (dtype == x.dtype()) return {{x, element}};
  if (dtype == DType::bool_)
    return {{not_equal(bitcast(x, DType::uint8), number(0, DType::uint8)), element}};
  if (x.dtype() == DType::bool_) return {{bitcast(as(x, DType::uint8), dtype), element}};
  return {{bitcast(x, dtype), element}};
}

constexpr Entry kEntries[] = {
    {"Cast", cast_node},
    {"CastLike", cast_like},
    {"BitCast", bit_cast},
};

}  // namespace

std::span<const Entry> cast_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
