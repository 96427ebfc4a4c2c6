// What an ONNX file says, as plain values whose texts and bytes are views of the file.
//
//   const Model model = read_model(bytes);            // bytes must outlive the model
//   for (const Node& node : model.graph.nodes) std::cout << node.op << "\n";
//
// Reading checks the wire format, depth and counts; nothing is computed and no tensor is made.
#pragma once

#include <tidemark/attr.h>

#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "tidemark/base/wire.h"

namespace tidemark::io::onnx {

/// ONNX's numbers of element types.
enum class Element : uint8_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
};
inline constexpr int kElements = 27;

struct TensorMessage {
  std::string_view name;
  Element element = Element::undefined;
  Ints dims;
  std::string_view raw;
  bool has_raw = false, is_external = false;
  std::vector<WireField> numbers;  // typed fields as they stand: packed, or one number each
  std::vector<std::string_view> strings;
  std::vector<std::pair<std::string_view, std::string_view>> external;
};

struct SparseMessage {
  TensorMessage values, indices;
  Ints dims;
};

struct Type {
  enum class Kind : uint8_t { none, tensor, sequence, optional, other };
  Kind kind = Kind::none;
  Element element = Element::undefined;  // of a tensor, or of the tensors inside
  bool has_shape = false;
  Ints dims;                            // -1: unknown
  std::vector<std::string_view> names;  // of unknown sizes; empty: none
  std::shared_ptr<Type> inner;          // of a sequence or optional
};

struct ValueInfo {
  std::string_view name;
  Type type;
};

struct Graph;

struct Attribute {
  std::string_view name, text, refers_to;
  int64_t kind = 0;  // AttributeProto.AttributeType
  float real = 0;
  int64_t integer = 0;
  std::vector<float> reals;
  Ints integers;
  std::vector<std::string_view> texts;
  std::shared_ptr<const TensorMessage> tensor;
  std::vector<TensorMessage> tensors;
  std::shared_ptr<const SparseMessage> sparse;
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Type> type;
};

struct Node {
  std::string_view op, domain, name, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> attributes;

  const Attribute* find(std::string_view attribute) const;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<TensorMessage> initializers;
  std::vector<SparseMessage> sparse_initializers;
  std::vector<ValueInfo> inputs, outputs;
};

using Opsets = std::map<std::string_view, int64_t>;  // domain to version; "" is ai.onnx

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  Opsets opsets;
};

struct Model {
  std::string_view format = "ONNX";  // for messages: whose words the file uses
  std::string_view home;             // the domain whose ops nodes may name beside ai.onnx's others
  int64_t ir_version = 0;
  std::string_view producer, doc;
  Opsets opsets;
  Graph graph;
  std::vector<Function> functions;
  std::vector<std::string> not_read;  // what the file has and its nodes do not show, a line each
  std::shared_ptr<const void> owner;  // of texts that are not the file's own
};

/// Throws DataLossError where the bytes are no ONNX model.
TIDEMARK_API Model read_model(std::string_view bytes);

/// "" for the default domain, under either of its names.
inline std::string_view plain_domain(std::string_view domain) {
  return domain == "ai.onnx" ? std::string_view() : domain;
}

}  // namespace tidemark::io::onnx
