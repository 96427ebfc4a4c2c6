// Graph: the inputs, the outputs and the effects of a computation that can be run many times.
#pragma once

#include <map>
#include <mutex>
#include <stdexcept>
#include <unordered_map>

#include "tidemark/graph/node.h"

namespace tidemark::graph {

/// A graph takes no new nodes any more; Python's RuntimeError.
class TIDEMARK_API FinalizedError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Built by one thread, then never changed: run by any number of threads.
class TIDEMARK_API Graph : public std::enable_shared_from_this<Graph> {
 public:
  static std::shared_ptr<Graph> create(std::string name);
  explicit Graph(std::string name);

  const std::string& name() const { return name_; }
  /// Never used twice.
  uint64_t id() const { return id_; }

  /// From now on new_node throws.
  void finalize() { is_finalized_.store(true, std::memory_order_relaxed); }
  bool is_finalized() const { return is_finalized_.load(std::memory_order_relaxed); }
  NodeRef new_node();
  /// What nodes of a kind are called unless told otherwise; the kind itself where no name is given.
  using NamesOfKinds = std::unordered_map<std::string, std::string>;
  void name_kinds(std::shared_ptr<const NamesOfKinds> names) { kinds_ = std::move(names); }
  std::string default_name(std::string_view kind) const;
  /// The name, with a number behind it where it is taken: "add", "add_1", … Names that differ in
  /// case alone are the same. Any number of threads.
  std::string unique_name(const std::string& name);
  /// Gives the node the name, made unique, under which it is found while it lives. A name it had
  /// before is free again.
  void set_name(Node& node, const std::string& name);
  /// Gives the node a name that unique_name gave out.
  void set_unique_name(Node& node, std::string name);
  /// The live node with this name; empty.
  NodeRef find(const std::string& name) const;
  /// All live nodes that have a name, in the order of the program.
  std::vector<NodeRef> named_nodes() const;
  /// Keeps the node: it runs though nobody looks at its outputs.
  void keep(const NodeRef& node) { effects_.push_back(node); }
  Tensor add_input(DType dtype, const Shape& shape, std::unique_ptr<Imagined> imagined = {},
                   Device device = {});

  const std::vector<Tensor>& inputs() const { return inputs_; }
  const std::vector<Tensor>& outputs() const { return outputs_; }
  const std::vector<NodeRef>& effects() const { return effects_; }
  void set_outputs(std::vector<Tensor> outputs) { outputs_ = std::move(outputs); }

  /// All nodes that a run needs, in the order of the program.
  std::vector<Node*> nodes() const;
  /// Bytes of the nodes and of the constants they keep; a buffer kept twice counts once.
  size_t bytes() const;
  /// Without the constants.
  size_t node_bytes() const;
  /// One line a node: "%3 = add(%1, %2) : float32 (2, None)   train.py:12 in step".
  std::string to_string() const;
  std::string to_dot() const;

 private:
  std::string name_;
  friend struct Node;
  std::string new_name(const std::string& name);
  void give_back(const std::string& name);
  void forget(const Node& node) noexcept;

  mutable std::mutex names_mutex_;
  // In lower case: how often each was asked for, and which live node has it. A graph that forgets
  // its nodes forgets their names; numbers are not used again.
  std::unordered_map<std::string, int64_t> asked_;
  std::unordered_map<std::string, Node*> named_;
  std::shared_ptr<const NamesOfKinds> kinds_;  // null: there are none
  uint64_t id_;
  std::atomic<bool> is_finalized_{false};
  std::vector<Tensor> inputs_, outputs_;
  std::vector<NodeRef> effects_;
};

/// The special of a graph's inputs.
class TIDEMARK_API Placeholder final : public Special {
 public:
  std::string_view name() const override { return "placeholder"; }
  void run(std::span<Tensor> inputs, std::span<Tensor> outputs) const override;
  Effects effects() const override { return {}; }
};
TIDEMARK_API bool is_placeholder(const Node& node);
TIDEMARK_API std::shared_ptr<const Special> placeholder_special();

/// The nodes that these tensors and nodes depend on, themselves included, in the program's order.
/// What `given` needs is left out.
TIDEMARK_API std::vector<Node*> nodes_for(std::span<const Tensor> tensors,
                                          std::span<const NodeRef> effects,
                                          std::span<const Tensor> given = {});

}  // namespace tidemark::graph
