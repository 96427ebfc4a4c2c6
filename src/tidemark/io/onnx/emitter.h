// Emitter: nodes of an ONNX graph, as bytes, and names for what flows between them.
#pragma once

#include <tidemark/op.h>

#include <map>

#include "tidemark/graph/node.h"
#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/onnx/value.h"

namespace tidemark::io::onnx {

using Names = std::vector<std::string>;

/// An attribute of a node.
struct Given {
  std::string_view name;
  Attr value;
};

class Emitter {
 public:
  /// The name of a value: of a node that was written, or of a constant that is written now.
  std::string name_of(const Tensor& t);
  void set_name(const graph::Node& node, uint32_t output, std::string name) {
    names_[{&node, output}] = std::move(name);
  }
  /// A node; the name of its only output.
  std::string put(std::string_view op, const Names& inputs, std::span<const Given> attrs = {});
  std::string put(std::string_view op, const Names& inputs, std::initializer_list<Given> attrs) {
    return put(op, inputs, std::span(attrs.begin(), attrs.size()));
  }
  void put_all(std::string_view op, const Names& inputs, const Names& outputs,
               std::span<const Given> attrs);
  std::string constant(const Tensor& value);
  std::string ints(const Ints& values);
  std::string real(double value, DType dtype);
  std::string fresh() { return message("v", count_++); }

  std::string nodes, initializers;  // fields of the graph

 private:
  std::map<std::pair<const graph::Node*, uint32_t>, std::string> names_;
  std::map<const void*, std::string> constants_;
  std::vector<Tensor> held_;  // so that addresses in constants_ stay theirs
  size_t count_ = 0;
};

/// One node of ours: what emitters of ops look at.
struct Emitted {
  Emitter& out;
  const graph::Node& node;

  std::string in(size_t i) const { return out.name_of(node.inputs[i]); }
  const Tensor& tensor(size_t i) const { return node.inputs[i]; }
  const Attr& attr(std::string_view name) const {
    return node.attrs[static_cast<size_t>(node.op->attr_index(name))];
  }
  int rank(size_t i) const;
  std::string as_int64(size_t i) const;
};

/// Names of the node's outputs. Null: the op has no form of its own there.
using Emit = Names (*)(const Emitted&);
Emit find_emit(std::string_view op);

}  // namespace tidemark::io::onnx
