#include "tidemark/io/tensorflow/writing/written_messages.h"

#include <algorithm>
#include <cstdlib>

namespace tidemark::io::tensorflow {

namespace {

enum AttrField : uint32_t {
  kList = 1,
  kText = 2,
  kInt = 3,
  kReal = 4,
  kFlag = 5,
  kType = 6,
  kShape = 7,
  kTensor = 8,
  kFunctionInList = 9,
  kFunction = 10,
};
enum TensorField : uint32_t { kDType = 1, kTensorShape = 2, kContent = 4, kStrings = 8 };
enum ShapeField : uint32_t { kDim = 2, kUnknownRank = 3 };

void put_real(BytesSink& sink, uint32_t number, double value) {
  const auto narrow = static_cast<float>(value);
  put_varint(sink, uint64_t{number} << 3 | 5);
  sink.append({reinterpret_cast<const char*>(&narrow), sizeof(narrow)});
}

void put_number(BytesSink& sink, uint32_t number, int64_t value) {
  put_varint_field(sink, number, static_cast<uint64_t>(value));
}

/// One value, or a list that `put` fills.
template <class Put>
WrittenAttr list_attr(size_t count, Put put) {
  BytesSink list, out;
  for (size_t i = 0; i < count; ++i) put(list, i);
  put_bytes_field(out, kList, list.bytes);
  return {std::move(out.bytes), static_cast<int64_t>(count)};
}

WrittenAttr number_attr(uint32_t field, int64_t value) {
  BytesSink out;
  put_number(out, field, value);
  return {std::move(out.bytes), value};
}

WrittenAttr bytes_attr(uint32_t field, std::string_view bytes) {
  BytesSink out;
  put_bytes_field(out, field, bytes);
  return {std::move(out.bytes), 1};
}

std::string tensor_bytes(const Tensor& value) {
  BytesSink out;
  put_number(out, kDType, static_cast<int64_t>(value.dtype()));
  put_bytes_field(out, kTensorShape, tensorflow::bytes_of(value.shape()));
  if (value.dtype() == DType::string) {
    for (int64_t i = 0; i < value.num_elements(); ++i) {
      put_bytes_field(out, kStrings, value.string_at(i));
    }
  } else {
    put_bytes_field(out, kContent, {static_cast<const char*>(value.raw_data()), value.nbytes()});
  }
  return std::move(out.bytes);
}

std::string function_name(std::string_view name) {
  BytesSink out;
  put_bytes_field(out, 1, name);
  return std::move(out.bytes);
}

/// The texts between commas.
std::vector<std::string_view> items_of(std::string_view text) {
  std::vector<std::string_view> out;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    if (end > 0) out.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string_view unquoted(std::string_view text) {
  const bool has_marks = text.size() >= 2 && (text.front() == '\'' || text.front() == '"');
  return has_marks ? text.substr(1, text.size() - 2) : text;
}

DType dtype_named(std::string_view name) {
  return name == "resource" ? kResource : dtype_from_name(name);
}

}  // namespace

Tensor int32_vector(const Ints& values) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return Tensor::of(std::span<const int32_t>(narrow), Shape{static_cast<int64_t>(narrow.size())});
}

Tensor string_vector(const Names& values) {
  const std::vector<std::string_view> views(values.begin(), values.end());
  return Tensor::of_strings(views, Shape{static_cast<int64_t>(views.size())});
}

WrittenAttr type_attr(DType dtype) { return number_attr(kType, static_cast<int64_t>(dtype)); }
WrittenAttr int_attr(int64_t value) { return number_attr(kInt, value); }
WrittenAttr flag_attr(bool value) { return number_attr(kFlag, value); }
WrittenAttr text_attr(std::string_view value) { return bytes_attr(kText, value); }
WrittenAttr shape_attr(const Shape& shape) { return bytes_attr(kShape, bytes_of(shape)); }
WrittenAttr tensor_attr(const Tensor& value) { return bytes_attr(kTensor, tensor_bytes(value)); }
WrittenAttr function_attr(std::string_view name) {
  return bytes_attr(kFunction, function_name(name));
}
WrittenAttr real_attr(double value) {
  BytesSink out;
  put_real(out, kReal, value);
  return {std::move(out.bytes), 1};
}

WrittenAttr types_attr(std::span<const DType> dtypes) {
  return list_attr(dtypes.size(), [&](BytesSink& list, size_t i) {
    put_number(list, kType, static_cast<int64_t>(dtypes[i]));
  });
}
WrittenAttr ints_attr(const Ints& values) {
  return list_attr(values.size(),
                   [&](BytesSink& list, size_t i) { put_number(list, kInt, values[i]); });
}
WrittenAttr shapes_attr(std::span<const Shape> shapes) {
  return list_attr(shapes.size(), [&](BytesSink& list, size_t i) {
    put_bytes_field(list, kShape, bytes_of(shapes[i]));
  });
}
WrittenAttr functions_attr(const Names& names) {
  return list_attr(names.size(), [&](BytesSink& list, size_t i) {
    put_bytes_field(list, kFunctionInList, function_name(names[i]));
  });
}

WrittenAttr attr_of(std::string_view kind, const Attr& value) {
  const bool is_list_of_ours = value.kind() == AttrKind::ints;
  if (kind == "list(int)") {
    return ints_attr(is_list_of_ours ? value.as_ints() : Ints{value.as_int()});
  }
  if (kind == "int") return int_attr(is_list_of_ours ? value.as_ints().at(0) : value.as_int());
  if (kind == "float") {
    return real_attr(value.kind() == AttrKind::integer ? static_cast<double>(value.as_int())
                                                       : value.as_real());
  }
  if (kind == "bool") return flag_attr(value.as_bool());
  if (kind == "string") return text_attr(value.as_string());
  if (kind == "type") return type_attr(value.as_dtype());
  if (kind == "shape" && is_list_of_ours) return shape_attr(Shape(value.as_ints()));
  fail<UnimplementedError>("an attribute of kind ", kind, " is not written of ", value.to_string());
}

WrittenAttr plain_attr(const Attr& value) {
  switch (value.kind()) {
    case AttrKind::boolean:
      return flag_attr(value.as_bool());
    case AttrKind::integer:
      return int_attr(value.as_int());
    case AttrKind::real:
      return real_attr(value.as_real());
    case AttrKind::dtype:
      return type_attr(value.as_dtype());
    case AttrKind::string:
      return text_attr(value.as_string());
    case AttrKind::ints:
      break;
  }
  return ints_attr(value.as_ints());
}

WrittenAttr attr_of_text(std::string_view kind, std::string_view text) {
  const auto number = [](std::string_view digits) {
    return std::strtoll(std::string(digits).c_str(), nullptr, 10);
  };
  if (kind == "int") return int_attr(number(text));
  if (kind == "float") return real_attr(std::strtod(std::string(text).c_str(), nullptr));
  if (kind == "bool") return flag_attr(text == "True");
  if (kind == "string") return text_attr(unquoted(text));
  if (kind == "type") return type_attr(dtype_named(text));
  if (kind == "shape") return shape_attr(text == "?" ? Shape::unknown() : Shape{});
  const std::vector<std::string_view> items = items_of(text);
  if (kind == "list(type)") {
    std::vector<DType> dtypes;
    for (std::string_view item : items) dtypes.push_back(dtype_named(item));
    return types_attr(dtypes);
  }
  return list_attr(items.size(), [&](BytesSink& list, size_t i) {
    if (kind == "list(int)") put_number(list, kInt, number(items[i]));
    if (kind == "list(bool)") put_number(list, kFlag, items[i] == "True");
    if (kind == "list(string)") put_bytes_field(list, kText, unquoted(items[i]));
    if (kind == "list(float)") {
      put_real(list, kReal, std::strtod(std::string(items[i]).c_str(), nullptr));
    }
  });
}

std::string bytes_of(const Shape& shape) {
  BytesSink out;
  if (!shape.has_rank()) {
    put_number(out, kUnknownRank, 1);
    return std::move(out.bytes);
  }
  for (const int64_t size : shape) {
    BytesSink dim;
    if (size != 0) put_number(dim, 1, size < 0 ? -1 : size);
    put_bytes_field(out, kDim, dim.bytes);
  }
  return std::move(out.bytes);
}

void put_entry(BytesSink& sink, uint32_t number, std::string_view key, std::string_view value) {
  BytesSink entry;
  put_bytes_field(entry, 1, key);
  put_bytes_field(entry, 2, value);
  put_bytes_field(sink, number, entry.bytes);
}

std::string bytes_of(const WrittenNode& node) {
  BytesSink out;
  put_bytes_field(out, 1, node.name);
  put_bytes_field(out, 2, node.op);
  for (const std::string& input : node.inputs) put_bytes_field(out, 3, input);
  for (const auto& [name, attr] : node.attrs) put_entry(out, 5, name, attr.bytes);
  return std::move(out.bytes);
}

}  // namespace tidemark::io::tensorflow
