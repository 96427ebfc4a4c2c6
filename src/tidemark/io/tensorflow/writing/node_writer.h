// NodeWriter: nodes of a graph of ours as nodes of TensorFlow's.
//
//   Library library;
//   NodeWriter writer(library);
//   for (const graph::Node* node : graph.nodes()) writer.write(*node);
//
// Most ops are one of TensorFlow's by their own definition; others have a writer, or an expansion:
// the same in ops that have one.
#pragma once

#include <tidemark/op.h>

#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>

#include "tidemark/graph/graph.h"
#include "tidemark/io/tensorflow/writing/op_table.h"
#include "tidemark/io/tensorflow/writing/written_messages.h"

namespace tidemark::io::tensorflow {

/// A variable, of the program or of a session, as nodes speak of it.
struct NamedVariable {
  uint64_t id = 0;
  std::string name;
  DType dtype = DType::invalid;
  Shape shape;
};

/// What a node does with a variable.
struct VariableUse {
  enum class Kind : uint8_t { read, is_initialized, update };
  NamedVariable variable;
  Kind kind = Kind::read;
  const OpDef* op = nullptr;  // by which it is updated; null: assigned
};
/// Nothing: the node has to do with none.
std::optional<VariableUse> use_of(const graph::Node& node);
/// The variables that nodes of a graph, and of graphs inside of it, use, in the order of their
/// first use.
std::vector<NamedVariable> variables_of(const graph::Graph& graph);
/// Whether the node, or one inside of it, does more than to compute its outputs.
bool is_stateful(const graph::Node& node);

/// The functions of a message, and what all its parts share.
class Library {
 public:
  OpTable ops;
  /// True: ops of ours that are several of TensorFlow's become calls of functions with a note which
  /// op it was, so that it is that op again when it is read here.
  bool notes_ours = false;
  std::map<std::string, std::string> noted;  // such ops, by what they are like: the functions
  /// Ops that TensorFlow has not, and the line that was seen first.
  std::map<std::string, std::string> foreign;
  std::set<std::string, std::less<>> used_ops;

  /// The name, or with a number behind it where it is taken.
  std::string fresh(const std::string& name);
  void add(std::string function) { functions_.push_back(std::move(function)); }
  const std::vector<std::string>& functions() const { return functions_; }

 private:
  std::set<std::string> names_;
  std::vector<std::string> functions_;
};

/// One argument of a node: a reference, or a list of them, and what they are of.
struct Given {
  Given(std::string reference, DType dtype) : references{std::move(reference)}, dtypes{dtype} {}
  Given(Names references, std::vector<DType> dtypes)
      : references(std::move(references)), dtypes(std::move(dtypes)) {}
  Names references;
  std::vector<DType> dtypes;
};
using GivenAttrs = std::map<std::string, WrittenAttr, std::less<>>;

class NodeWriter {
 public:
  explicit NodeWriter(Library& library) : library(library) {}
  NodeWriter(const NodeWriter&) = delete;
  virtual ~NodeWriter() = default;

  Library& library;

  /// One node of ours; `after`: nodes that ran before it.
  void write(const graph::Node& node, std::span<const graph::Node* const> after = {});
  /// All nodes of a graph but its inputs, which have references already.
  void write_all(const graph::Graph& graph);

  // --- what writers of ops call ---------------------------------------------------------------
  std::string fresh(const std::string& name);
  /// Adds a node; what follows from the arguments and the table's defaults is filled in.
  std::string add(std::string name, std::string_view op, const std::vector<Given>& inputs = {},
                  GivenAttrs attrs = {}, const Names& control = {});
  std::string constant(const std::string& name, const Tensor& value);
  /// How another node refers to the tensor; constants are written, under that name.
  std::string reference(const Tensor& t, const std::string& name);
  Given given(const Tensor& t, const std::string& name) { return {reference(t, name), t.dtype()}; }
  void give(const graph::Node& node, uint32_t output, std::string reference);
  /// The node's outputs are those of the one of this name.
  bool give_all(const graph::Node& node, const std::string& name);
  const std::string& given_reference(const graph::Node& node, uint32_t output) const {
    return references_.at({&node, output});
  }
  /// Which node to wait for where one waits for a node of ours.
  void made_by(const graph::Node& node, std::string name) { made_by_[&node] = std::move(name); }
  bool is_known(const graph::Node& node) const { return made_by_.contains(&node); }
  const std::string& maker_of(const graph::Node& node) const { return made_by_.at(&node); }
  /// The node that has this label gets it as its name, whatever is written before.
  void reserve(const std::string& label) {
    if (names_.insert(label).second) reserved_.insert(label);
  }
  /// The handle of the variable, written on first use.
  std::string handle_of(const NamedVariable& variable);
  void set_handle(uint64_t variable, std::string name) { handles_[variable] = std::move(name); }
  /// As the ops that `make` calls for the node's inputs; false: it makes nothing.
  using Expansion = std::vector<Tensor> (*)(const graph::Node& node, std::span<const Tensor> x);
  bool write_expanded(const graph::Node& node, const std::string& label, Expansion make);

  const std::vector<WrittenNode>& nodes() const { return nodes_; }
  std::vector<WrittenNode>& nodes() { return nodes_; }

 protected:
  /// Several nodes of TensorFlow's for one of ours.
  virtual bool write_composed(const graph::Node& node, const std::string& label);
  virtual std::string declare(const NamedVariable& variable);

 private:
  std::string label_of(const graph::Node& node);
  bool write_by_rule(const graph::Node& node, const std::string& label, const ForeignOp& rule);
  void write_foreign(const graph::Node& node, const std::string& label);

  std::vector<WrittenNode> nodes_;
  std::map<std::pair<const graph::Node*, uint32_t>, std::string> references_;
  std::map<const graph::Node*, std::string> made_by_;
  std::map<uint64_t, std::string> handles_;
  std::set<std::string> names_, reserved_;
  std::vector<std::shared_ptr<graph::Graph>> held_;  // expansions, so that addresses stay theirs
  std::string prefix_;                               // of names in an expansion
};

/// A function of the library on its way.
class FunctionWriter final : public NodeWriter {
 public:
  /// `variables`: what it takes behind its own inputs.
  FunctionWriter(Library& library, const std::string& name, std::vector<DType> inputs,
                 std::span<const NamedVariable> variables);

  const std::string& name() const { return name_; }
  const std::string& argument(size_t i) const { return arguments_[i]; }
  const std::vector<DType>& types() const { return types_; }
  /// The nodes of a graph whose inputs are the arguments at these places.
  void write_graph(const graph::Graph& graph, std::span<const size_t> places);
  /// What gives the results, behind all that has to run; their references.
  Names write_results(std::span<const Tensor> outputs);
  /// Adds the function to the library. `results`: references of these dtypes.
  void finish(const Names& results, std::span<const DType> types);
  bool is_stateful() const { return !stateful_.empty(); }

 private:
  bool write_composed(const graph::Node& node, const std::string& label) override;
  bool write_noted(const graph::Node& node, const std::string& label);
  std::string inside(const std::string& reference) const;

  std::string name_;
  std::vector<DType> types_;
  Names arguments_;
  std::vector<const graph::Node*> stateful_;
  bool is_noted_ = false;  // its body stands for one op of ours
};

/// Whether the node was written; false: this one has no form of that kind.
using WriteNode = bool (*)(NodeWriter&, const graph::Node&, const std::string& label);
struct NamedWriter {
  std::string_view op;
  WriteNode write;
};
/// Null: what the node does has no writer of its own.
WriteNode find_writer(const graph::Node& node);
/// Null: the op is not written by means of others.
NodeWriter::Expansion find_expansion(std::string_view op);
/// Null: the op is not written as several nodes.
WriteNode find_composed(std::string_view op);

/// Branches and loops, as functions of the library.
bool write_control(NodeWriter& writer, const graph::Node& node, const std::string& label);

inline const Attr& attr_of_node(const graph::Node& node, std::string_view name) {
  return node.attrs[static_cast<size_t>(node.op->attr_index(name))];
}

}  // namespace tidemark::io::tensorflow
