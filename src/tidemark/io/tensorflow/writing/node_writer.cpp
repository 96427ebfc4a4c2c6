#include "tidemark/io/tensorflow/writing/node_writer.h"

#include <tidemark/call.h>
#include <tidemark/create.h>

#include <algorithm>

#include "tidemark/graph/specials.h"
#include "tidemark/session/session.h"
#include "tidemark/trace/builder.h"

namespace tidemark::io::tensorflow {

namespace {

using graph::Node;

/// The name, or with a number behind it where it is taken.
std::string made_fresh(std::set<std::string>& taken, const std::string& name) {
  std::string made = name;
  for (int count = 1; !taken.insert(made).second; ++count) made = message(name, "_", count);
  return made;
}

/// Whether what the definition says holds for this node's attributes.
bool rule_applies(const Node& node) {
  const std::string_view op = node.op->name();
  const auto attr = [&](std::string_view name) -> const Attr& { return attr_of_node(node, name); };
  if (op == "softmax" || op == "log_softmax") {
    const Attr& axis = attr("axis");
    const Shape& shape = node.outputs[0].shape;
    return axis.is_none() || axis.as_int() == -1 ||
           (shape.has_rank() && axis.as_int() + 1 == shape.rank());
  }
  if (op == "zeros_like" || op == "ones_like") {
    return attr("dtype").is_none() || attr("dtype").as_dtype() == node.inputs[0].dtype();
  }
  if (op == "gather_nd") return attr("batch_dims").as_int() == 0;
  if (op == "transpose") return !attr("conjugate").as_bool();
  if (op == "concat") return node.inputs.size() > 1;  // theirs joins two or more
  if (op == "abs") return !is_complex(node.inputs[0].dtype());
  return true;
}

/// A constant, or what is computed, for an attribute of ours that is an input there.
std::string attr_as_input(NodeWriter& writer, const Node& node, const std::string& name,
                          const std::string& label) {
  const Attr& value = attr_of_node(node, name);
  const bool keeps = node.op->attr_index("keepdims") >= 0;
  const std::string own = label + "/" +
                          (name != "axis" ? name
                           : keeps        ? "reduction_indices"
                                          : name);
  if (!value.is_none()) {
    return writer.constant(own, value.kind() == AttrKind::ints
                                    ? int32_vector(value.as_ints())
                                    : Tensor(static_cast<int32_t>(value.as_int())));
  }
  const Shape& shape = node.inputs[0].shape();
  if (keeps && !shape.has_rank()) {  // over all axes
    const std::string rank =
        writer.add(writer.fresh(own + "/Rank"), "Rank", {writer.given(node.inputs[0], own)});
    const Given start(writer.constant(own + "/start", Tensor(0)), DType::int32);
    const Given delta(writer.constant(own + "/delta", Tensor(1)), DType::int32);
    return writer.add(writer.fresh(own), "Range", {start, {rank, DType::int32}, delta});
  }
  if (keeps || name == "perm") {
    Ints axes;
    for (int i = 0; i < shape.rank(); ++i) axes.push_back(keeps ? i : shape.rank() - 1 - i);
    return writer.constant(own, int32_vector(axes));
  }
  const int batch = node.op->attr_index("batch_dims");
  const int64_t axis = batch >= 0 ? node.attrs[static_cast<size_t>(batch)].as_int() : 0;
  return writer.constant(own, Tensor(static_cast<int32_t>(axis)));
}

/// Nothing: theirs has the default.
std::optional<WrittenAttr> attr_as_attr(const Node& node, const std::string& ours,
                                        std::string_view kind) {
  const Attr& value = attr_of_node(node, ours);
  if (!value.is_none()) return attr_of(kind, value);
  if (ours == "axis" && node.op->name() == "one_hot") return int_attr(-1);
  if (ours == "num") return int_attr(static_cast<int64_t>(node.outputs.size()));
  if (kind == "list(int)") return ints_attr({});
  return {};
}

}  // namespace

std::optional<VariableUse> use_of(const Node& node) {
  const auto of = [](const Variable& v) {
    return NamedVariable{v.id(), v.name(), v.dtype(), v.shape()};
  };
  if (const Variable* shown = graph::shown_variable(node)) return VariableUse{of(*shown)};
  if (const graph::VariableUpdate* update = graph::update_of(node)) {
    return VariableUse{of(update->variable), VariableUse::Kind::update, update->op};
  }
  const session::VariableUse use = session::variable_use(node.special.get());
  if (!use.variable) return {};
  const session::GraphVariable& v = *use.variable;
  return VariableUse{
      {v.id, v.name, v.dtype, v.shape}, static_cast<VariableUse::Kind>(use.kind), use.op};
}

std::vector<NamedVariable> variables_of(const graph::Graph& graph) {
  std::vector<NamedVariable> out;
  const auto note = [&](const NamedVariable& variable) {
    for (const NamedVariable& known : out) {
      if (known.id == variable.id) return;
    }
    out.push_back(variable);
  };
  for (const Node* node : graph.nodes()) {
    if (const auto use = use_of(*node)) note(use->variable);
    if (!node->special) continue;
    for (const graph::InnerGraph& inner : node->special->inner_graphs()) {
      for (const NamedVariable& variable : variables_of(*inner.graph)) note(variable);
    }
  }
  return out;
}

bool is_stateful(const Node& node) {
  const auto inner = node.special ? node.special->inner_graphs() : std::vector<graph::InnerGraph>{};
  if (inner.empty()) return !graph::effects_of(node).is_pure();
  for (const graph::InnerGraph& one : inner) {
    for (const Node* inside : one.graph->nodes()) {
      if (is_stateful(*inside)) return true;
    }
  }
  return false;
}

std::string Library::fresh(const std::string& name) { return made_fresh(names_, name); }

std::string NodeWriter::fresh(const std::string& name) { return made_fresh(names_, name); }

std::string NodeWriter::add(std::string name, std::string_view op, const std::vector<Given>& inputs,
                            GivenAttrs attrs, const Names& control) {
  library.used_ops.emplace(op);
  WrittenNode node{std::move(name), std::string(op), {}, std::move(attrs)};
  for (const Given& one : inputs) {
    node.inputs.insert(node.inputs.end(), one.references.begin(), one.references.end());
  }
  for (const std::string& before : control) node.inputs.push_back("^" + before);
  if (const OpForm* form = library.ops.find(op)) {
    const auto fill = [&](std::string_view attr, WrittenAttr value) {
      node.attrs.emplace(std::string(attr), std::move(value));  // what is said already stays
    };
    for (size_t i = 0; i < inputs.size() && i < form->inputs.size(); ++i) {
      const OpArgument& argument = form->inputs[i];
      const std::vector<DType>& dtypes = inputs[i].dtypes;
      if (!argument.number.empty()) {
        fill(argument.number, int_attr(static_cast<int64_t>(dtypes.size())));
      }
      if (argument.is_list) {
        fill(argument.kind, types_attr(dtypes));
      } else if (form->find(argument.kind) && !dtypes.empty()) {
        fill(argument.kind, type_attr(dtypes[0]));
      }
    }
    for (const OpAttribute& attr : form->attrs) {
      if (attr.fallback) fill(attr.name, attr_of_text(attr.kind, *attr.fallback));
    }
  }
  nodes_.push_back(std::move(node));
  return nodes_.back().name;
}

std::string NodeWriter::constant(const std::string& name, const Tensor& value) {
  return add(fresh(name), "Const", {},
             {{"dtype", type_attr(value.dtype())}, {"value", tensor_attr(value)}});
}

std::string NodeWriter::reference(const Tensor& t, const std::string& name) {
  if (!t.is_symbolic()) return constant(name, t);
  return references_.at({&graph::node_of(t), graph::symbolic(t).index});
}

void NodeWriter::give(const Node& node, uint32_t output, std::string reference) {
  references_[{&node, output}] = std::move(reference);
}

bool NodeWriter::give_all(const Node& node, const std::string& name) {
  for (uint32_t i = 0; i < node.outputs.size(); ++i) {
    give(node, i, i == 0 ? name : message(name, ":", i));
  }
  return true;
}

std::string NodeWriter::handle_of(const NamedVariable& variable) {
  const auto known = handles_.find(variable.id);
  if (known != handles_.end()) return known->second;
  return handles_[variable.id] = declare(variable);
}

std::string NodeWriter::declare(const NamedVariable& variable) {
  return add(fresh(variable.name), "VarHandleOp", {},
             {{"dtype", type_attr(variable.dtype)},
              {"shape", shape_attr(variable.shape)},
              {"shared_name", text_attr(variable.name)}});
}

std::string NodeWriter::label_of(const Node& node) {
  if (!node.label.empty()) {
    // The reading that has its variable's name leaves it to the variable.
    const auto use = use_of(node);
    const bool is_handle =
        use && use->kind == VariableUse::Kind::read && use->variable.name == node.label;
    const std::string label = prefix_ + node.label;
    return is_handle || reserved_.erase(label) > 0 ? label : fresh(label);
  }
  const ForeignOp* foreign = node.op ? node.op->foreign(Vocabulary::tensorflow) : nullptr;
  return fresh(prefix_ + (foreign ? foreign->label : std::string(graph::kind_of(node))));
}

void NodeWriter::write(const Node& node, std::span<const Node* const> after) {
  const std::string label = label_of(node);
  const size_t first = nodes_.size();
  Names waiting;
  const auto wait_for = [&](const Node& earlier) {
    const auto made = made_by_.find(&earlier);
    if (made == made_by_.end()) return;
    std::string name = "^" + made->second;
    if (std::find(waiting.begin(), waiting.end(), name) == waiting.end()) {
      waiting.push_back(std::move(name));
    }
  };
  for (const graph::NodeRef& before : node.before) wait_for(*before);
  for (const Node* earlier : after) wait_for(*earlier);
  const WriteNode writer = find_writer(node);
  bool is_written = writer && writer(*this, node, label);
  if (!is_written && node.op) {
    const ForeignOp* rule = writer ? nullptr : node.op->foreign(Vocabulary::tensorflow);
    is_written = (rule && rule_applies(node) && write_by_rule(node, label, *rule)) ||
                 write_composed(node, label);
  }
  if (!is_written) write_foreign(node, label);
  for (size_t i = first; i < nodes_.size() && !waiting.empty(); ++i) {
    // What computes in between waits with what it reads.
    if (nodes_[i].name != label && nodes_[i].op != "ReadVariableOp") continue;
    nodes_[i].inputs.insert(nodes_[i].inputs.end(), waiting.begin(), waiting.end());
  }
  if (made_by_.contains(&node)) return;
  const auto made = references_.find({&node, 0});
  const std::string& reference = made == references_.end() ? label : made->second;
  made_by_.emplace(&node, reference.substr(0, reference.find(':')));
}

void NodeWriter::write_all(const graph::Graph& graph) {
  graph::EffectOrder order;
  std::vector<const Node*> in_order;
  for (const Node* node : graph.nodes()) {
    std::vector<const Node*> after;
    for (const int earlier : order.add(static_cast<int>(in_order.size()), effects_of(*node))) {
      after.push_back(in_order[static_cast<size_t>(earlier)]);
    }
    in_order.push_back(node);
    if (!is_known(*node)) write(*node, after);
  }
}

bool NodeWriter::write_by_rule(const Node& node, const std::string& label, const ForeignOp& rule) {
  const OpForm* form = library.ops.find(rule.name);
  if (!form || form->inputs.size() != rule.inputs.size()) return false;
  std::vector<Given> inputs;
  for (size_t i = 0; i < rule.inputs.size(); ++i) {
    const std::string& ours = rule.inputs[i];
    const std::string name = message(label, "/", form->inputs[i].name);
    if (node.op->attr_index(ours) >= 0) {
      inputs.emplace_back(attr_as_input(*this, node, ours, label), DType::int32);
      continue;
    }
    Given one(Names{}, std::vector<DType>{});
    for (size_t at = 0; at < node.inputs.size(); ++at) {
      if (node.op->input_param(static_cast<int>(at)).name != ours) continue;
      one.references.push_back(reference(node.inputs[at], name));
      one.dtypes.push_back(node.inputs[at].dtype());
    }
    inputs.push_back(std::move(one));
  }
  GivenAttrs attrs;
  for (const auto& [theirs, ours] : rule.attrs) {
    const OpAttribute* attr = form->find(theirs);
    if (!attr) return false;
    if (auto value = attr_as_attr(node, ours, attr->kind)) attrs[theirs] = std::move(*value);
  }
  for (size_t i = 0; i < form->outputs.size() && i < node.outputs.size(); ++i) {
    const OpArgument& output = form->outputs[i];
    if (output.is_list || !form->find(output.kind)) continue;
    attrs.emplace(std::string(output.kind), type_attr(node.outputs[i].dtype));
  }
  add(label, rule.name, inputs, std::move(attrs));
  return give_all(node, label);
}

bool NodeWriter::write_composed(const Node& node, const std::string& label) {
  if (const WriteNode compose = find_composed(node.op->name())) return compose(*this, node, label);
  const Expansion make = find_expansion(node.op->name());
  return make && write_expanded(node, label, make);
}

bool NodeWriter::write_expanded(const Node& node, const std::string& label, Expansion make) {
  trace::GraphBuilder builder("expanded");
  std::vector<Tensor> inputs, outputs;
  for (const Tensor& t : node.inputs) inputs.push_back(builder.add_input(t.dtype(), t.shape()));
  {
    const trace::TraceScope scope(builder);
    outputs = make(node, inputs);
  }
  if (outputs.empty()) return false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Node& input = graph::node_of(inputs[i]);
    const std::string name = reference(node.inputs[i], message(label, "/input_", i));
    give(input, 0, name);
    made_by(input, name.substr(0, name.find(':')));
  }
  held_.push_back(builder.finish(outputs));
  const graph::Graph& graph = *held_.back();
  const std::string around = std::exchange(prefix_, label + "/");
  for (const Node* inside : graph.nodes()) {
    if (!is_known(*inside)) write(*inside);
  }
  // The first output is found under the node's own name.
  const Tensor& first = graph.outputs()[0];
  add(label, "Identity", {given(first, "first")});
  give(node, 0, label);
  for (uint32_t i = 1; i < graph.outputs().size(); ++i) {
    give(node, i, reference(graph.outputs()[i], "output"));
  }
  prefix_ = around;
  return true;
}

void NodeWriter::write_foreign(const Node& node, const std::string& label) {
  const std::string kind(graph::kind_of(node));
  library.foreign.emplace(kind, node.site ? memory::describe(*node.site) : std::string());
  std::vector<Given> inputs;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    inputs.push_back(given(node.inputs[i], message(label, "/input_", i)));
  }
  GivenAttrs attrs;
  for (size_t i = 0; node.op && i < node.attrs.size(); ++i) {
    const Param& param = node.op->params()[static_cast<size_t>(node.op->attrs()[i])];
    if (!node.attrs[i].is_none()) attrs[param.name] = plain_attr(node.attrs[i]);
  }
  std::vector<DType> made;
  for (const graph::OutputInfo& output : node.outputs) made.push_back(output.dtype);
  attrs["_output_types"] = types_attr(made);
  add(label, "Tidemark>" + kind, inputs, std::move(attrs));
  give_all(node, label);
}

}  // namespace tidemark::io::tensorflow
