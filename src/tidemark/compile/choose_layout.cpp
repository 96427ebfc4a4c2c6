// Which way images lie. Convolutions want their channels last; code written for channels first
// turns them around before and after each one. Transposes are moved down through the steps between
// convolutions (elementwise ops, reductions, slices that are joined, cut or picked), where most of
// them meet another that undoes them.

#include <algorithm>
#include <map>
#include <tuple>

#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/transposes.h"

namespace tidemark::compile {

namespace {

/// Reductions that transposes are moved behind.
bool lets_transposes_pass(ReductionKind kind) {
  return kind == ReductionKind::sum || kind == ReductionKind::mean ||
         kind == ReductionKind::maximum || kind == ReductionKind::minimum ||
         kind == ReductionKind::product;
}

/// Elements that transposes move.
double moved(const graph::Graph& graph) {
  double elements = 0;
  for (const graph::Node* node : graph.nodes()) {
    const auto permutation = permutation_of(*node);
    const Shape& shape = permutation ? node->inputs[0].shape() : Shape();
    if (!permutation || !shape.is_fully_known() || is_reshape(*permutation, shape)) continue;
    elements += static_cast<double>(shape.num_elements());
  }
  return elements;
}

class Mover {
 public:
  explicit Mover(const graph::Graph& graph) : now_(graph) {}

  std::shared_ptr<graph::Graph> run() {
    now_.replace([&](const graph::Node& node) { return replacement(node); });
    return now_.finish();
  }

 private:
  Tensor replacement(const graph::Node& node) {
    if (!node.op || node.op->is_stateful() || !node.before.empty() || node.outputs.empty() ||
        !node.outputs[0].shape.is_fully_known()) {
      return {};
    }
    if (moves_slices(node)) return slices(node);
    if (node.outputs.size() != 1) return {};
    if (const auto permutation = permutation_of(node)) return transpose(node, *permutation);
    if (node.op->is_elementwise()) return elementwise(node);
    return lets_transposes_pass(node.op->reduction_kind()) ? reduction(node) : Tensor();
  }

  /// Made once.
  Tensor transposed(const Tensor& t, const Ints& permutation, const graph::Node& like) {
    if (is_identity(permutation)) return t;
    if (const Tensor known = known_transpose(t, permutation)) return known;
    Tensor made = now_.add(op("transpose"), {t}, {Attr(permutation), Attr(false)}, like);
    if (t.is_symbolic()) made_[key(t, permutation)] = made;
    return made;
  }

  using Key = std::tuple<const graph::Node*, uint32_t, std::vector<int64_t>>;
  static Key key(const Tensor& t, const Ints& permutation) {
    return {&graph::node_of(t), graph::symbolic(t).index, {permutation.begin(), permutation.end()}};
  }
  Tensor known_transpose(const Tensor& t, const Ints& permutation) const {
    if (!t.is_symbolic()) return {};
    const auto known = made_.find(key(t, permutation));
    return known == made_.end() ? Tensor() : known->second;
  }

  Tensor transpose(const graph::Node& node, const Ints& permutation) {
    const Tensor input = now_.at(node.inputs[0]);
    const auto before = permutation_of(input);
    if (!before) return transposed(input, permutation, node);
    return transposed(graph::node_of(input).inputs[0], composed(*before, permutation), node);
  }

  /// op(T a, T b, c) = T op(a, b, T⁻¹ c), for a c that only changes its shape or lies so already.
  Tensor elementwise(const graph::Node& node) {
    const int rank = node.outputs[0].shape.rank();
    std::vector<Tensor> inputs = now_.at(node.inputs);
    std::optional<Ints> common;
    for (const Tensor& t : inputs) {
      const auto permutation = permutation_of(t);
      if (permutation && t.rank() == rank) common = common ? common : permutation;
    }
    if (!common) return {};
    for (Tensor& t : inputs) {
      t = turned_back(t, *common, rank, node);
      if (!t) return {};
    }
    return transposed(now_.add(*node.op, std::move(inputs), node.attrs, node), *common, node);
  }

  Tensor turned_back(const Tensor& t, const Ints& permutation, int rank, const graph::Node& like) {
    if (const auto own = permutation_of(t); own && *own == permutation) {
      return graph::node_of(t).inputs[0];
    }
    const Ints back = inverse(permutation);
    if (const Tensor known = known_transpose(t, back)) return known;
    if (!t.shape().is_fully_known()) return {};
    if (t.shape().num_elements() == 1 && t.rank() <= 1) return t;
    Shape wide;
    for (int d = t.rank(); d < rank; ++d) wide.push_back(1);
    for (int d = 0; d < t.rank(); ++d) wide.push_back(t.shape()[d]);
    std::vector<int64_t> dims;
    for (const int64_t axis : back) dims.push_back(wide[static_cast<int>(axis)]);
    const Tensor shape = Tensor::of(std::span<const int64_t>(dims), {rank});
    if (is_reshape(back, wide)) return now_.add(op("reshape"), {t, shape}, {}, like);
    // What repeats a smaller tensor may repeat it in another order.
    if (const graph::Node* repeats = made_by(t, "broadcast_to")) {
      const Tensor source = turned_back(repeats->inputs[0], permutation, rank, like);
      return source ? now_.add(*repeats->op, {source, shape}, repeats->attrs, like) : Tensor();
    }
    if (const graph::Node* fills = made_by(t, "fill")) {
      return now_.add(*fills->op, {shape, fills->inputs[1]}, fills->attrs, like);
    }
    return {};
  }

  /// Whether it puts whole slices along the attribute `axis` elsewhere, and keeps the rank.
  static bool moves_slices(const graph::Node& node) {
    const std::string_view name = node.op->name();
    // op names: what it is to move slices is said of no op, and no other pass asks
    if (name == "concat" || name == "split") return true;
    if (name != "gather" || node.inputs[1].rank() != 1) return false;
    const Attr& batches = node.attrs[static_cast<size_t>(node.op->attr_index("batch_dims"))];
    return batches.as_int() == 0;
  }

  /// op(T a, T b) along an axis = T op(a, b) along the axis that this one comes from.
  Tensor slices(const graph::Node& node) {
    const int rank = node.outputs[0].shape.rank();
    std::vector<Tensor> inputs = now_.at(node.inputs);
    const bool joins = node.op->has_input_list();
    const size_t moved = joins ? inputs.size() : 1;  // the rest says which
    std::optional<Ints> common;
    for (size_t i = 0; i < moved; ++i) {
      const auto permutation = permutation_of(inputs[i]);
      if (permutation && inputs[i].rank() == rank) common = common ? common : permutation;
    }
    if (!common) return {};
    for (size_t i = 0; i < moved; ++i) {
      inputs[i] = turned_back(inputs[i], *common, rank, node);
      if (!inputs[i] || inputs[i].rank() != rank) return {};
    }
    std::vector<Attr> attrs = node.attrs;
    Attr& axis = attrs[static_cast<size_t>(node.op->attr_index("axis"))];
    const int64_t given = axis.is_none() ? 0 : axis.as_int();
    if (given < -rank || given >= rank) return {};
    axis = Attr((*common)[static_cast<size_t>(given < 0 ? given + rank : given)]);
    const Tensor made = now_.add(*node.op, std::move(inputs), std::move(attrs), node);
    for (uint32_t i = 1; i < node.outputs.size(); ++i) {
      now_.set(node, i, transposed(graph::output_of(graph::node_of(made), i), *common, node));
    }
    return transposed(made, *common, node);
  }

  /// A reduction of T x is one of x over other axes; what is left of its dimensions is put in
  /// order.
  Tensor reduction(const graph::Node& node) {
    const Tensor input = now_.at(node.inputs[0]);
    const auto permutation = permutation_of(input);
    const size_t axis = static_cast<size_t>(node.op->attr_index("axis"));
    const bool keeps = node.attrs[static_cast<size_t>(node.op->attr_index("keepdims"))].as_bool();
    if (!permutation || node.inputs.size() != 1) return {};
    const Tensor& source = graph::node_of(input).inputs[0];
    if (node.attrs[axis].is_none()) {  // nothing is left that has an order
      const Tensor made = now_.add(*node.op, {source}, node.attrs, node);
      return keeps ? transposed(made, *permutation, node) : made;
    }
    const int64_t rank = input.rank();
    std::vector<bool> reduced(static_cast<size_t>(rank));
    Ints axes;
    for (const int64_t a : node.attrs[axis].as_ints()) {
      if (a < -rank || a >= rank) return {};
      axes.push_back((*permutation)[static_cast<size_t>(a < 0 ? a + rank : a)]);
      reduced[static_cast<size_t>(axes.back())] = true;
    }
    std::sort(axes.begin(), axes.end());
    std::vector<Attr> attrs = node.attrs;
    attrs[axis] = Attr(axes);
    const Tensor made = now_.add(*node.op, {source}, std::move(attrs), node);
    if (keeps) return transposed(made, *permutation, node);
    Ints left;
    for (const int64_t from : *permutation) {
      if (reduced[static_cast<size_t>(from)]) continue;
      left.push_back(from - std::count(reduced.begin(), reduced.begin() + from, true));
    }
    return transposed(made, left, node);
  }

  static const OpDef& op(std::string_view name) { return OpRegistry::instance().get(name); }

  Rewriter now_;
  std::map<Key, Tensor> made_;
};

}  // namespace

std::shared_ptr<graph::Graph> choose_layout(const std::shared_ptr<graph::Graph>& graph) {
  const double before = moved(*graph);
  if (before == 0) return graph;
  const std::shared_ptr<graph::Graph> other = eliminate_transposes(Mover(*graph).run());
  return moved(*other) < before ? other : graph;
}

}  // namespace tidemark::compile
