// Importer: functions and graphs of TensorFlow's as calls of our ops.
//
//   Importer importer(graph, ops);
//   Values outputs = importer.call_function("__inference_f_12", arguments);
//
// Functions are expanded where they are called. What is made is bounded: depth of calls and nodes
// in all, so that a small file cannot ask for a large graph. One thread.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <unordered_map>

#include "tidemark/io/bundle_reader.h"
#include "tidemark/io/mapped_file.h"
#include "tidemark/io/tensorflow/node_call.h"
#include "tidemark/io/tensorflow/old_control_flow.h"

namespace tidemark::io::tensorflow {

/// Where an edge comes from.
struct Edge {
  int node = -1;  // -1: an argument of the function
  int output = 0;
};

/// The nodes of a graph, or of a function, and how they refer to each other.
struct NodeList {
  std::span<const NodeMessage> nodes;
  std::unordered_map<std::string_view, int> by_name;
  std::vector<std::vector<Edge>> inputs;
  std::vector<std::vector<int>> after;  // control inputs
  OldControlFlow old;                   // of the graphs of TensorFlow 1
};

/// What nodes of a list have made so far: in a call of a function, a branch or a round of a loop.
struct Scope {
  const Scope* around = nullptr;
  std::unordered_map<int, Values> made;
  int pivot = -1;  // a branch: the node that chose it
  Values arguments;

  const Values* find(int node) const;
  bool is_chosen_by(int node) const;
};

class TIDEMARK_API Importer {
 public:
  Importer(GraphMessage graph, const std::map<std::string_view, OpMessage>& ops);
  ~Importer();
  Importer(const Importer&) = delete;

  /// Throws UnimplementedError that lists all ops which the graph and the functions that it uses
  /// need and Tidemark lacks, each with a node. `roots`: nodes of the graph, or functions.
  void check_supported(const std::vector<std::string_view>& nodes,
                       const std::vector<std::string_view>& functions) const;

  Values call_function(std::string_view name, Values arguments);
  /// Values of tensors ("node:0") or effects ("node") of the graph, given some of its tensors.
  Values run_graph(const std::vector<std::string_view>& fetches,
                   const std::vector<std::pair<std::string_view, Value>>& feeds);

  const OpMessage* op(std::string_view name) const;
  const NodeMessage* node(std::string_view name) const;
  const FunctionMessage& function(std::string_view name) const;
  /// Where the loop's body gives an argument back as it was: it is the same in every round.
  std::vector<bool> unchanged_arguments(std::string_view function) const;

  /// Resources by name; made on the first call.
  Value resource(const std::string& name, const std::function<Value()>& make);
  const std::map<std::string, Value>& resources() const { return resources_; }
  /// The checkpoint that RestoreV2 reads; null: there is none.
  std::shared_ptr<const BundleReader> bundle;
  Tensor read_stored(const Value& value) const;
  /// Reads a value of the checkpoint into the memory of a variable that has none yet; false: the
  /// value is another one, or does not fit.
  bool fill_stored(const Value& value, const Variable& variable) const;
  /// The value of a Const node, read once.
  Tensor constant(const NodeMessage& node, std::string_view tensor);
  /// A variable without a value yet. Throws DataLossError for one that is larger than what the
  /// checkpoint has for all of them.
  Variable declare(const std::string& name, DType dtype, const Shape& shape);
  /// What variables take together.
  uint64_t variable_bytes() const { return variable_bytes_; }
  /// The content of a file in the model's folder of assets, whatever folder the path says.
  std::shared_ptr<const MappedFile> read_asset(const std::string& path) const;
  std::string folder;  // of the model
  /// Prefix of the names of resources: the function that is being read.
  std::string_view current_function() const { return calls_.empty() ? "" : calls_.back(); }

  void evaluate(const NodeList& list, std::span<const int> nodes, Scope& scope);

 private:
  struct Parsed;
  const Parsed& parsed(std::string_view name) const;
  void link(NodeList& list, const std::map<std::string_view, int>* arguments) const;
  Edge edge_of(const NodeList& list, std::string_view reference, bool in_function,
               const std::map<std::string_view, int>* arguments) const;
  int output_offset(const NodeMessage& node, std::string_view output) const;
  Value value_of(const NodeList& list, const Edge& edge, const Scope& scope) const;
  Values make(const NodeList& list, int node, Scope& scope);

  GraphMessage graph_;
  const std::map<std::string_view, OpMessage>& ops_;
  mutable std::map<std::string_view, std::unique_ptr<Parsed>> functions_;
  std::unique_ptr<NodeList> nodes_;
  std::map<std::string, Value> resources_;
  std::unordered_map<const NodeMessage*, Tensor> constants_;
  std::vector<std::string_view> calls_;
  int depth_ = 0;  // of evaluations inside one another
  uint64_t num_made_ = 0, variable_bytes_ = 0;
};

}  // namespace tidemark::io::tensorflow
