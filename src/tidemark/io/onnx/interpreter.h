// Interpreter: walks an ONNX graph and has each node built.
//
//   Interpreter interpreter(file);
//   Values outputs = interpreter.run(inputs);     // computed now, or nodes of the graph being
//   traced
//
// Nodes whose inputs all hold values are computed at once, also while a graph is traced.
#pragma once

#include <set>
#include <unordered_map>

#include "tidemark/io/onnx/call.h"
#include "tidemark/io/onnx/file.h"

namespace tidemark::io::onnx {

/// Values by name; what is not found is looked for in the graph around.
class Scope {
 public:
  explicit Scope(const Scope* around = nullptr) : around_(around) {}
  /// Null: there is none.
  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value) { values_[name] = std::move(value); }
  void drop(std::string_view name) { values_.erase(name); }

 private:
  const Scope* around_;
  std::unordered_map<std::string_view, Value> values_;
};

class Interpreter {
 public:
  explicit Interpreter(const File& file) : file_(file) {}

  /// Of the model's graph: one value an input, in their order.
  Values run(std::span<const Value> inputs);
  const File& file() const { return file_; }
  std::string_view format() const { return file_.model().format; }
  /// Of a graph in an attribute of the call's node.
  Values run_inner(const Call& call, const Graph& graph, std::span<const Value> inputs);

 private:
  Values run_graph(const Graph& graph, const Scope* around, const Frame& frame,
                   std::span<const Value> inputs);
  void run_nodes(std::span<const Node> nodes, Scope& scope, const Frame& frame,
                 const std::set<std::string_view>& kept);
  Values run_node(const Node& node, const Scope& scope, const Frame& frame);
  Values run_function(const Function& function, const Call& call);
  Values build(const Call& call);

  const File& file_;
};

}  // namespace tidemark::io::onnx
