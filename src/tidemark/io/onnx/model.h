// LoadedModel: an ONNX model as an ordinary function: traced, planned, bounded, differentiable.
//
//   LoadedModel model("net.onnx", {});
//   Values outputs = model.call({Value(x)});
#pragma once

#include <tidemark/function.h>

#include <atomic>
#include <list>

#include "tidemark/io/onnx/call.h"
#include "tidemark/io/onnx/file.h"

namespace tidemark::io::onnx {

/// One input or output.
struct Port {
  std::string name;
  Type type;
  bool has_default = false;  // an input whose value is in the file unless given
};

/// How the calls so far had to be run, from the best on.
enum class Road : uint8_t {
  traced,           // one graph for all values
  traced_by_value,  // a graph for each set of values of integer inputs that it needs to know
  node_by_node,     // what a node does depends on values that others compute
};

class TIDEMARK_API LoadedModel {
 public:
  LoadedModel(const std::string& path, const FileOptions& options);
  ~LoadedModel();

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  const std::vector<Variable>& variables() const { return file_.variables(); }
  /// Before the first call.
  void bind(std::vector<Variable> variables) { file_.bind(std::move(variables)); }
  size_t weight_bytes() const { return file_.weight_bytes(); }
  Road road() const { return road_; }
  /// "ONNX" or "TFLite".
  std::string_view format() const { return file_.model().format; }

  /// One value an input; of kind none: not given. Any number of threads.
  Values call(std::span<const Value> inputs);
  /// What a call needs, where it is traced. Throws UnimplementedError for one run node by node.
  PlanReport plan(std::span<const Value> inputs);
  TracedGraph graph(std::span<const Value> inputs);
  std::vector<TraceInfo> traces() const;

 private:
  struct ByValue;
  void check(std::span<const Value> inputs) const;
  Values run_now(std::span<const Value> inputs);
  Values run_traced(std::span<const Value> inputs);
  std::shared_ptr<ByValue> traces_for(std::span<const Value> inputs);
  /// The road that leads through for these inputs, taken as far as to a graph.
  template <class Use>
  auto with_traces(std::span<const Value> inputs, const Use& use);

  File file_;
  std::vector<Port> inputs_, outputs_;
  std::atomic<Road> road_{Road::traced};
  mutable std::mutex mutex_;
  std::list<std::shared_ptr<ByValue>> by_value_;  // the one used last is first
};

}  // namespace tidemark::io::onnx
