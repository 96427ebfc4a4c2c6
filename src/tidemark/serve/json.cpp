#include "tidemark/serve/json.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <memory>

#include "tidemark/base/plain_type.h"
#include "tidemark/serve/status.h"

namespace tidemark::serve {

namespace {

using simdjson::dom::element;
using simdjson::dom::element_type;

constexpr int kDeepest = 32;
constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// Length of the UTF-8 character at the front; 0: it is none.
size_t character_length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const size_t length = byte(0) < 0x80 ? 1 : byte(0) >= 0xF0 ? 4 : byte(0) >= 0xE0 ? 3 : 2;
  if (byte(0) >= 0x80 && (byte(0) < 0xC2 || byte(0) > 0xF4)) return 0;
  if (text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  return length;
}

template <class T>
void put_number(std::string& out, T value) {
  char text[40];
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(value)) {
      out += "NaN";
      return;
    }
    if (std::isinf(value)) {
      out += value < 0 ? "-Infinity" : "Infinity";
      return;
    }
  }
  const auto end = std::to_chars(text, text + sizeof(text), value).ptr;
  out.append(text, end);
  if constexpr (std::is_floating_point_v<T>) {
    // 1 is an integer to some readers; 1.0 is a number to all.
    if (std::string_view(text, static_cast<size_t>(end - text)).find_first_of(".e") ==
        std::string_view::npos) {
      out += ".0";
    }
  }
}

void put_nested(std::string& out, const Tensor& t, int axis, int64_t& next, bool as_base64) {
  if (axis == t.rank()) return put_element(out, t, next++, as_base64);
  out += '[';
  for (int64_t i = 0; i < t.dim(axis); ++i) {
    if (i > 0) out += ", ";
    put_nested(out, t, axis + 1, next, as_base64);
  }
  out += ']';
}

bool is_text(const element& value) {
  if (value.is_string()) return true;
  if (!value.is_object()) return false;
  const simdjson::dom::object object = value.get_object();
  return object.size() == 1 && !object["b64"].error();
}

const char* kind_of(const element& value) {
  switch (value.type()) {
    case element_type::ARRAY:
      return "a list";
    case element_type::OBJECT:
      return "an object";
    case element_type::STRING:
      return "a string";
    case element_type::BOOL:
      return "a bool";
    case element_type::NULL_VALUE:
      return "null";
    default:
      return "a number";
  }
}

/// Its own size() stops at 2^24.
int64_t number_of(const simdjson::dom::array& values) {
  int64_t count = 0;
  for ([[maybe_unused]] const element& each : values) ++count;
  return count;
}

/// Takes values one after the other into a tensor's elements.
class Filler {
 public:
  Filler(DType dtype, std::string_view what) : dtype_(dtype), what_(what) {}

  /// The shape of the value, by its first elements.
  void add_sizes(const element& value, Shape& shape, int depth = 0) const {
    if (!value.is_array()) return;
    if (depth >= kDeepest) {
      refuse(Code::invalid_argument, what_, ": lists are nested deeper than ", kDeepest);
    }
    const simdjson::dom::array array = value.get_array();
    const int64_t count = number_of(array);
    shape.push_back(count);
    if (count > 0) add_sizes(*array.begin(), shape, depth + 1);
  }

  void start(const Shape& shape) {
    shape_ = shape;
    if (dtype_ == DType::string) {
      texts_.reserve(static_cast<size_t>(shape.num_elements()));
    } else {
      out_ = Tensor::uninitialized(dtype_, shape);
    }
    end_ = shape.num_elements();
  }

  /// A value that stands at the axis of the shape.
  void add(const element& value, int axis) {
    if (axis == shape_.rank()) return add_leaf(value);
    if (!value.is_array()) {
      refuse(Code::invalid_argument, what_, ": ", kind_of(value), " stands where a list of ",
             shape_[axis], " was expected, by the values before it");
    }
    int64_t count = 0;
    for (const element& each : value.get_array()) {
      if (++count > shape_[axis]) break;
      add(each, axis + 1);
    }
    if (count != shape_[axis]) {
      refuse(Code::invalid_argument, what_, ": a list has ",
             count > shape_[axis] ? "more than " : "less than ", shape_[axis],
             " values, others have that many; lists must be of equal length");
    }
  }

  void add_flat(const element& value, int depth = 0) {
    if (!value.is_array()) return add_leaf(value);
    if (depth >= kDeepest) refuse(Code::invalid_argument, what_, ": lists are nested too deeply");
    for (const element& each : value.get_array()) add_flat(each, depth + 1);
  }

  Tensor finish() {
    if (next_ != end_) {
      refuse(Code::invalid_argument, what_, ": ", next_, " values were given; shape ", shape_,
             " needs ", end_);
    }
    if (dtype_ != DType::string) return std::move(out_);
    std::vector<std::string_view> views(texts_.begin(), texts_.end());
    return Tensor::of_strings(views, shape_);
  }

 private:
  void add_leaf(const element& value) {
    if (next_ >= end_) {
      refuse(Code::invalid_argument, what_, ": more values were given than shape ", shape_, " has");
    }
    if (dtype_ == DType::string) {
      add_text(value);
    } else {
      with_plain_type(dtype_, [&](auto zero) { put<decltype(zero)>(value); });
    }
    ++next_;
  }

  void add_text(const element& value) {
    if (value.is_string()) {
      texts_.emplace_back(std::string_view(value.get_string()));
      return;
    }
    std::string_view encoded;
    if (!value.is_object() || value.get_object()["b64"].get(encoded) || !is_text(value)) {
      refuse(Code::invalid_argument, what_, ": ", kind_of(value),
             " where a string or {\"b64\": …} was expected");
    }
    if (!from_base64(encoded, texts_.emplace_back())) {
      refuse(Code::invalid_argument, what_, ": malformed base64");
    }
  }

  template <class T>
  void put(const element& value) {
    T* const to = static_cast<T*>(out_.mutable_raw_data()) + next_;
    if constexpr (std::is_same_v<T, bool>) {
      if (value.get(*to)) wrong_kind(value);
    } else if constexpr (std::is_integral_v<T>) {
      put_integer(value, to);
    } else if constexpr (std::is_convertible_v<double, T> || std::is_constructible_v<T, float>) {
      double number = 0;
      if (value.get(number)) wrong_kind(value);  // integers too
      if constexpr (std::is_floating_point_v<T>) {
        *to = static_cast<T>(number);
      } else {
        *to = T(static_cast<float>(number));
      }
    } else {
      refuse(Code::unimplemented, what_, ": JSON has no ", name_of(dtype_));
    }
  }

  template <class T>
  void put_integer(const element& value, T* to) const {
    int64_t number = 0;
    uint64_t large = 0;
    if (!value.get(number)) {
      if (!std::in_range<T>(number)) out_of_range();
      *to = static_cast<T>(number);
    } else if (!value.get(large)) {
      if (!std::in_range<T>(large)) out_of_range();
      *to = static_cast<T>(large);
    } else {
      wrong_kind(value);
    }
  }

  [[noreturn]] void wrong_kind(const element& value) const {
    refuse(Code::invalid_argument, what_, ": ", kind_of(value), " where ", name_of(dtype_),
           " was expected");
  }
  [[noreturn]] void out_of_range() const {
    refuse(Code::invalid_argument, what_, ": a number does not fit into ", name_of(dtype_));
  }

  DType dtype_;
  std::string_view what_;
  Shape shape_;
  Tensor out_;
  std::vector<std::string> texts_;
  int64_t next_ = 0, end_ = 0;
};

}  // namespace

void put_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const size_t length = character_length(text);
    const char c = text[0];
    if (length == 0) {
      out += "\xEF\xBF\xBD";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      static constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
    } else {
      out.append(text.substr(0, length));
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  out += '"';
}

void put_element(std::string& out, const Tensor& t, int64_t index, bool as_base64) {
  if (t.dtype() == DType::string) {
    if (!as_base64) return put_string(out, t.string_at(index));
    out += "{\"b64\": \"" + base64(t.string_at(index)) + "\"}";
    return;
  }
  with_plain_type(t.dtype(), [&](auto zero) {
    using T = decltype(zero);
    const T value = static_cast<const T*>(t.raw_data())[index];
    if constexpr (std::is_same_v<T, bool>) {
      out += value ? "true" : "false";
    } else if constexpr (std::is_arithmetic_v<T>) {
      put_number(out, value);
    } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
      put_number(out, static_cast<float>(value));
    } else {
      refuse(Code::unimplemented, "JSON has no ", name_of(t.dtype()));
    }
  });
}

void put_elements(std::string& out, const Tensor& t, bool as_base64) {
  int64_t next = 0;
  put_nested(out, t, 0, next, as_base64);
}

void put_row(std::string& out, const Tensor& t, int64_t row, bool as_base64) {
  int64_t next = t.dim(0) > 0 ? t.num_elements() / t.dim(0) * row : 0;
  put_nested(out, t, 1, next, as_base64);
}

namespace {

/// Of this thread, where none is in use.
thread_local std::unique_ptr<simdjson::dom::parser> idle_parser;

/// What reading the text takes: a parser keeps where each token begins (4 bytes), two words for
/// each value, a copy of all and the texts; strings are then put into a list.
size_t bytes_to_parse(std::string_view text) {
  constexpr size_t kSmall = size_t{64} << 10;
  if (text.size() <= kSmall) return 0;
  size_t tokens = 1;
  for (const char c : text) {
    tokens += c == ',' || c == ':' || c == '[' || c == ']' || c == '{' || c == '}' || c == '"';
  }
  return 2 * text.size() + 24 * tokens;
}

}  // namespace

JsonDocument::JsonDocument(std::string_view text)
    : room_(bytes_to_parse(text)), parser_(std::move(idle_parser)) {
  if (!parser_) parser_ = std::make_unique<simdjson::dom::parser>();
  const simdjson::error_code error = parser_->parse(text.data(), text.size(), true).get(root_);
  if (error) {
    refuse(Code::invalid_argument, "JSON Parse error: ", simdjson::error_message(error));
  }
}

JsonDocument::~JsonDocument() {
  constexpr size_t kLarge = size_t{256} << 10;  // what a large request took goes with it
  if (parser_->capacity() <= kLarge) idle_parser = std::move(parser_);
}

std::string printable(std::string_view text) {
  constexpr size_t kMost = 2000;
  std::string out;
  for (text = text.substr(0, kMost); !text.empty();) {
    const size_t length = character_length(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    // C1 controls, U+0080 to U+009F, steer terminals like those below a space.
    const bool is_c1 = length == 2 && byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0;
    if (length == 0 || byte < 0x20 || byte == 0x7F || is_c1) {
      static constexpr char kHex[] = "0123456789abcdef";
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
      text.remove_prefix(1);
    } else {
      out.append(text.substr(0, length));
      text.remove_prefix(length);
    }
  }
  return out;
}

bool is_json_number(const Tensor& t, int64_t index) {
  switch (t.dtype()) {
    case DType::float32:
      return std::isfinite(static_cast<const float*>(t.raw_data())[index]);
    case DType::float64:
      return std::isfinite(static_cast<const double*>(t.raw_data())[index]);
    case DType::float16:
      return std::isfinite(static_cast<float>(static_cast<const Half*>(t.raw_data())[index]));
    case DType::bfloat16:
      return std::isfinite(static_cast<float>(static_cast<const BFloat16*>(t.raw_data())[index]));
    default:
      return true;
  }
}

size_t json_bytes(const Tensor& t) {
  if (t.dtype() == DType::string) {
    size_t bytes = 2;  // a character becomes six at most
    for (int64_t i = 0; i < t.num_elements(); ++i) bytes += 6 * t.string_at(i).size() + 16;
    return bytes;
  }
  // With the comma and the blank after it, and its part of the brackets.
  const size_t each = is_floating(t.dtype()) ? (size_of(t.dtype()) > 4 ? 28 : 19)
                                             : std::min<size_t>(24, 5 + 3 * size_of(t.dtype()));
  size_t lists = 1;
  for (int axis = 0; axis + 1 < t.rank(); ++axis) {
    lists +=
        t.dim(t.rank() - 1) == 0
            ? 0
            : static_cast<size_t>(t.num_elements() / std::max<int64_t>(1, t.dim(t.rank() - 1)));
  }
  return static_cast<size_t>(t.num_elements()) * each + 4 * lists + 64;
}

Tensor tensor_from(const element& value, DType dtype, std::string_view what) {
  Filler filler(dtype, what);
  Shape shape;
  filler.add_sizes(value, shape);
  filler.start(shape);
  filler.add(value, 0);
  return filler.finish();
}

Tensor tensor_from_rows(const simdjson::dom::array& rows, const FieldOfRow& field_of, DType dtype,
                        std::string_view what) {
  Filler filler(dtype, what);
  Shape shape{number_of(rows)};
  filler.add_sizes(field_of(*rows.begin(), 0), shape);
  filler.start(shape);
  int64_t index = 0;
  for (const element& row : rows) filler.add(field_of(row, index++), 1);
  return filler.finish();
}

Tensor tensor_of_shape(const element& values, DType dtype, const Shape& shape,
                       std::string_view what) {
  // At least two bytes a value stand in the text: what the shape claims is bounded by them.
  Filler filler(dtype, what);
  Shape sizes;
  filler.add_sizes(values, sizes);
  filler.start(shape);
  filler.add_flat(values);
  return filler.finish();
}

std::string base64(std::string_view bytes) {
  std::string out;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t left = bytes.size() - i;
    uint32_t group = 0;
    for (size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < left ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    }
    for (size_t k = 0; k < 4; ++k) {
      out += k <= left ? kDigits[group >> (18 - 6 * k) & 63] : '=';
    }
  }
  return out;
}

bool from_base64(std::string_view text, std::string& bytes) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return false;
  uint32_t group = 0;
  int bits = 0;
  for (char c : text) {
    if (c == '-') c = '+';  // the alphabet for addresses
    if (c == '_') c = '/';
    const size_t digit = kDigits.find(c);
    if (digit == std::string_view::npos) return false;
    group = group << 6 | static_cast<uint32_t>(digit);
    bits += 6;
    if (bits >= 8) bytes += static_cast<char>(group >> (bits -= 8) & 0xFF);
  }
  return true;
}

}  // namespace tidemark::serve
