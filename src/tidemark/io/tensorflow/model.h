// Model: a folder that TensorFlow saved, one of its meta graphs, ready to be asked for functions.
//
//   Model model("/models/digits/1", {});           // the one with the tag "serve", or the only one
//   for (const auto& s : model.signatures()) model.read_signature(s.name);
//   model.restore();                                // variables and tables get their values
#pragma once

#include <tidemark/saved_model.h>

#include "tidemark/graph/graph.h"
#include "tidemark/io/tensorflow/importer.h"
#include "tidemark/io/tensorflow/objects.h"

namespace tidemark::io::tensorflow {

inline constexpr std::string_view kModelFile = "saved_model.pb";

/// Nothing the files say is believed. Throws NotFoundError where there is none, DataLossError where
/// one is damaged, UnimplementedError for what TensorFlow has and Tidemark has not. One thread.
class TIDEMARK_API Model {
 public:
  /// `tags`: those that the meta graph has, all of them and no others; none: it has "serve", or is
  /// the only one.
  Model(const std::string& folder, const std::vector<std::string>& tags);
  Model(const Model&) = delete;

  struct Function {
    std::shared_ptr<graph::Graph> graph;
    std::vector<Variable> variables;
  };
  const std::vector<SignatureMessage>& signatures() const { return signatures_; }
  const MetaGraphMessage& meta_graph() const { return meta_graph_; }
  Importer& importer() { return *importer_; }
  const ObjectGraph& objects() const { return objects_; }
  /// Lists all that signatures need and Tidemark lacks.
  void check_signatures() const;
  /// As a graph of its inputs and outputs, by name.
  Function read_signature(const SignatureMessage& signature);
  /// Reads the variables and fills the tables of the graph.
  void restore();
  std::vector<std::shared_ptr<HashTable>> tables() const;
  std::vector<Variable> variables() const;

  /// A function of the object graph, given the values of objects by number.
  Function read_function(const std::string& name, const std::map<int, Value>& bound);
  /// Runs it now, for what it leaves behind and gives.
  Values run_function(const std::string& name, const std::map<int, Value>& bound);
  /// The path of an asset, or the value of a constant of the graph.
  Tensor read_constant(std::string_view node);
  Tensor asset_path(size_t index) const;

 private:
  void choose(const std::vector<std::string>& tags);
  Values bound_of(const std::string& name, const std::map<int, Value>& bound) const;
  std::vector<std::pair<std::string_view, Value>> fed_assets() const;

  std::string folder_, bytes_;
  MetaGraphMessage meta_graph_;
  std::vector<SignatureMessage> signatures_;  // without those that say how to start
  std::vector<std::string_view> starts_;      // nodes that run when the model is loaded
  ObjectGraph objects_;
  std::unique_ptr<Importer> importer_;
};

/// Bytes that the values of a model take, by its files, without reading it.
TIDEMARK_API uint64_t stored_bytes(const std::string& folder);

}  // namespace tidemark::io::tensorflow
