// Graphs and sessions, as TensorFlow 1 had them: built first, run in parts later.
//
//   td::Graph graph;
//   td::Tensor x, y;
//   {
//     td::GraphScope building(graph);                        // ops become nodes of the graph
//     x = td::placeholder(td::DType::float32, {-1, 3}, "x");
//     y = td::reduce_sum(td::square(x), td::Ints{1});
//   }
//   td::Session session(graph);
//   td::Tensor value = session.run({y}, {{x, td::ones({2, 3})}})[0];
//
// A frozen GraphDef of TensorFlow is computed at once, or imported into the graph that is built:
//
//   std::vector<td::Tensor> found = td::import_graph_def(
//       bytes, {.input_map = {{"x:0", td::ones({2, 3})}}, .return_elements = {"y:0"}});
//
// `graph.as_graph_def()` gives those bytes of a graph; `td::io::write_graph` writes them to a file.
#pragma once

#include <tidemark/tensor.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tidemark {

/// Goes on growing; sessions run parts of it. A handle: copies are the same graph.
class TIDEMARK_API Graph {
 public:
  explicit Graph(std::string name = "graph");
  /// From now on adding to it throws.
  void finalize() const;
  /// A serialized GraphDef of its live operations. What TensorFlow has no operation for is written
  /// under a name of Tidemark's own.
  std::string as_graph_def() const;
  struct State;

 private:
  friend class GraphScope;
  friend class Session;
  std::shared_ptr<State> state_;
};

/// Ops of this thread become nodes of the graph until the end of the scope.
class TIDEMARK_API GraphScope {
 public:
  explicit GraphScope(const Graph& graph);
  ~GraphScope();
  GraphScope(const GraphScope&) = delete;
  GraphScope& operator=(const GraphScope&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A node that has to be fed; sizes may be unknown. Throws FailedPreconditionError outside of a
/// GraphScope.
TIDEMARK_API Tensor placeholder(DType dtype, const Shape& shape, const std::string& name = "");

/// A variable of a graph: each session has a value of its own, once it has run the initializer.
/// Made inside of a GraphScope, which its updates need as well.
class TIDEMARK_API GraphVariable {
 public:
  /// `initial` may be computed in the graph.
  explicit GraphVariable(const Tensor& initial, const std::string& name = "variable",
                         bool trainable = true);
  /// Fetch it to give the session's variable its initial value.
  const Tensor& initializer() const { return initializer_; }
  /// Reads it when it runs. Tapes see it: gradients by the variable are those by this tensor.
  const Tensor& value() const { return value_; }
  operator Tensor() const { return value_; }
  /// The value after the update, which is done when this is fetched.
  Tensor assign(const Tensor& value) const;
  Tensor assign_add(const Tensor& delta) const;
  Tensor assign_sub(const Tensor& delta) const;

 private:
  struct State;
  Tensor update(const char* op, const Tensor& by) const;

  std::shared_ptr<const State> state_;
  Tensor initializer_, value_;
};

struct SessionOptions {
  int64_t memory_limit = 0;  // bytes that runs and variables may hold; 0: as many as the process
};

/// Runs parts of a graph. Any number of threads at once; copies are the same session.
class TIDEMARK_API Session {
 public:
  explicit Session(const Graph& graph, SessionOptions options = {});
  /// What the fetches are, given that `feeds` stand for tensors of the graph. Throws
  /// InvalidArgumentError for a placeholder that is needed and not fed, and for tensors of another
  /// dtype or shape.
  std::vector<Tensor> run(const std::vector<Tensor>& fetches,
                          const std::vector<std::pair<Tensor, Tensor>>& feeds = {}) const;
  /// Gives up variables and plans; later runs throw.
  void close() const;
  struct State;

 private:
  std::shared_ptr<State> state_;
};

struct ImportOptions {
  std::map<std::string, Tensor> input_map = {};  // "x:0": what stands for it
  std::vector<std::string> return_elements = {};
};

/// The tensors of a serialized GraphDef that are asked for, made of ops of ours. Throws
/// UnimplementedError that lists the ops it needs and Tidemark lacks, and an error of
/// Code::data_loss for bytes that are no GraphDef.
TIDEMARK_API std::vector<Tensor> import_graph_def(std::string_view bytes,
                                                  const ImportOptions& options);

}  // namespace tidemark
