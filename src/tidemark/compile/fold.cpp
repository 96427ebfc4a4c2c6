#include <tidemark/call.h>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/graph/call_special.h"
#include "tidemark/graph/specials.h"

namespace tidemark::compile {

namespace {

/// What one result and all results together may take: a graph keeps them for as long as it lives.
constexpr int64_t kMostBytes = 64 << 10;
constexpr int64_t kMostBytesTogether = 1 << 20;
/// Above this, what is much larger than what it is made of (a fill, a range) is cheaper to make
/// than to keep, and may never be made where it is fused.
constexpr int64_t kFewBytes = 1024;

int64_t bytes_of(const graph::Node& node) {
  int64_t bytes = 0;
  for (const graph::OutputInfo& out : node.outputs) {
    if (!out.shape.is_fully_known() || out.dtype == DType::string) return kMostBytes + 1;
    const int64_t count = out.shape.num_elements();
    if (count > kMostBytes) return kMostBytes + 1;
    bytes += count * static_cast<int64_t>(size_of(out.dtype));
  }
  return bytes;
}

int64_t bytes_of_inputs(const graph::Node& node) {
  int64_t bytes = 0;
  for (const Tensor& t : node.inputs) bytes += static_cast<int64_t>(t.nbytes());
  return bytes;
}

class Folder {
 public:
  explicit Folder(const graph::Graph& graph) : now_(graph) {}

  /// Whether elements stand for all its outputs now.
  bool fold(const graph::Node& node) {
    if (graph::is_constant(node)) {
      now_.set(node, 0, node.inputs[0]);
      return true;
    }
    if (!node.op || node.op->is_stateful() || !node.before.empty()) return false;
    const int64_t bytes = bytes_of(node);
    if (bytes > kMostBytes || bytes + spent_ > kMostBytesTogether) return false;
    if (bytes > kFewBytes && bytes > 2 * bytes_of_inputs(node)) return false;
    const std::vector<Tensor> values = computed(node);
    for (uint32_t i = 0; i < values.size(); ++i) now_.set(node, i, values[i]);
    if (!values.empty()) spent_ += bytes;
    return !values.empty();
  }

  Rewriter& rewriter() { return now_; }

 private:
  std::vector<Tensor> computed(const graph::Node& node) {
    std::vector<Tensor> inputs;
    for (const Tensor& t : node.inputs) {
      const bool shape_is_enough = node.op->is_about_shape() && t.shape().is_fully_known();
      Tensor value = shape_is_enough ? t : constant_value(now_.at(t));
      if (!value) return {};
      inputs.push_back(std::move(value));
    }
    const NoHandlers now;
    try {
      return call_all(*node.op, inputs, node.attrs);
    } catch (const Error&) {
      return {};  // the run itself will say what is wrong
    }
  }

  Rewriter now_;
  int64_t spent_ = 0;
};

}  // namespace

std::shared_ptr<graph::Graph> fold(const std::shared_ptr<graph::Graph>& graph) {
  Folder folder(*graph);
  bool changed = false;
  for (const graph::Node* node : graph->nodes()) {
    if (graph::is_placeholder(*node)) continue;
    if (folder.fold(*node)) {
      changed = true;
    } else {
      folder.rewriter().copy(*node);
    }
  }
  return changed ? folder.rewriter().finish() : graph;
}

}  // namespace tidemark::compile
