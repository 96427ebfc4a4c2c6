// Ops that read tensors from bytes and write them as bytes.
#include <tidemark/op.h>

#include <cstdio>
#include <memory>

#include "tidemark/base/text/base64.h"
#include "tidemark/ops/movement.h"
#include "tidemark/ops/text/csv.h"
#include "tidemark/ops/text/example.h"
#include "tidemark/ops/text/files.h"
#include "tidemark/ops/text/tensor_proto.h"

namespace tidemark {

namespace {

using namespace movement;
using text::CharacterCount;

Shape with_last(const Shape& shape, int64_t size) {
  if (!shape.has_rank()) return shape;
  Shape out = Shape::filled(shape.rank() + 1, size);
  for (int i = 0; i < shape.rank(); ++i) out[i] = shape[i];
  return out;
}

void check_scalar(const InferContext& c, int i) {
  if (c.shape(i).has_rank() && c.shape(i).rank() != 0) {
    c.fail(c.call().op.input_param(i).name, " must be a scalar, got shape ",
           c.shape(i).to_brackets());
  }
}

void decode_raw_rule(InferContext& c) {
  const auto item = static_cast<int64_t>(size_of(c.attr("out_type").as_dtype()));
  const Attr& fixed = c.attr("fixed_length");
  if (!fixed.is_none()) {
    const int64_t length = fixed.as_int();
    if (length <= 0 || length % item != 0) {
      c.fail("fixed_length (", length,
             ") must be positive and a multiple of the size of out_type (", item, ")");
    }
    return c.set(0, with_last(c.shape(0), length / item));
  }
  if (!text::holds_values(c.call())) return c.set(0, with_last(c.shape(0), kUnknownDim));
  const Tensor& in = c.input(0);
  const int64_t bytes = in.num_elements() == 0 ? 0 : static_cast<int64_t>(in.string_at(0).size());
  for (int64_t i = 0; i < in.num_elements(); ++i) {
    if (static_cast<int64_t>(in.string_at(i).size()) != bytes) {
      c.fail("DecodeRaw requires input strings to all be the same size, but element ", i,
             " has size ", in.string_at(i).size(), " != ", bytes);
    }
  }
  if (bytes % item != 0) {
    c.fail("Input to DecodeRaw has length ", bytes, " that is not a multiple of ", item,
           ", the size of ", name_of(c.attr("out_type").as_dtype()));
  }
  c.set(0, with_last(c.shape(0), bytes / item));
}

void split_csv_rule(InferContext& c) {
  if (c.attr("columns").as_int() < 1) c.fail("columns must be at least 1");
  const std::string& delimiter = c.attr("field_delim").as_string();
  if (delimiter.size() != 1) c.fail("field_delim should be only 1 char, given '", delimiter, "'");
  c.set(0, with_last(c.shape(0), c.attr("columns").as_int()));
  if (!text::holds_values(c.call())) return;
  CharacterCount count;
  text::put_csv(c.call(), count);
  c.set_string_bytes(0, count.characters());
}

void encode_base64_rule(InferContext& c) {
  c.set(0, c.shape(0));
  if (!text::holds_values(c.call())) return;
  c.set_string_bytes(
      0, checked_add(checked_multiply(characters_of(c.input(0)) / 3 + 1, 4, "characters"),
                     checked_multiply(c.input(0).num_elements(), 4, "characters"), "characters"));
}

void decode_base64_rule(InferContext& c) {
  c.set(0, c.shape(0));
  c.set_string_bytes(0, characters_of(c.input(0)));
}

void serialize_tensor_rule(InferContext& c) {
  c.set(0, Shape{});
  if (!text::holds_values(c.call())) return;
  CharacterCount count;
  text::put_tensor_proto(c.input(0), count);
  c.set_string_bytes(0, count.characters());
}

void parse_tensor_rule(InferContext& c) {
  check_scalar(c, 0);
  c.set(0, Shape::unknown());
  if (!text::holds_values(c.call())) return;
  const text::TensorProtoView proto =
      text::parse_tensor_proto(c.op_name(), c.input(0).string_at(0));
  const DType wanted = c.attr("out_type").as_dtype();
  if (proto.dtype != wanted) {
    c.fail("Type mismatch between parsed tensor (", name_of(proto.dtype), ") and dtype (",
           name_of(wanted), ")");
  }
  c.set(0, proto.shape);
  c.set_string_bytes(0, proto.string_bytes);
}

void read_file_rule(InferContext& c) {
  check_scalar(c, 0);
  c.set(0, Shape{});
  if (!text::holds_values(c.call())) return;
  c.set_string_bytes(0, text::file_size(c.op_name(), c.input(0).string_at(0)));
}

void example_fixed_rule(InferContext& c) {
  check_vector(c, 0);
  const DType dtype = c.dtype(1);
  Ints dims{c.shape(0).has_rank() ? c.shape(0)[0] : kUnknownDim};
  int64_t elements = 1;
  for (int64_t size : c.attr("dense_shape").as_ints()) {
    if (size < 0) c.fail("the feature's shape must be fully known; given a size of ", size);
    elements = checked_multiply(elements, size, "the feature's elements");
    dims.push_back(size);
  }
  c.set(0, Shape(std::span<const int64_t>(dims)), dtype);
  if (!text::holds_values(c.call())) return;
  const int64_t defaults = c.input(1).num_elements();
  if (defaults > 1 && defaults != elements) {
    c.fail("default_value must hold one or ", elements, " elements; given ", defaults);
  }
  if (dtype != DType::string) return;
  int64_t characters = 0;
  for (int64_t i = 0; i < c.input(0).num_elements(); ++i) {
    const auto feature =
        text::find_feature(c.op_name(), c.input(0).string_at(i), c.attr("key").as_string(), i);
    if (feature.kind == text::FeatureKind::bytes) {
      text::for_each_bytes(
          feature, [&](std::string_view s) { characters += static_cast<int64_t>(s.size()); });
    } else {
      characters +=
          checked_multiply(characters_of(c.input(1)), defaults == 1 ? elements : 1, "characters");
    }
  }
  c.set_string_bytes(0, characters);
}

void example_var_rule(InferContext& c) {
  check_vector(c, 0);
  const DType dtype = c.attr("dtype").as_dtype();
  const int64_t rows = c.shape(0).has_rank() ? c.shape(0)[0] : kUnknownDim;
  c.set(1, Shape{rows == kUnknownDim ? rows : rows + 1});
  c.set(0, Shape{kUnknownDim});
  if (!text::holds_values(c.call())) return;
  int64_t count = 0, characters = 0;
  for (int64_t i = 0; i < rows; ++i) {
    const auto feature =
        text::find_feature(c.op_name(), c.input(0).string_at(i), c.attr("key").as_string(), i);
    count += feature.count;
    if (dtype != DType::string || feature.kind != text::FeatureKind::bytes) continue;
    text::for_each_bytes(feature,
                         [&](std::string_view s) { characters += static_cast<int64_t>(s.size()); });
  }
  c.set(0, Shape{count});
  c.set_string_bytes(0, characters);
}

constexpr DTypeSet kFeatures = dtype_set(DType::float32, DType::int64, DType::string);

}  // namespace

TIDEMARK_OP(decode_raw)
    .doc(
        "The bytes of strings as numbers, along a new last dimension. With `fixed_length` strings "
        "are cut or filled up with zeros to that many bytes.")
    .python("tf.io.decode_raw")
    .tensorflow("DecodeRaw", {}, "out_type little_endian")
    .input("input_bytes", kString)
    .attr("out_type", AttrKind::dtype)
    .attr("little_endian", AttrKind::boolean, true)
    .optional_attr("fixed_length", AttrKind::integer)
    .output("output", from_attr("out_type"))
    .shape(decode_raw_rule)
    .no_gradient();

TIDEMARK_OP(split_csv)
    .doc("The fields of CSV records, along a new last dimension.")
    .input("records", kString)
    .attr("columns", AttrKind::integer)
    .attr("field_delim", AttrKind::string, ",")
    .attr("use_quote_delim", AttrKind::boolean, true)
    .output("fields", always(DType::string))
    .may_fail()
    .shape(split_csv_rule)
    .no_gradient();

TIDEMARK_OP(encode_base64)
    .doc("Strings in web-safe Base64.")
    .python("tf.io.encode_base64")
    .tensorflow("EncodeBase64", {}, "pad")
    .input("input", kString)
    .attr("pad", AttrKind::boolean, false)
    .output("output", always(DType::string))
    .shape(encode_base64_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(decode_base64)
    .doc("Strings from web-safe Base64, padded or not.")
    .python("tf.io.decode_base64")
    .tensorflow("DecodeBase64")
    .input("input", kString)
    .output("output", always(DType::string))
    .may_fail()
    .shape(decode_base64_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(serialize_tensor)
    .doc("A tensor as the bytes of a TensorProto message.")
    .python("tf.io.serialize_tensor")
    .input("tensor", kAny)
    .output("serialized", always(DType::string))
    .shape(serialize_tensor_rule)
    .no_gradient();

TIDEMARK_OP(parse_tensor)
    .doc("The tensor of a TensorProto message.")
    .python("tf.io.parse_tensor")
    .input("serialized", kString)
    .attr("out_type", AttrKind::dtype)
    .among(kAny)
    .output("output", from_attr("out_type"))
    .may_fail()
    .shape(parse_tensor_rule)
    .no_gradient();

TIDEMARK_OP(read_file)
    .doc("The contents of a file as one string.")
    .python("tf.io.read_file")
    .tensorflow("ReadFile")
    .input("filename", kString)
    .output("contents", always(DType::string))
    .may_fail()
    .shape(read_file_rule)
    .stateful()
    .no_gradient();

TIDEMARK_OP(parse_example_fixed)
    .doc(
        "A feature of serialized Example messages, as many values in each. An empty default: the "
        "feature is required.")
    .input("serialized", kString)
    .input("default_value", kFeatures, 'D')
    .attr("key", AttrKind::string)
    .attr("dense_shape", AttrKind::ints)
    .output("values", by_rule())
    .may_fail()
    .shape(example_fixed_rule)
    .no_gradient();

TIDEMARK_OP(parse_example_var)
    .doc(
        "A feature of serialized Example messages, any number of values in each, and where each "
        "message's values begin.")
    .input("serialized", kString)
    .attr("key", AttrKind::string)
    .attr("dtype", AttrKind::dtype)
    .among(kFeatures)
    .output("values", from_attr("dtype"))
    .output("row_splits", always(DType::int64))
    .may_fail()
    .shape(example_var_rule)
    .no_gradient();

}  // namespace tidemark
