#include "tidemark/io/graph_writer.h"

#include <tidemark/op.h>

#include "tidemark/io/bytes_sink.h"
#include "tidemark/io/graph_format.h"
#include "tidemark/trace/specials.h"

namespace tidemark::io {

namespace {

using graph::Node;

void put_attr(BytesSink& sink, const Attr& attr) {
  BytesSink out;
  if (attr.is_none()) {
    put_varint_field(out, kAttrNone, 1);
  } else {
    switch (attr.kind()) {
      case AttrKind::boolean:
        put_varint_field(out, kAttrBool, attr.as_bool());
        break;
      case AttrKind::integer:
        put_varint_field(out, kAttrInt, static_cast<uint64_t>(attr.as_int()));
        break;
      case AttrKind::real: {
        const double value = attr.as_real();
        put_bytes_field(out, kAttrReal, {reinterpret_cast<const char*>(&value), sizeof(value)});
        break;
      }
      case AttrKind::dtype:
        put_varint_field(out, kAttrDType, static_cast<uint64_t>(attr.as_dtype()));
        break;
      case AttrKind::string:
        put_bytes_field(out, kAttrString, attr.as_string());
        break;
      case AttrKind::ints: {
        const Ints& values = attr.as_ints();
        put_bytes_field(out, kAttrInts,
                        {reinterpret_cast<const char*>(values.data()), values.size() * 8});
        break;
      }
    }
  }
  put_bytes_field(sink, kNodeAttr, out.bytes);
}

void put_value(BytesSink& sink, uint32_t number, DType dtype, const Shape& shape) {
  BytesSink out;
  put_varint_field(out, kValueDType, static_cast<uint64_t>(dtype));
  put_shape(out, kValueShape, shape);
  put_bytes_field(sink, number, out.bytes);
}

class GraphWriter {
 public:
  GraphWriter(const graph::Graph& graph, SharedParts& parts, int depth)
      : graph_(graph), parts_(parts), depth_(depth), nodes_(graph.nodes()) {
    if (depth > kDeepestBody) fail("branches and loops are nested too deeply to be saved");
  }

  std::string write() {
    put_bytes_field(out_, kGraphName, graph_.name());
    for (const Tensor& t : graph_.inputs()) {
      put_value(out_, kGraphInput, t.dtype(), t.shape());
      first_value_.emplace(&graph::node_of(t), num_values_++);
    }
    note_shapes();
    for (Node* node : nodes_) {
      if (!first_value_.contains(node)) put_node(*node);
    }
    for (const Tensor& t : graph_.outputs()) put_varint_field(out_, kGraphOutput, reference(t));
    return std::move(out_.bytes);
  }

 private:
  /// A handle may know more than its node: the user said so.
  void note_shapes() {
    const auto note = [this](const Tensor& t) {
      if (t.is_symbolic()) shapes_[{&graph::node_of(t), graph::symbolic(t).index}] = t.shape();
    };
    for (const Node* node : nodes_) {
      for (const Tensor& t : node->inputs) note(t);
    }
    for (const Tensor& t : graph_.outputs()) note(t);
  }

  uint64_t reference(const Tensor& t) {
    if (!t.is_symbolic()) return 2 * parts_.add(t) + 1;
    return 2 * (first_value_.at(&graph::node_of(t)) + graph::symbolic(t).index);
  }

  void put_node(Node& node) {
    BytesSink out;
    const auto put_kind = [&out](NodeKind kind) {
      put_varint_field(out, kNodeKind, static_cast<uint64_t>(kind));
    };
    std::span<const Tensor> inputs = node.inputs;
    if (node.op) {
      put_kind(NodeKind::op);
      put_op(out, node);
    } else {
      put_kind(put_special(out, node, inputs));
    }
    for (const Tensor& t : inputs) put_varint_field(out, kNodeInput, reference(t));
    for (const graph::NodeRef& before : node.before) {
      const auto at = number_of_.find(before.get());
      if (at != number_of_.end()) put_varint_field(out, kNodeBefore, at->second);
    }
    for (uint32_t i = 0; i < node.outputs.size(); ++i) {
      const auto known = shapes_.find({&node, i});
      put_value(out, kNodeOutput, node.outputs[i].dtype,
                known == shapes_.end() ? node.outputs[i].shape : known->second);
    }
    if (!node.label.empty()) put_bytes_field(out, kNodeLabel, node.label);
    put_bytes_field(out_, kGraphNode, out.bytes);
    number_of_.emplace(&node, number_of_.size());
    first_value_.emplace(&node, num_values_);
    num_values_ += node.outputs.size();
  }

  void put_op(BytesSink& out, const Node& node) {
    put_bytes_field(out, kNodeOp, node.op->name());
    const int table = node.op->attr_index("table");
    for (size_t i = 0; i < node.attrs.size(); ++i) {
      if (static_cast<int>(i) == table) {
        const uint64_t number = parts_.add_table(node.attrs[i].as_int());
        put_varint_field(out, kNodeTable, number);
        put_attr(out, Attr(int64_t{0}));
      } else {
        put_attr(out, node.attrs[i]);
      }
    }
  }

  NodeKind put_special(BytesSink& out, const Node& node, std::span<const Tensor>& inputs) {
    const graph::Special& special = *node.special;
    if (node.special == trace::constant_special()) return NodeKind::constant;
    if (const Variable* shown = special.shown_variable()) {
      put_varint_field(out, kNodeVariable, parts_.add(*shown));
      return NodeKind::read_variable;
    }
    if (const graph::VariableUpdate* update = special.update()) {
      put_varint_field(out, kNodeVariable, parts_.add(update->variable));
      put_bytes_field(out, kNodeOp, graph::name_of_update(update->op));
      for (const Attr& attr : update->attrs) put_attr(out, attr);
      return NodeKind::update_variable;
    }
    if (const auto inner = special.inner_graphs(); !inner.empty()) return put_inner(out, inner);
    if (const auto first = special.passed_inputs_at()) {
      inputs = inputs.subspan(*first, node.outputs.size());
      return NodeKind::pass;
    }
    if (const graph::RecordingSpecial* asking = special.recording()) {
      for (const Variable& source : asking->question().sources) {
        put_varint_field(out, kNodeSource, source ? 1 + parts_.add(source) : 0);
      }
      for (bool has_seed : asking->question().has_seed) put_varint_field(out, kNodeSeed, has_seed);
      return NodeKind::gradient;
    }
    const std::string site = node.site ? memory::describe(*node.site) : std::string();
    fail("'", graph_.name(), "' cannot be saved: it calls ", special.name(),
         site.empty() ? "" : " at ", site,
         ", which needs the program that is running now. Write that part with tensor operations");
  }

  /// Inner graphs say by their roles what is done with them.
  NodeKind put_inner(BytesSink& out, std::span<const graph::InnerGraph> inner) {
    for (const graph::InnerGraph& body : inner) put_body(out, body);
    if (inner[0].role == graph::InnerGraph::Role::choice) return NodeKind::cond;
    put_varint_field(out, kNodeCount, inner[0].num_own_inputs());
    return NodeKind::loop;
  }

  void put_body(BytesSink& out, const graph::InnerGraph& body) {
    BytesSink inner;
    put_bytes_field(inner, kBodyGraph, GraphWriter(*body.graph, parts_, depth_ + 1).write());
    for (uint32_t index : body.captured) put_varint_field(inner, kBodyCaptured, index);
    put_bytes_field(out, kNodeBody, inner.bytes);
  }

  const graph::Graph& graph_;
  SharedParts& parts_;
  int depth_;
  std::vector<Node*> nodes_;
  BytesSink out_;
  std::unordered_map<const Node*, uint64_t> first_value_, number_of_;
  std::map<std::pair<const Node*, uint32_t>, Shape> shapes_;
  uint64_t num_values_ = 0;
};

template <class Key, class List, class Value>
uint64_t added(std::unordered_map<Key, uint64_t>& known, Key key, List& list, const Value& value) {
  const auto [at, is_new] = known.try_emplace(key, list.size());
  if (is_new) list.push_back(value);
  return at->second;
}

}  // namespace

uint64_t SharedParts::add(const Variable& variable) {
  return added(variable_at_, variable.id(), variables, variable);
}

uint64_t SharedParts::add(const Tensor& constant) {
  return added<const void*>(constant_at_, constant.impl(), constants, constant);
}

uint64_t SharedParts::add_table(int64_t number) {
  return added(table_at_, number, tables, HashTable::get(number));
}

std::string write_graph(const graph::Graph& graph, SharedParts& parts) {
  return GraphWriter(graph, parts, 0).write();
}

}  // namespace tidemark::io
