// Whole graphs and models of ours as TensorFlow's messages.
//
//   const std::string bytes = graph_def_of(graph);           // a GraphDef
//   const ModelMessage model({{"serving_default", graph, {"x"}, {"y"}}});
//   if (model.missing().empty()) model.write("models/digits/1");
#pragma once

#include <tidemark/variable.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/graph/graph.h"

namespace tidemark::io::tensorflow {

/// The live operations of a graph that sessions run.
TIDEMARK_API std::string graph_def_of(const graph::Graph& graph);
/// A GraphDef as the text that protocol buffers have for people.
TIDEMARK_API std::string graph_def_text(std::string_view bytes);

struct WrittenSignature {
  std::string name;
  std::shared_ptr<const graph::Graph> graph;
  std::vector<std::string> inputs, outputs;  // in the graph's order
};

/// A SavedModel on its way. Values of variables are written as they are when it is saved.
class TIDEMARK_API ModelMessage {
 public:
  /// `variables`: of all graphs.
  ModelMessage(const std::vector<WrittenSignature>& signatures,
               const std::vector<Variable>& variables);

  /// What TensorFlow has no form for, and the line that was seen first. Such a model is not
  /// written.
  const std::map<std::string, std::string>& missing() const { return missing_; }
  /// A folder that is there as a whole or not at all.
  void write(const std::string& folder) const;

 private:
  std::string bytes_;
  std::vector<Variable> variables_;
  std::map<std::string, std::string> missing_;
};

}  // namespace tidemark::io::tensorflow
