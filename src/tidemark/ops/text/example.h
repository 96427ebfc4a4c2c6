// TensorFlow's Example message: named lists of bytes, floats or integers, found and read in place.
#pragma once

#include <tidemark/error.h>

#include <bit>

#include "tidemark/base/wire.h"
#include "tidemark/ops/text/sink.h"

namespace tidemark::text {

enum class FeatureKind : uint8_t { none, bytes, floats, ints };

/// One feature of a message: views of its bytes.
struct FeatureView {
  FeatureKind kind = FeatureKind::none;
  std::string_view list;  // the BytesList, FloatList or Int64List
  int64_t count = 0;
};

FeatureKind kind_of(DType dtype);

/// The feature of that name, of kind none when there is none. Throws InvalidArgumentError for a
/// malformed message; `index` is said in the error.
FeatureView find_feature(std::string_view op, std::string_view serialized, std::string_view key,
                         int64_t index);

/// Calls fn(value) for each value of a list that find_feature has counted.
template <class Fn>
void for_each_bytes(const FeatureView& feature, Fn fn) {
  WireReader reader(feature.list);
  for (WireField field; reader.next(field);) {
    if (field.number == 1 && field.is_bytes()) fn(field.bytes);
  }
}
template <class Fn>
void for_each_float(const FeatureView& feature, Fn fn) {
  WireReader reader(feature.list);
  for (WireField field; reader.next(field);) {
    if (field.number != 1) continue;
    if (!field.is_bytes()) {
      fn(std::bit_cast<float>(static_cast<uint32_t>(field.value)));
      continue;
    }
    std::string_view rest = field.bytes;
    for (float value; take_fixed(rest, value);) fn(value);
  }
}
template <class Fn>
void for_each_int(const FeatureView& feature, Fn fn) {
  WireReader reader(feature.list);
  for (WireField field; reader.next(field);) {
    if (field.number != 1) continue;
    if (!field.is_bytes()) {
      fn(static_cast<int64_t>(field.value));
      continue;
    }
    std::string_view rest = field.bytes;
    for (uint64_t value; take_varint(rest, value);) fn(static_cast<int64_t>(value));
  }
}

}  // namespace tidemark::text
