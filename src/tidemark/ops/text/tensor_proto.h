// TensorFlow's TensorProto message: tensors as bytes, over a sink, and back.
#pragma once

#include <tidemark/error.h>

#include "tidemark/base/wire.h"
#include "tidemark/ops/text/sink.h"

namespace tidemark::text {

/// TensorFlow's number of a dtype; ours when there is none is DType::invalid.
int proto_number(DType dtype);
DType dtype_from_proto(uint64_t number);

/// A parsed TensorProto: where its values lie. Views of the message's bytes.
struct TensorProtoView {
  DType dtype = DType::invalid;
  Shape shape;
  std::string_view content;   // tensor_content: the elements as they lie in memory
  std::string_view message;   // of which the other value fields are read
  uint32_t values_field = 0;  // the field that holds values of this dtype
  int64_t value_count = 0;    // values there; fewer than elements: the last one repeats
  int64_t string_bytes = 0;   // characters the elements will take
};

/// Throws InvalidArgumentError for what is malformed or does not fit together.
TensorProtoView parse_tensor_proto(std::string_view op, std::string_view bytes);

/// Calls fn(index, field) for each value in values_field: a varint, fixed or string as field says.
template <class Fn>
void for_each_value(const TensorProtoView& proto, Fn fn) {
  int64_t index = 0;
  WireReader reader(proto.message);
  for (WireField field; reader.next(field);) {
    if (field.number != proto.values_field) continue;
    const bool is_text = proto.dtype == DType::string;
    if (!field.is_bytes() || is_text) {
      fn(index++, field);
      continue;
    }
    // Packed numbers.
    std::string_view rest = field.bytes;
    while (!rest.empty()) {
      WireField one;
      const bool wide = proto.dtype == DType::float64 || proto.dtype == DType::complex128;
      const bool narrow = proto.dtype == DType::float32 || proto.dtype == DType::complex64;
      uint32_t bits = 0;
      if (wide     ? !take_fixed(rest, one.value)
          : narrow ? !take_fixed(rest, bits)
                   : !take_varint(rest, one.value)) {
        return;  // parse_tensor_proto refuses such
      }
      if (narrow) one.value = bits;
      fn(index++, one);
    }
  }
}

template <class Sink>
void put_tensor_proto(const Tensor& t, Sink& sink) {
  put_varint_field(sink, 1, static_cast<uint64_t>(proto_number(t.dtype())));
  CharacterCount shape_size;
  const auto put_shape = [&](auto& to) {
    for (int i = 0; i < t.rank(); ++i) {
      const auto size = static_cast<uint64_t>(t.dim(i));
      put_bytes_head(to, 2, static_cast<uint64_t>(size == 0 ? 0 : 1 + varint_size(size)));
      if (size > 0) put_varint_field(to, 1, size);
    }
  };
  put_shape(shape_size);
  put_bytes_head(sink, 2, static_cast<uint64_t>(shape_size.characters()));
  put_shape(sink);
  if (t.dtype() == DType::string) {
    for (int64_t i = 0; i < t.num_elements(); ++i) put_bytes_field(sink, 8, t.string_at(i));
  } else if (t.nbytes() > 0) {
    put_bytes_field(sink, 4, {static_cast<const char*>(t.raw_data()), t.nbytes()});
  }
}

}  // namespace tidemark::text
