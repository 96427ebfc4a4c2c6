// Graphs for the tests of passes.
#pragma once

#include <tidemark/op.h>

#include "tidemark/graph/graph.h"

namespace tidemark::compile {

/// Builds nodes as a trace would, without one.
class Sketch {
 public:
  Tensor input(const Shape& shape, DType dtype = DType::float32) {
    return graph_->add_input(dtype, shape);
  }
  Tensor call(const char* name, std::vector<Tensor> inputs, std::vector<Attr> attrs = {}) {
    const OpDef& op = OpRegistry::instance().get(name);
    for (size_t i = attrs.size(); i < op.attrs().size(); ++i) {
      attrs.push_back(op.params()[static_cast<size_t>(op.attrs()[i])].fallback);
    }
    const OpCall call{op, inputs, attrs};
    InferContext said(call, op.num_outputs(attrs));
    op.shape_rule()(said);
    const graph::NodeRef node = graph_->new_node();
    node->op = &op;
    for (int i = 0; i < said.num_outputs(); ++i) {
      node->outputs.push_back({said.output(i).dtype, said.output(i).shape});
    }
    node->inputs = std::move(inputs);
    node->attrs = std::move(attrs);
    if (op.is_stateful()) graph_->keep(node);
    return graph::output_of(*node, 0);
  }
  std::shared_ptr<graph::Graph> finish(std::vector<Tensor> outputs) {
    graph_->set_outputs(std::move(outputs));
    return graph_;
  }

 private:
  std::shared_ptr<graph::Graph> graph_ = graph::Graph::create("sketch");
};

inline size_t num_ops(const graph::Graph& graph) {
  size_t count = 0;
  for (const graph::Node* node : graph.nodes()) count += node->op != nullptr;
  return count;
}

}  // namespace tidemark::compile
