#include "tidemark/io/graph_reader.h"

#include <tidemark/call.h>

#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/graph_format.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/specials.h"

namespace tidemark::io {

namespace {

using trace::GraphBuilder;

[[noreturn]] void malformed(std::string_view what) {
  fail<DataLossError>("the saved graph is damaged: ", what);
}

DType dtype_at(uint64_t number) {
  if (number == 0 || number >= kDTypeSlots || !kAny.contains(static_cast<DType>(number))) {
    malformed("it names a dtype that does not exist");
  }
  return static_cast<DType>(number);
}

graph::OutputInfo read_value(std::string_view bytes) {
  graph::OutputInfo out;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.number == kValueDType && field.is_varint()) out.dtype = dtype_at(field.value);
    if (field.number == kValueShape && (!field.is_bytes() || !take_shape(field.bytes, out.shape))) {
      malformed("a shape");
    }
  }
  if (!reader.ok() || out.dtype == DType::invalid) malformed("a value");
  return out;
}

Attr read_attr(std::string_view bytes) {
  WireReader reader(bytes);
  WireField field;
  if (!reader.next(field)) malformed("an attribute");
  if (field.is_varint()) {
    switch (field.number) {
      case kAttrNone:
        return Attr();
      case kAttrBool:
        return Attr(field.value != 0);
      case kAttrInt:
        return Attr(static_cast<int64_t>(field.value));
      case kAttrDType:
        return Attr(dtype_at(field.value));
      default:
        break;
    }
  } else if (field.is_bytes()) {
    std::string_view rest = field.bytes;
    double real = 0;
    if (field.number == kAttrString) return Attr(std::string(rest));
    if (field.number == kAttrReal && take_fixed(rest, real)) return Attr(real);
    if (field.number == kAttrInts && rest.size() % 8 == 0) {
      Ints values(rest.size() / 8);
      for (int64_t& value : values) take_fixed(rest, value);
      return Attr(std::move(values));
    }
  }
  malformed("an attribute");
}

struct NodeMessage {
  uint64_t kind = 0, variable = ~uint64_t{0}, count = 0, table = ~uint64_t{0};
  std::string_view op, label;
  std::vector<Attr> attrs;
  std::vector<uint64_t> inputs, before, sources;
  std::vector<bool> seeds;
  std::vector<graph::OutputInfo> outputs;
  std::vector<std::string_view> bodies;
};

void take_bytes_field(NodeMessage& out, const WireField& field) {
  switch (field.number) {
    case kNodeOp:
      out.op = field.bytes;
      break;
    case kNodeAttr:
      out.attrs.push_back(read_attr(field.bytes));
      break;
    case kNodeOutput:
      out.outputs.push_back(read_value(field.bytes));
      break;
    case kNodeBody:
      out.bodies.push_back(field.bytes);
      break;
    case kNodeLabel:
      out.label = field.bytes;
      break;
    default:
      malformed("an unknown field of a node");
  }
}

NodeMessage read_node(std::string_view bytes) {
  NodeMessage out;
  WireReader reader(bytes);
  for (WireField field; reader.next(field);) {
    if (field.is_bytes()) {
      take_bytes_field(out, field);
      continue;
    }
    switch (field.number) {
      case kNodeKind:
        out.kind = field.value;
        break;
      case kNodeInput:
        out.inputs.push_back(field.value);
        break;
      case kNodeBefore:
        out.before.push_back(field.value);
        break;
      case kNodeVariable:
        out.variable = field.value;
        break;
      case kNodeCount:
        out.count = field.value;
        break;
      case kNodeSource:
        out.sources.push_back(field.value);
        break;
      case kNodeSeed:
        out.seeds.push_back(field.value != 0);
        break;
      case kNodeTable:
        out.table = field.value;
        break;
      default:
        malformed("an unknown field of a node");
    }
  }
  if (!reader.ok() || out.kind >= kNodeKinds) malformed("a node");
  return out;
}

template <class T>
const T& at(const std::vector<T>& list, uint64_t index, std::string_view what) {
  if (index >= list.size()) malformed(message("it refers to a ", what, " that is not there"));
  return list[index];
}

class GraphReader {
 public:
  GraphReader(const GraphParts& parts, int depth) : parts_(parts), depth_(depth) {
    if (depth > kDeepestBody) malformed("branches and loops are nested too deeply");
  }

  ReadGraph read(std::string_view bytes) {
    std::string_view name = "function";
    WireReader names(bytes);
    for (WireField field; names.next(field);) {
      if (field.number == kGraphName && field.is_bytes()) name = field.bytes;
    }
    GraphBuilder builder{std::string(name)};
    builder_ = &builder;
    std::vector<Tensor> outputs;
    {
      const trace::TraceScope scope(builder);
      WireReader reader(bytes);
      for (WireField field; reader.next(field);) {
        if (field.number == kGraphInput && field.is_bytes()) add_input(read_value(field.bytes));
        if (field.number == kGraphNode && field.is_bytes()) add_node(read_node(field.bytes));
        if (field.number == kGraphOutput && field.is_varint()) {
          outputs.push_back(value(field.value));
        }
      }
      if (!reader.ok()) malformed("it is cut short");
    }
    return {builder.finish(outputs), builder.variables()};
  }

 private:
  void add_input(const graph::OutputInfo& info) {
    if (num_nodes_ > 0) malformed("inputs stand behind nodes");
    values_.push_back(builder_->add_input(info.dtype, info.shape));
  }

  Tensor value(uint64_t reference) const {
    return reference % 2 == 1 ? at(parts_.constants, reference / 2, "constant")
                              : at(values_, reference / 2, "value");
  }

  void add_node(const NodeMessage& node) {
    std::vector<Tensor> inputs;
    for (uint64_t reference : node.inputs) inputs.push_back(value(reference));
    std::vector<graph::NodeRef> before;
    for (uint64_t number : node.before) before.push_back(at(nodes_, number, "node"));
    builder_->set_before(std::move(before));
    builder_->set_next_label(std::string(node.label));
    std::vector<Tensor> outputs = add(node, inputs);
    builder_->set_next_label({});
    builder_->set_before({});
    if (outputs.size() != node.outputs.size()) malformed("a node has another number of outputs");
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (outputs[i].dtype() != node.outputs[i].dtype) malformed("a node has another dtype");
      trace::narrow(outputs[i], node.outputs[i].shape);
    }
    nodes_.push_back(!outputs.empty() && outputs[0].is_symbolic()
                         ? graph::NodeRef::share(&graph::node_of(outputs[0]))
                         : last_effect());
    values_.insert(values_.end(), outputs.begin(), outputs.end());
    ++num_nodes_;
  }

  /// The node just made, where it has no outputs.
  graph::NodeRef last_effect() const {
    const auto& effects = builder_->graph()->effects();
    return effects.empty() ? graph::NodeRef() : effects.back();
  }

  std::vector<Tensor> add(const NodeMessage& node, std::vector<Tensor>& inputs) {
    switch (static_cast<NodeKind>(node.kind)) {
      case NodeKind::op:
        return add_op(node, inputs);
      case NodeKind::constant:
        if (inputs.size() != 1) malformed("a constant without a value");
        return {builder_->constant(inputs[0])};
      case NodeKind::read_variable:
        return {builder_->read(at(parts_.variables, node.variable, "variable"))};
      case NodeKind::update_variable:
        return add_update(node, inputs);
      case NodeKind::cond:
        return add_cond(node, inputs);
      case NodeKind::loop:
        return add_loop(node, inputs);
      case NodeKind::pass:
        for (Tensor& t : inputs) t = call("identity", {t});
        return inputs;
      case NodeKind::gradient:
        return add_gradient(node, inputs);
    }
    malformed("a node");
  }

  /// Of the kinds that the op declares: nothing else looks.
  void check_attrs(const OpDef& op, std::span<const Attr> attrs) const {
    if (attrs.size() != op.attrs().size()) malformed("an op has another number of attributes");
    for (size_t i = 0; i < attrs.size(); ++i) {
      const Param& param = op.params()[static_cast<size_t>(op.attrs()[i])];
      const bool fits = attrs[i].is_none() ? param.optional : attrs[i].kind() == param.attr_kind;
      if (!fits) malformed("an attribute has another kind");
    }
  }

  std::vector<Tensor> add_op(const NodeMessage& node, std::span<const Tensor> inputs) const {
    const OpDef* op = OpRegistry::instance().find(node.op);
    if (!op) {
      fail<NotFoundError>("the saved graph calls the op '", node.op,
                          "', which this Tidemark does not have. Load the library that defines it");
    }
    std::vector<Attr> attrs = node.attrs;
    check_attrs(*op, attrs);
    if (const int table = op->attr_index("table"); table >= 0) {
      attrs[static_cast<size_t>(table)] = at(parts_.tables, node.table, "table")->number();
    }
    if (static_cast<size_t>(op->num_outputs(attrs)) != node.outputs.size()) {
      malformed("a node has another number of outputs");
    }
    return call_all(*op, inputs, attrs);
  }

  std::vector<Tensor> add_update(const NodeMessage& node, std::span<const Tensor> inputs) const {
    Variable variable = at(parts_.variables, node.variable, "variable");
    const bool is_assignment = node.op == graph::name_of_update(nullptr);
    const OpDef* op = is_assignment ? nullptr : OpRegistry::instance().find(node.op);
    const bool is_plain = is_assignment || node.op == "add" || node.op == "subtract";
    if (is_plain && inputs.size() != 1) malformed("an update of a variable");
    if (!is_plain) {
      if (!op || op->has_dtype_attrs()) malformed("an update of a variable");
      if (!node.attrs.empty()) check_attrs(*op, node.attrs);
    }
    variable.apply(op, inputs, node.attrs);
    return {};
  }

  trace::Body read_body(std::string_view bytes, std::span<const Tensor> inputs, size_t num_own) {
    trace::Body body;
    std::string_view inside;
    WireReader reader(bytes);
    for (WireField field; reader.next(field);) {
      if (field.number == kBodyGraph && field.is_bytes()) inside = field.bytes;
      if (field.number == kBodyCaptured && field.is_varint()) {
        if (field.value >= inputs.size()) malformed("a body captures what is not there");
        body.captured.push_back(static_cast<uint32_t>(field.value));
      }
    }
    if (!reader.ok()) malformed("a body");
    ReadGraph read = GraphReader(parts_, depth_ + 1).read(inside);
    const std::vector<Tensor>& wanted = read.graph->inputs();
    if (wanted.size() != num_own + body.captured.size()) malformed("a body has other inputs");
    for (size_t i = 0; i < body.captured.size(); ++i) {
      if (wanted[num_own + i].dtype() != inputs[body.captured[i]].dtype()) {
        malformed("a body captures another dtype");
      }
    }
    body.graph = std::move(read.graph);
    body.variables = std::move(read.variables);
    body.program = exec::Program::build(*body.graph);
    return body;
  }

  static void check_outputs(const trace::Body& body, std::span<const graph::OutputInfo> infos) {
    const std::vector<Tensor>& outputs = body.graph->outputs();
    if (outputs.size() != infos.size()) malformed("a body has other outputs");
    for (size_t i = 0; i < infos.size(); ++i) {
      if (outputs[i].dtype() != infos[i].dtype) malformed("a body gives another dtype");
    }
  }

  std::vector<Tensor> finish(const std::shared_ptr<const graph::Special>& special,
                             const NodeMessage& node, std::vector<Tensor>& inputs) const {
    std::vector<Tensor> outputs(node.outputs.size());
    builder_->handle_step(special, node.outputs, inputs, outputs);
    return outputs;
  }

  std::vector<Tensor> add_cond(const NodeMessage& node, std::vector<Tensor>& inputs) {
    if (node.bodies.empty() || inputs.empty()) malformed("a branch");
    if (!(kInts | kBool).contains(inputs[0].dtype())) malformed("a condition");
    std::vector<trace::Body> bodies;
    for (std::string_view bytes : node.bodies) {
      bodies.push_back(read_body(bytes, inputs, 0));
      check_outputs(bodies.back(), node.outputs);
    }
    return finish(std::make_shared<trace::Branch>(std::move(bodies)), node, inputs);
  }

  std::vector<Tensor> add_loop(const NodeMessage& node, std::vector<Tensor>& inputs) {
    const auto count = static_cast<size_t>(node.count);
    if (node.bodies.size() != 2 || inputs.size() <= count || node.outputs.size() != count) {
      malformed("a loop");
    }
    if (inputs[count].dtype() != DType::int64) malformed("a loop's number of rounds");
    trace::narrow(inputs[count], Shape{});
    trace::Body condition = read_body(node.bodies[0], inputs, count);
    trace::Body body = read_body(node.bodies[1], inputs, count);
    check_outputs(body, node.outputs);
    const std::vector<Tensor>& answer = condition.graph->outputs();
    if (answer.size() != 1 || !(kInts | kBool).contains(answer[0].dtype())) {
      malformed("a loop's condition");
    }
    for (size_t i = 0; i < count; ++i) {
      for (const trace::Body* part : {&condition, &body}) {
        const DType dtype = part->graph->inputs()[i].dtype();
        if (dtype != node.outputs[i].dtype || dtype != inputs[i].dtype()) {
          malformed("a loop's variable");
        }
      }
    }
    return finish(std::make_shared<trace::WhileLoop>(std::move(condition), std::move(body), count),
                  node, inputs);
  }

  std::vector<Tensor> add_gradient(const NodeMessage& node, std::vector<Tensor>& inputs) {
    graph::GradientQuestion question;
    size_t wanted = node.seeds.size();
    for (uint64_t source : node.sources) {
      question.sources.push_back(source ? at(parts_.variables, source - 1, "variable")
                                        : Variable());
      const size_t place = wanted - node.seeds.size();
      if (!source && place >= inputs.size()) malformed("a gradient");
      const DType dtype = source ? question.sources.back().dtype() : inputs[place].dtype();
      const size_t index = question.sources.size() - 1;
      if (index >= node.outputs.size() || node.outputs[index].dtype != dtype) {
        malformed("a gradient has another dtype");
      }
      wanted += source ? 0 : 1;
    }
    for (bool has_seed : node.seeds) wanted += has_seed ? 1 : 0;
    if (inputs.size() != wanted || node.outputs.size() != question.sources.size()) {
      malformed("a gradient");
    }
    question.has_seed = node.seeds;
    return finish(trace::gradient_at_run(std::move(question)), node, inputs);
  }

  const GraphParts& parts_;
  int depth_;
  GraphBuilder* builder_ = nullptr;
  std::vector<Tensor> values_;
  std::vector<graph::NodeRef> nodes_;
  size_t num_nodes_ = 0;
};

}  // namespace

ReadGraph read_graph(std::string_view bytes, const GraphParts& parts) {
  const NoHandlers outside;  // whatever is being built around this
  return GraphReader(parts, 0).read(bytes);
}

}  // namespace tidemark::io
