// Emitter: nodes of an ONNX graph, as bytes, and names for what flows between them.
#pragma once

#include <tidemark/op.h>

#include <limits>
#include <map>
#include <set>
#include <span>

#include "tidemark/graph/graph.h"
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
  /// No other value is called so from now on.
  void reserve(const std::string& name) { taken_.insert(name); }
  /// A node; the name of its only output.
  std::string put(std::string_view op, const Names& inputs, std::span<const Given> attrs = {});
  std::string put(std::string_view op, const Names& inputs, std::initializer_list<Given> attrs) {
    return put(op, inputs, std::span(attrs.begin(), attrs.size()));
  }
  void put_all(std::string_view op, const Names& inputs, const Names& outputs,
               std::span<const Given> attrs);
  /// A node with graphs among its attributes: (name, the graph's fields).
  void put_with_graphs(std::string_view op, const Names& inputs, const Names& outputs,
                       const std::vector<std::pair<std::string_view, std::string>>& graphs);
  /// `wanted`: its name, where nothing else is called so.
  std::string constant(const Tensor& value, const std::string& wanted = {});
  std::string ints(const Ints& values);
  std::string real(double value, DType dtype);
  std::string fresh() { return fresh("v"); }

  /// Constants, each with its name, in the order in which they came up.
  const std::vector<std::pair<std::string, Tensor>>& constants() const { return constants_; }

  std::string nodes;  // fields of the graph
  /// What has no form there: the text, and the line that was seen first.
  std::map<std::string, std::string> missing;

 private:
  std::string fresh(std::string_view kind);

  std::map<std::pair<const graph::Node*, uint32_t>, std::string> names_;
  std::set<std::string> taken_;
  std::map<const void*, std::string> name_of_constant_;
  std::vector<std::pair<std::string, Tensor>> constants_;
  std::vector<Tensor> held_;  // so that addresses stay theirs
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
  DType dtype(size_t i = 0) const { return node.inputs[i].dtype(); }
  DType made() const { return node.outputs[0].dtype; }
  int rank(size_t i) const;
  std::string as_int64(size_t i) const;
  std::string put(std::string_view op, const Names& inputs,
                  std::initializer_list<Given> attrs = {}) const {
    return out.put(op, inputs, attrs);
  }
  /// A constant of the dtype of the first input.
  std::string real(double value) const { return out.real(value, dtype()); }
  std::string cast(const std::string& name, DType from, DType to) const {
    return from == to ? name : out.put("Cast", {name}, {{"to", to}});
  }
  /// Sizes of an input, from one axis on and before another (the last: kLast).
  std::string sizes(size_t i, int64_t from = 0, int64_t to = kLast) const;
  std::string chosen(const std::string& condition, const std::string& yes,
                     const std::string& no) const {
    return out.put("Where", {condition, yes, no});
  }
  static constexpr int64_t kLast = std::numeric_limits<int64_t>::max();
};

/// What an input or output of a graph is like. Unknown sizes are named after it.
std::string value_info(const std::string& name, DType dtype, const Shape& shape);

/// Names of the node's outputs.
using Emit = Names (*)(const Emitted&);
struct NamedEmit {
  std::string_view op;
  Emit emit;
};
/// Null: the op has no form of its own there.
Emit find_emit(std::string_view op);

// They, by what they are about.
std::span<const NamedEmit> array_emits();
std::span<const NamedEmit> learned_emits();
std::span<const NamedEmit> math_emits();
std::span<const NamedEmit> plain_emits();

/// Branches and loops: a node over graphs that use what is around them by its names.
Names emit_control(Emitter& out, const graph::Node& node);
/// The nodes of a graph whose inputs have names already.
void emit_graph(Emitter& out, const graph::Graph& graph);

}  // namespace tidemark::io::onnx
