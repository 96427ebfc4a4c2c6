#include "tidemark/ops/text/tensor_proto.h"

namespace tidemark::text {

namespace {

constexpr struct {
  DType dtype;
  int number;
  uint32_t field;  // that holds its values
} kTypes[] = {
    {DType::float32, 1, 5},      {DType::float64, 2, 6},    {DType::int32, 3, 7},
    {DType::uint8, 4, 7},        {DType::int16, 5, 7},      {DType::int8, 6, 7},
    {DType::string, 7, 8},       {DType::complex64, 8, 9},  {DType::int64, 9, 10},
    {DType::bool_, 10, 11},      {DType::bfloat16, 14, 13}, {DType::uint16, 17, 7},
    {DType::complex128, 18, 12}, {DType::float16, 19, 13},  {DType::uint32, 22, 16},
    {DType::uint64, 23, 17},
};

Shape parse_shape(std::string_view op, std::string_view bytes) {
  Ints dims;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == 3 && field.is_varint() && field.value != 0) {
      fail<InvalidArgumentError>("[", op, "] the message's shape has an unknown rank");
    }
    if (field.number != 2 || !field.is_bytes()) continue;
    int64_t size = 0;
    WireReader dim(field.bytes);
    for (WireField part; dim.next(part);) {
      if (part.number == 1 && part.is_varint()) size = static_cast<int64_t>(part.value);
    }
    if (!dim.ok() || size < 0) {
      fail<InvalidArgumentError>("[", op, "] the message's shape is malformed");
    }
    dims.push_back(size);
    if (dims.size() > static_cast<size_t>(Shape::kMaxRank)) {
      fail<InvalidArgumentError>("[", op, "] the message's shape has too many dimensions");
    }
  }
  if (!reader.ok()) fail<InvalidArgumentError>("[", op, "] the message's shape is malformed");
  return Shape(std::span<const int64_t>(dims));
}

/// Whole numbers in a packed field, or -1.
int64_t packed_count(std::string_view bytes, DType dtype) {
  if (dtype == DType::float32 || dtype == DType::complex64) {
    return bytes.size() % 4 == 0 ? static_cast<int64_t>(bytes.size() / 4) : -1;
  }
  if (dtype == DType::float64 || dtype == DType::complex128) {
    return bytes.size() % 8 == 0 ? static_cast<int64_t>(bytes.size() / 8) : -1;
  }
  int64_t count = 0;
  for (uint64_t value; !bytes.empty(); ++count) {
    if (!take_varint(bytes, value)) return -1;
  }
  return count;
}

void count_values(std::string_view op, TensorProtoView& out) {
  int64_t last = 0;
  WireReader reader(out.message);
  for (WireField field; reader.next(field);) {
    if (field.number != out.values_field) continue;
    if (out.dtype == DType::string) {
      if (!field.is_bytes()) fail<InvalidArgumentError>("[", op, "] a string is malformed");
      last = static_cast<int64_t>(field.bytes.size());
      out.string_bytes += last;
      ++out.value_count;
      continue;
    }
    const int64_t count = field.is_bytes() ? packed_count(field.bytes, out.dtype) : 1;
    if (count < 0) fail<InvalidArgumentError>("[", op, "] the message's values are malformed");
    out.value_count += count;
  }
  const int64_t elements = out.shape.num_elements();
  const int64_t parts = is_complex(out.dtype) ? 2 : 1;
  if (out.value_count % parts != 0 || out.value_count / parts > elements) {
    fail<InvalidArgumentError>("[", op, "] the message holds ", out.value_count,
                               " values for a tensor of shape ", out.shape);
  }
  out.value_count /= parts;
  // The last value repeats; without any, elements are zero or empty.
  if (out.value_count > 0 && last > 0) {
    int64_t more = 0;
    if (__builtin_mul_overflow(last, elements - out.value_count, &more) ||
        __builtin_add_overflow(out.string_bytes, more, &out.string_bytes)) {
      fail<ResourceExhaustedError>("[", op, "] the message's strings do not fit in memory");
    }
  }
}

}  // namespace

int proto_number(DType dtype) {
  for (const auto& type : kTypes) {
    if (type.dtype == dtype) return type.number;
  }
  return 0;
}

DType dtype_from_proto(uint64_t number) {
  for (const auto& type : kTypes) {
    if (static_cast<uint64_t>(type.number) == number) return type.dtype;
  }
  return DType::invalid;
}

TensorProtoView parse_tensor_proto(std::string_view op, std::string_view bytes) {
  TensorProtoView out;
  out.message = bytes;
  bool has_content = false;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == 1 && field.is_varint()) out.dtype = dtype_from_proto(field.value);
    if (field.number == 2 && field.is_bytes()) out.shape = parse_shape(op, field.bytes);
    if (field.number == 4 && field.is_bytes()) {
      out.content = field.bytes;
      has_content = !field.bytes.empty();
    }
  }
  if (!reader.ok()) {
    fail<InvalidArgumentError>("[", op, "] Could not parse `serialized` as TensorProto");
  }
  if (out.dtype == DType::invalid) {
    fail<InvalidArgumentError>("[", op, "] the message's dtype is none that is known here");
  }
  for (const auto& type : kTypes) {
    if (type.dtype == out.dtype) out.values_field = type.field;
  }
  const int64_t elements = out.shape.num_elements();
  if (has_content) {
    const auto item = static_cast<int64_t>(size_of(out.dtype));
    if (out.dtype == DType::string || static_cast<int64_t>(out.content.size()) / item != elements ||
        static_cast<int64_t>(out.content.size()) % item != 0) {
      fail<InvalidArgumentError>("[", op, "] the message holds ", out.content.size(),
                                 " bytes for a tensor of ", name_of(out.dtype), " and shape ",
                                 out.shape);
    }
    return out;
  }
  count_values(op, out);
  return out;
}

}  // namespace tidemark::text
