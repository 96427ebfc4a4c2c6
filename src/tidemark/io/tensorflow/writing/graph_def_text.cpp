// GraphDefs as text, by a table of the messages' fields.
#include <cstdio>
#include <cstring>
#include <iterator>
#include <span>

#include "tidemark/base/wire.h"
#include "tidemark/io/tensorflow/messages.h"
#include "tidemark/io/tensorflow/writing/graph_def.h"

namespace tidemark::io::tensorflow {

namespace {

enum class FieldKind : uint8_t { number, flag, real, dtype, text, message };

struct TextField;
using TextForm = std::span<const TextField>;

struct TextField {
  uint32_t number;
  const char* name;
  FieldKind kind;
  TextForm (*inside)() = nullptr;
};

TextForm dim_form() {
  static constexpr TextField kFields[] = {{1, "size", FieldKind::number},
                                          {2, "name", FieldKind::text}};
  return kFields;
}
TextForm shape_form() {
  static constexpr TextField kFields[] = {{2, "dim", FieldKind::message, dim_form},
                                          {3, "unknown_rank", FieldKind::flag}};
  return kFields;
}
TextForm tensor_form() {
  static constexpr TextField kFields[] = {{1, "dtype", FieldKind::dtype},
                                          {2, "tensor_shape", FieldKind::message, shape_form},
                                          {4, "tensor_content", FieldKind::text},
                                          {8, "string_val", FieldKind::text}};
  return kFields;
}
TextForm function_name_form() {
  static constexpr TextField kFields[] = {{1, "name", FieldKind::text}};
  return kFields;
}
TextForm list_form() {
  static constexpr TextField kFields[] = {{2, "s", FieldKind::text},
                                          {3, "i", FieldKind::number},
                                          {4, "f", FieldKind::real},
                                          {5, "b", FieldKind::flag},
                                          {6, "type", FieldKind::dtype},
                                          {7, "shape", FieldKind::message, shape_form},
                                          {8, "tensor", FieldKind::message, tensor_form},
                                          {9, "func", FieldKind::message, function_name_form}};
  return kFields;
}
TextForm value_form() {
  static constexpr TextField kFields[] = {{1, "list", FieldKind::message, list_form},
                                          {2, "s", FieldKind::text},
                                          {3, "i", FieldKind::number},
                                          {4, "f", FieldKind::real},
                                          {5, "b", FieldKind::flag},
                                          {6, "type", FieldKind::dtype},
                                          {7, "shape", FieldKind::message, shape_form},
                                          {8, "tensor", FieldKind::message, tensor_form},
                                          {10, "func", FieldKind::message, function_name_form}};
  return kFields;
}
TextForm attr_form() {
  static constexpr TextField kFields[] = {{1, "key", FieldKind::text},
                                          {2, "value", FieldKind::message, value_form}};
  return kFields;
}
TextForm pair_form() {
  static constexpr TextField kFields[] = {{1, "key", FieldKind::text},
                                          {2, "value", FieldKind::text}};
  return kFields;
}
TextForm node_form() {
  static constexpr TextField kFields[] = {{1, "name", FieldKind::text},
                                          {2, "op", FieldKind::text},
                                          {3, "input", FieldKind::text},
                                          {4, "device", FieldKind::text},
                                          {5, "attr", FieldKind::message, attr_form}};
  return kFields;
}
TextForm argument_form() {
  static constexpr TextField kFields[] = {{1, "name", FieldKind::text},
                                          {3, "type", FieldKind::dtype}};
  return kFields;
}
TextForm signature_form() {
  static constexpr TextField kFields[] = {{1, "name", FieldKind::text},
                                          {2, "input_arg", FieldKind::message, argument_form},
                                          {3, "output_arg", FieldKind::message, argument_form},
                                          {17, "is_stateful", FieldKind::flag},
                                          {20, "control_output", FieldKind::text}};
  return kFields;
}
TextForm function_form() {
  static constexpr TextField kFields[] = {{1, "signature", FieldKind::message, signature_form},
                                          {3, "node_def", FieldKind::message, node_form},
                                          {4, "ret", FieldKind::message, pair_form},
                                          {6, "control_ret", FieldKind::message, pair_form}};
  return kFields;
}
TextForm library_form() {
  static constexpr TextField kFields[] = {{1, "function", FieldKind::message, function_form}};
  return kFields;
}
TextForm versions_form() {
  static constexpr TextField kFields[] = {{1, "producer", FieldKind::number},
                                          {2, "min_consumer", FieldKind::number}};
  return kFields;
}
TextForm graph_form() {
  static constexpr TextField kFields[] = {{1, "node", FieldKind::message, node_form},
                                          {2, "library", FieldKind::message, library_form},
                                          {4, "versions", FieldKind::message, versions_form}};
  return kFields;
}

/// By their numbers, from 1 on.
constexpr const char* kTypes[] = {
    "DT_FLOAT",  "DT_DOUBLE",    "DT_INT32",   "DT_UINT8",   "DT_INT16",  "DT_INT8",
    "DT_STRING", "DT_COMPLEX64", "DT_INT64",   "DT_BOOL",    "DT_QINT8",  "DT_QUINT8",
    "DT_QINT32", "DT_BFLOAT16",  "DT_QINT16",  "DT_QUINT16", "DT_UINT16", "DT_COMPLEX128",
    "DT_HALF",   "DT_RESOURCE",  "DT_VARIANT", "DT_UINT32",  "DT_UINT64"};

std::string quoted(std::string_view bytes) {
  std::string out = "\"";
  for (const char c : bytes) {
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (c == '\n') {
      out += "\\n";
    } else if (c >= 0x20 && c < 0x7f) {
      out += c;
    } else {
      char digits[8];
      std::snprintf(digits, sizeof(digits), "\\%03o", static_cast<unsigned char>(c));
      out += digits;
    }
  }
  return out + "\"";
}

std::string value_text(const TextField& field, const WireField& value) {
  switch (field.kind) {
    case FieldKind::flag:
      return value.value ? "true" : "false";
    case FieldKind::real: {
      const auto bits = static_cast<uint32_t>(value.value);
      float number = 0;
      std::memcpy(&number, &bits, sizeof(number));
      char digits[32];
      std::snprintf(digits, sizeof(digits), "%.9g", static_cast<double>(number));
      return digits;
    }
    case FieldKind::dtype:
      if (value.value >= 1 && value.value <= std::size(kTypes)) return kTypes[value.value - 1];
      [[fallthrough]];
    case FieldKind::number:
      return message(static_cast<int64_t>(value.value));
    case FieldKind::text:
    case FieldKind::message:
      break;
  }
  return quoted(value.bytes);
}

void put_text(std::string& out, std::string_view bytes, TextForm form, const std::string& indent) {
  WireReader reader(bytes);
  for (WireField value; reader.next(value);) {
    for (const TextField& field : form) {
      if (field.number != value.number) continue;
      if (field.kind == FieldKind::message) {
        out += indent + field.name + " {\n";
        put_text(out, value.bytes, field.inside(), indent + "  ");
        out += indent + "}\n";
      } else {
        out += indent + field.name + ": " + value_text(field, value) + "\n";
      }
    }
  }
  if (!reader.ok()) fail_malformed("a graph to be shown as text");
}

}  // namespace

std::string graph_def_text(std::string_view bytes) {
  std::string out;
  put_text(out, bytes, graph_form(), "");
  return out;
}

}  // namespace tidemark::io::tensorflow
