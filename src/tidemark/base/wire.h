// Protocol buffers' wire format: reading with every length checked, and writing to a sink.
//
//   WireReader reader(bytes);
//   for (WireField field; reader.next(field);) {
//     if (field.number == 1 && field.is_bytes()) use(field.bytes);
//   }
//   if (!reader.ok()) ...                       // malformed: it stopped where that began
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

namespace tidemark {

struct WireField {
  enum class Type : uint8_t { varint = 0, fixed64 = 1, bytes = 2, fixed32 = 5 };
  uint32_t number = 0;
  Type type = Type::varint;
  uint64_t value = 0;      // varint, fixed64, fixed32
  std::string_view bytes;  // bytes: a string, a message or packed numbers

  bool is_bytes() const { return type == Type::bytes; }
  bool is_varint() const { return type == Type::varint; }
};

/// Reads a varint off the front; false (and nothing read) when it is cut off or too long.
inline bool take_varint(std::string_view& from, uint64_t& value) {
  uint64_t result = 0;
  for (size_t i = 0; i < from.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(from[i]);
    result |= uint64_t{byte & 0x7Fu} << (7 * i);
    if (byte < 0x80) {
      from.remove_prefix(i + 1);
      value = result;
      return true;
    }
  }
  return false;
}

/// Reads a little-endian number off the front; false when there are too few bytes.
template <class T>
bool take_fixed(std::string_view& from, T& value) {
  if (from.size() < sizeof(T)) return false;
  std::memcpy(&value, from.data(), sizeof(T));
  from.remove_prefix(sizeof(T));
  return true;
}

class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  /// False at the end, and at what is malformed.
  bool next(WireField& field) {
    if (rest_.empty() || !ok_) return false;
    ok_ = read(field);
    return ok_;
  }
  bool ok() const { return ok_; }

 private:
  bool read(WireField& field) {
    uint64_t tag = 0;
    if (!take_varint(rest_, tag) || tag >> 3 == 0 || tag >> 3 > 0x1FFFFFFF) return false;
    field.number = static_cast<uint32_t>(tag >> 3);
    field.bytes = {};
    field.type = static_cast<WireField::Type>(tag & 7);
    switch (tag & 7) {
      case 0:
        return take_varint(rest_, field.value);
      case 1:
        return take_fixed(rest_, field.value);
      case 5: {
        uint32_t value = 0;
        if (!take_fixed(rest_, value)) return false;
        field.value = value;
        return true;
      }
      case 2: {
        uint64_t size = 0;
        if (!take_varint(rest_, size) || size > rest_.size()) return false;
        field.bytes = rest_.substr(0, size);
        rest_.remove_prefix(size);
        return true;
      }
      default:
        return false;  // groups are of a past version
    }
  }

  std::string_view rest_;
  bool ok_ = true;
};

inline int64_t varint_size(uint64_t value) {
  int64_t size = 1;
  for (; value >= 0x80; value >>= 7) ++size;
  return size;
}

template <class Sink>
void put_varint(Sink& sink, uint64_t value) {
  for (; value >= 0x80; value >>= 7) sink.append(static_cast<char>(value | 0x80));
  sink.append(static_cast<char>(value));
}
template <class Sink>
void put_varint_field(Sink& sink, uint32_t number, uint64_t value) {
  put_varint(sink, uint64_t{number} << 3);
  put_varint(sink, value);
}
/// Tag and length; the bytes follow.
template <class Sink>
void put_bytes_head(Sink& sink, uint32_t number, uint64_t size) {
  put_varint(sink, uint64_t{number} << 3 | 2);
  put_varint(sink, size);
}
template <class Sink>
void put_bytes_field(Sink& sink, uint32_t number, std::string_view bytes) {
  put_bytes_head(sink, number, bytes.size());
  sink.append(bytes);
}

}  // namespace tidemark
