#include "tidemark/ops/text/example.h"

#include "tidemark/base/interrupt.h"

namespace tidemark::text {

namespace {

/// Values of a list, or -1 when it is malformed.
int64_t count_values(std::string_view list, FeatureKind kind) {
  int64_t count = 0;
  WireReader reader(list);
  for (WireField field; reader.next(field);) {
    if (field.number != 1) continue;
    if (kind == FeatureKind::bytes) {
      if (!field.is_bytes()) return -1;
      ++count;
    } else if (kind == FeatureKind::floats) {
      if (!field.is_bytes() && field.type != WireField::Type::fixed32) return -1;
      if (field.is_bytes() && field.bytes.size() % sizeof(float) != 0) return -1;
      count += field.is_bytes() ? static_cast<int64_t>(field.bytes.size() / sizeof(float)) : 1;
    } else if (field.is_bytes()) {
      std::string_view rest = field.bytes;
      for (uint64_t value; !rest.empty(); ++count) {
        if (!take_varint(rest, value)) return -1;
      }
    } else {
      if (!field.is_varint()) return -1;
      ++count;
    }
  }
  return reader.ok() ? count : -1;
}

/// False when it is malformed.
bool read_feature(std::string_view bytes, FeatureView& out) {
  WireReader reader(bytes);
  out = {};
  for (WireField field; reader.next(field);) {
    if (!field.is_bytes() || field.number < 1 || field.number > 3) continue;
    out.kind = static_cast<FeatureKind>(field.number);
    out.list = field.bytes;
  }
  if (out.kind != FeatureKind::none) out.count = count_values(out.list, out.kind);
  return reader.ok() && out.count >= 0;
}

/// One entry of the map; false when it is malformed. `out` changes when the key is the one.
bool read_entry(std::string_view bytes, std::string_view key, FeatureView& out) {
  std::string_view name, value;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == 1 && field.is_bytes()) name = field.bytes;
    if (field.number == 2 && field.is_bytes()) value = field.bytes;
  }
  if (!reader.ok()) return false;
  return name != key || read_feature(value, out);
}

}  // namespace

FeatureKind kind_of(DType dtype) {
  return dtype == DType::string    ? FeatureKind::bytes
         : dtype == DType::float32 ? FeatureKind::floats
                                   : FeatureKind::ints;
}

FeatureView find_feature(std::string_view op, std::string_view serialized, std::string_view key,
                         int64_t index) {
  check_interrupt();
  FeatureView found;
  bool good = true;
  WireReader example(serialized);
  for (WireField field; good && example.next(field);) {
    if (field.number != 1 || !field.is_bytes()) continue;
    WireReader features(field.bytes);
    for (WireField entry; good && features.next(entry);) {
      if (entry.number == 1 && entry.is_bytes()) good = read_entry(entry.bytes, key, found);
    }
    good = good && features.ok();
  }
  if (!good || !example.ok()) {
    fail<InvalidArgumentError>("[", op, "] Could not parse example input, number ", index,
                               ": it is no well-formed Example message");
  }
  return found;
}

}  // namespace tidemark::text
