// TensorFlow's messages about graphs on their way into a file: attributes, nodes, functions.
//
//   WrittenNode node{"sum", "AddV2", {"x", "y"}};
//   node.attrs["T"] = type_attr(DType::float32);
//   const std::string bytes = bytes_of(node);
#pragma once

#include <tidemark/attr.h>
#include <tidemark/tensor.h>

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tidemark/io/bytes_sink.h"

namespace tidemark::io::tensorflow {

using Names = std::vector<std::string>;
/// TensorFlow's number of the dtype of handles, as one of ours would be written.
inline constexpr DType kResource = static_cast<DType>(20);

/// An AttrValue. `count`: how many there are in a list, or the number itself.
struct WrittenAttr {
  std::string bytes;
  int64_t count = 0;
};

WrittenAttr type_attr(DType dtype);
WrittenAttr types_attr(std::span<const DType> dtypes);
WrittenAttr int_attr(int64_t value);
WrittenAttr ints_attr(const Ints& values);
WrittenAttr real_attr(double value);
WrittenAttr flag_attr(bool value);
WrittenAttr text_attr(std::string_view value);
WrittenAttr shape_attr(const Shape& shape);
WrittenAttr shapes_attr(std::span<const Shape> shapes);
WrittenAttr tensor_attr(const Tensor& value);
WrittenAttr function_attr(std::string_view name);
WrittenAttr functions_attr(const Names& names);
/// A value of ours as an attribute of a kind of theirs. Throws UnimplementedError for a kind that
/// attributes of ours have no values for.
WrittenAttr attr_of(std::string_view kind, const Attr& value);
/// In the kind that comes closest.
WrittenAttr plain_attr(const Attr& value);
/// A default of the table of operations.
WrittenAttr attr_of_text(std::string_view kind, std::string_view text);

/// A vector of int32, as TensorFlow's ops take shapes and axes.
Tensor int32_vector(const Ints& values);
Tensor string_vector(const Names& values);

/// TensorShapeProto.
std::string bytes_of(const Shape& shape);

struct WrittenNode {
  std::string name, op;
  Names inputs;  // "node", "node:1", "^node"
  std::map<std::string, WrittenAttr, std::less<>> attrs;
};
/// NodeDef.
std::string bytes_of(const WrittenNode& node);

/// Adds a map's entry.
void put_entry(BytesSink& sink, uint32_t number, std::string_view key, std::string_view value);

}  // namespace tidemark::io::tensorflow
