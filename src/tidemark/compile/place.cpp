// Where every value of a graph lies, and the copies between devices.
#include <map>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/graph/specials.h"
#include "tidemark/ops/op_device.h"
#include "tidemark/tensor/kept_for_runs.h"

namespace tidemark::compile {

namespace {

class Placer {
 public:
  Placer(const graph::Graph& graph, Device usual) : graph_(graph), usual_(usual), now_(graph) {}

  std::shared_ptr<graph::Graph> run() {
    for (const graph::Node* node : graph_.nodes()) {
      if (graph::is_placeholder(*node)) continue;
      if (node->op) {
        place_op(*node);
      } else {
        place_special(*node);
      }
    }
    return now_.finish();
  }

 private:
  void place_op(const graph::Node& node) {
    std::vector<Tensor> inputs = now_.at(node.inputs);
    const OpDevice place(*node.op, inputs, node.wish.value_or(usual_));
    const Device device = place.device().is_cpu() ? Device() : settle(place, node, inputs);
    // A kernel that looks at shapes alone takes its inputs as they lie.
    if (!node.op->is_about_shape()) {
      for (size_t i = 0; i < inputs.size(); ++i) {
        inputs[i] = moved(inputs[i], place.wants(i, device), node);
      }
    }
    copy(node, std::move(inputs), device);
  }

  /// Where only the run can tell a shape, it may find that the op belongs elsewhere after all: its
  /// results are brought to where the plan has them.
  static Device settle(const OpDevice& place, const graph::Node& node,
                       std::span<const Tensor> inputs) {
    InferContext said({*node.op, inputs, node.attrs}, static_cast<int>(node.outputs.size()));
    try {
      node.op->shape_rule()(said);
    } catch (const Error&) {
      return place.device();
    }
    for (int i = 0; i < said.num_outputs(); ++i) {
      if (!said.output(i).shape.is_fully_known()) return place.device();
    }
    return place.settle(inputs, said).device;
  }

  void place_special(const graph::Node& node) {
    std::vector<Tensor> inputs = now_.at(node.inputs);
    if (graph::is_constant(node)) {
      const Device device = inputs[0].device();
      return copy(node, std::move(inputs), device);
    }
    if (const Variable* shown = graph::shown_variable(node)) {
      return copy(node, std::move(inputs), graph::device_of(*shown));
    }
    if (const graph::VariableUpdate* update = graph::update_of(node)) {
      return copy_on(node, std::move(inputs), graph::device_of(update->variable));
    }
    if (node.special->computes()) return copy_on(node, std::move(inputs), Device());
    const std::vector<graph::InnerGraph> inner = node.special->inner_graphs();
    if (!inner.empty() && inner[0].role == graph::InnerGraph::Role::choice) {
      inputs[0] = moved(inputs[0], Device(), node);  // the host chooses
    }
    const std::vector<Device> outputs = outputs_of(node, inputs);
    const graph::NodeRef placed = now_.copy_over(node, std::move(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) placed->outputs[i].device = outputs[i];
  }

  /// Where a step that runs by calls leaves its results; none: on the host.
  std::vector<Device> outputs_of(const graph::Node& node, std::span<const Tensor> inputs) const {
    const PlacementScope scope(node.wish.value_or(usual_));
    const graph::InnerNeed need = node.special->inner_need(inputs);
    return need.outputs.size() == node.outputs.size() ? need.outputs : std::vector<Device>();
  }

  void copy(const graph::Node& node, std::vector<Tensor> inputs, Device device) {
    const graph::NodeRef placed = now_.copy_over(node, std::move(inputs));
    for (graph::OutputInfo& output : placed->outputs) output.device = device;
    // What runs by calls follows the plan, too.
    if (node.op || graph::update_of(node)) placed->wish = device;
  }

  void copy_on(const graph::Node& node, std::vector<Tensor> inputs, Device device) {
    for (Tensor& t : inputs) t = moved(t, device, node);
    copy(node, std::move(inputs), device);
  }

  static std::shared_ptr<const graph::CopyToDevice> reader_copy(Device to,
                                                                const graph::Node& user) {
    return std::make_shared<const graph::CopyToDevice>(
        to, user.op ? user.op->name() : std::string(user.special->name()));
  }

  /// The tensor on the device: itself, or a copy that all who need it there share. Constants are
  /// copied now, once.
  Tensor moved(const Tensor& t, Device to, const graph::Node& user) {
    if (t.device() == to || t.dtype() == DType::string) return t;
    if (!t.device().is_cpu() && !to.is_cpu()) return moved(moved(t, Device(), user), to, user);
    if (const Tensor value = constant_value(t)) {
      Tensor& copy = constants_[{value.impl(), to.number()}];
      if (!copy) copy = kept_for_runs(value.to(to));
      kept_.push_back(value);
      return copy;
    }
    Tensor& copy = copies_[{&graph::node_of(t), graph::symbolic(t).index, to.number()}];
    if (!copy) {
      const graph::NodeRef node =
          now_.add(reader_copy(to, user), {t}, {{t.dtype(), t.shape(), 0, to}}, user);
      copy = graph::output_of(*node, 0);
    }
    return copy;
  }

  const graph::Graph& graph_;
  const Device usual_;
  Rewriter now_;
  std::map<std::tuple<const graph::Node*, uint32_t, uint8_t>, Tensor> copies_;
  std::map<std::pair<const detail::TensorImpl*, uint8_t>, Tensor> constants_;
  std::vector<Tensor> kept_;  // so that no other constant gets the address of one that was copied
};

}  // namespace

std::shared_ptr<graph::Graph> place(const std::shared_ptr<graph::Graph>& graph, Device usual) {
  return Placer(*graph, usual).run();
}

}  // namespace tidemark::compile
