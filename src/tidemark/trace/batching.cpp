#include "tidemark/trace/batching.h"

#include <tidemark/call.h>

#include <algorithm>

#include "tidemark/graph/specials.h"

namespace tidemark::trace {

namespace {

using graph::Node;

template <class... Pieces>
[[noreturn]] void no_rule(const Pieces&... pieces) {
  throw NoBatchRuleError(message(pieces...));
}

struct Value {
  Tensor tensor;
  bool is_batched = false;

  /// That of the value for one element.
  int rank() const {
    if (!tensor.shape().has_rank()) no_rule("a tensor of unknown rank");
    return tensor.shape().rank() - is_batched;
  }
};
using Attrs = std::vector<Attr>;

/// A node on its way: what it is given, and its attributes, which rules change.
struct Step {
  const Node& node;
  const Tensor& count;
  std::vector<Value> values;
  Attrs attrs = node.attrs;

  const OpDef& op() const { return *node.op; }
  Attr& attr(std::string_view name) { return attrs[static_cast<size_t>(op().attr_index(name))]; }
  std::vector<Tensor> run(std::vector<Tensor> inputs) const {
    return call_all(op(), inputs, attrs);
  }
};

/// An axis of an element as one of the batch; those counted from the end stay.
int64_t shifted(int64_t axis) { return axis >= 0 ? axis + 1 : axis; }

Tensor ints(const Ints& values, DType dtype) {
  return call(
      "cast",
      {Tensor::of(std::span<const int64_t>(values), Shape{static_cast<int64_t>(values.size())})},
      {{"dtype", dtype}});
}

Tensor joined(std::initializer_list<Tensor> parts) {
  return call_all("concat", std::vector<Tensor>(parts), {{"axis", 0}})[0];
}

/// The number before those of a tensor.
Tensor before(int64_t first, const Tensor& rest) {
  return joined({ints({first}, rest.dtype()), rest});
}

/// As a vector of one number.
Tensor as_vector(const Tensor& count) { return call("reshape", {count, ints({1}, DType::int32)}); }

/// The value with a batch dimension in any case.
Tensor repeated(const Value& value, const Tensor& count) {
  if (value.is_batched) return value.tensor;
  const Tensor sizes = joined({as_vector(count), call("shape", {value.tensor})});
  return call("broadcast_to", {value.tensor, sizes});
}

/// The tensors with dimensions of size 1 after the batch, so that elements broadcast.
std::vector<Tensor> aligned(std::span<const Value> values) {
  int rank = 0;
  for (const Value& value : values) rank = std::max(rank, value.rank());
  std::vector<Tensor> out;
  for (const Value& value : values) {
    Tensor tensor = value.tensor;
    for (int missing = value.is_batched ? rank - value.rank() : 0; missing > 0; --missing) {
      tensor = call("expand_dims", {tensor}, {{"axis", 1}});
    }
    out.push_back(std::move(tensor));
  }
  return out;
}

/// Of ops that look at numbers which are alike for all elements.
std::vector<Tensor> only_first_batched(const Step& step) {
  std::vector<Tensor> out;
  for (const Value& value : step.values) {
    if (value.is_batched && !out.empty()) {
      no_rule(step.op().name(), " by numbers that differ from element to element");
    }
    out.push_back(value.tensor);
  }
  return out;
}

using Made = std::vector<Value>;
using Rule = Made (*)(Step&);

Made all_batched(std::vector<Tensor> tensors) {
  Made out;
  for (Tensor& t : tensors) out.push_back({std::move(t), true});
  return out;
}

Made elementwise(Step& step) { return all_batched(step.run(aligned(step.values))); }

Made reduced(Step& step) {
  Attr& axis = step.attr("axis");
  Ints axes;
  if (axis.is_none()) {
    for (int i = 0; i < step.values[0].rank(); ++i) axes.push_back(i);
  } else {
    axes = axis.kind() == AttrKind::ints ? axis.as_ints() : Ints{axis.as_int()};
  }
  for (int64_t& one : axes) one = shifted(one);
  axis = axes;
  return all_batched(step.run({step.values[0].tensor}));
}

Made along_one_axis(Step& step) {
  Attr& axis = step.attr("axis");
  axis = shifted(axis.is_none() ? step.op().axis_unless_given() : axis.as_int());
  std::vector<Tensor> inputs;
  for (const Value& value : step.values) inputs.push_back(repeated(value, step.count));
  return all_batched(step.run(std::move(inputs)));
}

Made joins(Step& step) {
  step.attr("axis") = shifted(step.attr("axis").as_int());
  std::vector<Tensor> inputs;
  for (const Value& value : step.values) inputs.push_back(repeated(value, step.count));
  return all_batched(step.run(std::move(inputs)));
}

Made reshapes(Step& step) {
  if (step.values[1].is_batched) no_rule("reshape to a shape that differs from element to element");
  const Tensor sizes = call("cast", {step.values[1].tensor}, {{"dtype", DType::int32}});
  return all_batched(step.run({step.values[0].tensor, joined({as_vector(step.count), sizes})}));
}

Made transposes(Step& step) {
  Attr& perm = step.attr("perm");
  Ints order;
  if (perm.is_none()) {
    for (int i = step.values[0].rank() - 1; i >= 0; --i) order.push_back(i);
  } else {
    order = perm.as_ints();
  }
  for (int64_t& one : order) one = shifted(one);
  order.insert(order.begin(), 0);
  perm = order;
  return all_batched(step.run({step.values[0].tensor}));
}

Made expands(Step& step) {
  step.attr("axis") = shifted(step.attr("axis").as_int());
  return all_batched(step.run({step.values[0].tensor}));
}

Made squeezes(Step& step) {
  Attr& axis = step.attr("axis");
  Ints axes;
  if (axis.is_none()) {
    for (int i = 0; i < step.values[0].rank(); ++i) {
      if (step.values[0].tensor.shape()[i + 1] == 1) axes.push_back(i);
    }
  } else {
    axes = axis.as_ints();
  }
  for (int64_t& one : axes) one = shifted(one);
  axis = axes;
  return all_batched(step.run({step.values[0].tensor}));
}

Made gathers(Step& step) {
  const Value &params = step.values[0], &indices = step.values[1];
  if (step.attr("batch_dims").as_int() != 0) no_rule("gather with batch_dims");
  const int64_t axis = step.attr("axis").is_none() ? 0 : step.attr("axis").as_int();
  if (params.is_batched) {
    step.attr("axis") = shifted(axis);
    step.attr("batch_dims") = int64_t{indices.is_batched};
  } else if (axis != 0) {
    no_rule("gather by elements along another axis than the first");
  }
  return all_batched(step.run({params.tensor, indices.tensor}));
}

Made slices_with_strides(Step& step) {
  const std::vector<Tensor> x = only_first_batched(step);
  for (Attr& mask : step.attrs) mask = mask.as_int() << 1;
  for (const char* open : {"begin_mask", "end_mask"}) {
    step.attr(open) = step.attr(open).as_int() | 1;
  }
  return all_batched(step.run({x[0], before(0, x[1]), before(0, x[2]), before(1, x[3])}));
}

Made slices(Step& step) {
  const std::vector<Tensor> x = only_first_batched(step);
  return all_batched(step.run({x[0], before(0, x[1]), before(-1, x[2])}));
}

Made tiles(Step& step) {
  const std::vector<Tensor> x = only_first_batched(step);
  return all_batched(step.run({x[0], before(1, x[1])}));
}

Made pads(Step& step) {
  std::vector<Tensor> x = only_first_batched(step);
  const Tensor none = call("reshape", {ints({0, 0}, x[1].dtype()), ints({1, 2}, DType::int32)});
  x[1] = joined({none, x[1]});
  return all_batched(step.run(std::move(x)));
}

/// Alike for all elements.
Made tells_sizes(Step& step) {
  const Tensor all = step.run({step.values[0].tensor})[0];
  const Tensor sizes = call("slice", {all, ints({1}, DType::int32), ints({-1}, DType::int32)});
  return {{sizes, false}};
}

Made as_it_is(Step& step) { return all_batched(step.run(only_first_batched(step))); }

struct NamedRule {
  std::string_view op;
  Rule rule;
};
// op names: how each is done for all elements at once, where its definition does not say.
constexpr NamedRule kRules[] = {
    {"concat", joins},
    {"expand_dims", expands},
    {"gather", gathers},
    {"matmul", elementwise},
    {"pad", pads},
    {"reshape", reshapes},
    {"shape", tells_sizes},
    {"slice", slices},
    {"squeeze", squeezes},
    {"stack", joins},
    {"strided_slice", slices_with_strides},
    {"tile", tiles},
    {"top_k", as_it_is},
    {"transpose", transposes},
};
// Computed as it is where nothing depends on the element.
// op names: what makes tensors out of sizes.
constexpr std::string_view kOfSizes[] = {"broadcast_to", "fill",  "linspace",
                                         "one_hot",      "range", "size"};

Rule rule_of(const OpDef& op) {
  for (const NamedRule& one : kRules) {
    if (one.op == op.name()) return one.rule;
  }
  if (op.has_input_list()) return nullptr;
  if (op.works_on_elements()) return elementwise;
  if (op.reduction_kind() != ReductionKind::none) return reduced;
  return op.is_along_axis() ? along_one_axis : nullptr;
}

class Batching {
 public:
  explicit Batching(Tensor count) : count_(std::move(count)) {}

  void give(const Tensor& input, Value value) {
    made_[&graph::node_of(input)] = {std::move(value)};
  }
  Value value_of(const Tensor& t) const {
    if (!t.is_symbolic()) return {t, false};
    return made_.at(&graph::node_of(t)).at(graph::symbolic(t).index);
  }
  void compute(const Node& node) {
    if (made_.contains(&node)) return;
    if (graph::is_constant(node)) {
      made_[&node] = {value_of(node.inputs[0])};
      return;
    }
    if (!node.op) no_rule(graph::kind_of(node));
    Step step{node, count_, {}};
    for (const Tensor& t : node.inputs) step.values.push_back(value_of(t));
    const bool is_batched = std::ranges::any_of(step.values, &Value::is_batched);
    const Rule rule = rule_of(*node.op);
    if (is_batched && rule) {
      made_[&node] = rule(step);
      return;
    }
    const bool is_of_sizes = std::ranges::find(kOfSizes, node.op->name()) != std::end(kOfSizes);
    if (is_batched || (!rule && !is_of_sizes)) no_rule(node.op->name());
    std::vector<Tensor> inputs;
    for (const Value& value : step.values) inputs.push_back(value.tensor);
    for (Tensor& t : step.run(std::move(inputs))) made_[&node].push_back({std::move(t), false});
  }

 private:
  Tensor count_;
  std::unordered_map<const Node*, std::vector<Value>> made_;
};

}  // namespace

std::vector<Tensor> run_batched(const graph::Graph& graph, std::span<const Tensor> elements,
                                std::span<const Tensor> captured) {
  int64_t count = kUnknownDim;
  for (const Tensor& one : elements) {
    const int64_t rows = one.shape().has_rank() && one.rank() > 0 ? one.shape()[0] : kUnknownDim;
    if (rows == kUnknownDim || (count != kUnknownDim && rows != count)) {
      no_rule("elements of an unknown number, or repeated ones");
    }
    count = rows;
  }
  if (!graph.effects().empty()) no_rule("effects");
  const Tensor all(static_cast<int32_t>(count));
  Batching batching(all);
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const bool is_element = i < elements.size();
    batching.give(graph.inputs()[i],
                  {is_element ? elements[i] : captured[i - elements.size()], is_element});
  }
  for (const Node* node : graph.nodes()) batching.compute(*node);
  std::vector<Tensor> out;
  for (const Tensor& t : graph.outputs()) out.push_back(repeated(batching.value_of(t), all));
  return out;
}

}  // namespace tidemark::trace
