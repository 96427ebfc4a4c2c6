// Ops over rows that stand beside something they could be fused with are written out in the ops
// that groups are made of. Alone they keep their own kernels.

#include <algorithm>

#include "tidemark/compile/fuse_groups.h"
#include "tidemark/compile/pass.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/compile/target.h"
#include "tidemark/tensor/kept_for_runs.h"

namespace tidemark::compile {

namespace {

/// Steps over the rows of one tensor, at the source line of the op they stand for. Half types are
/// computed in float32, as the kernels do.
class Rows {
 public:
  Rows(Rewriter& now, const graph::Node& like, DType narrow)
      : now_(now), like_(like), narrow_(narrow) {}

  Tensor map(const char* op, std::vector<Tensor> inputs) { return add(op, std::move(inputs), {}); }
  /// With the reduced dimension kept.
  Tensor reduce(const char* op, const Tensor& x) {
    return add(op, {x}, {Attr(Ints{-1}), Attr(true)});
  }
  Tensor widen(const Tensor& t) { return cast(t, fusion::computed_in(narrow_)); }
  Tensor narrow(const Tensor& t) { return cast(t, narrow_); }
  /// A value a row, without the dimension that was reduced.
  Tensor dropped(const Tensor& t) {
    return now_.add(OpRegistry::instance().get("squeeze"), {t}, {Attr(Ints{-1})}, like_);
  }
  Tensor number(double value) const {
    const Tensor here = Tensor::of({static_cast<float>(value)}, {});
    return kept_for_runs(here.to(graph::device_of(like_)));
  }
  /// Whether the device can run every step alone: not all of them may end up in a group.
  bool has_kernels() const { return has_kernels_; }

 private:
  Tensor cast(const Tensor& t, DType to) {
    return t.dtype() == to ? t : add("cast", {t}, {Attr(to)});
  }
  Tensor add(const char* name, std::vector<Tensor> inputs, std::vector<Attr> attrs) {
    const OpDef& op = OpRegistry::instance().get(name);
    has_kernels_ = has_kernels_ && target_of(like_).find_kernel(op, inputs[0].dtype());
    return now_.add(op, std::move(inputs), std::move(attrs), like_);
  }

  Rewriter& now_;
  const graph::Node& like_;
  const DType narrow_;
  bool has_kernels_ = true;
};

std::vector<Tensor> softmax(Rows& rows, const graph::Node&, const std::vector<Tensor>& inputs) {
  const Tensor x = rows.widen(inputs[0]);
  const Tensor terms = rows.map("exp", {rows.map("subtract", {x, rows.reduce("max", x)})});
  const Tensor factor = rows.map("truediv", {rows.number(1), rows.reduce("sum", terms)});
  return {rows.narrow(rows.map("multiply", {terms, factor}))};
}

std::vector<Tensor> log_softmax(Rows& rows, const graph::Node&, const std::vector<Tensor>& inputs) {
  const Tensor x = rows.widen(inputs[0]);
  const Tensor shifted = rows.map("subtract", {x, rows.reduce("max", x)});
  const Tensor log_sum = rows.map("log", {rows.reduce("sum", rows.map("exp", {shifted}))});
  return {rows.narrow(rows.map("subtract", {shifted, log_sum}))};
}

std::vector<Tensor> softmax_grad(Rows& rows, const graph::Node&,
                                 const std::vector<Tensor>& inputs) {
  const Tensor y = rows.widen(inputs[0]), dy = rows.widen(inputs[1]);
  const Tensor sum = rows.reduce("sum", rows.map("multiply", {dy, y}));
  return {rows.narrow(rows.map("multiply", {rows.map("subtract", {dy, sum}), y}))};
}

std::vector<Tensor> log_softmax_grad(Rows& rows, const graph::Node&,
                                     const std::vector<Tensor>& inputs) {
  const Tensor y = rows.widen(inputs[0]), dy = rows.widen(inputs[1]);
  const Tensor share = rows.map("multiply", {rows.map("exp", {y}), rows.reduce("sum", dy)});
  return {rows.narrow(rows.map("subtract", {dy, share}))};
}

/// The reciprocal of the root of the mean square.
Tensor inverse_deviation(Rows& rows, const graph::Node& node, const Tensor& centred) {
  const double epsilon = node.attrs[static_cast<size_t>(node.op->attr_index("epsilon"))].as_real();
  const Tensor variance = rows.reduce("mean", rows.map("square", {centred}));
  const Tensor deviation = rows.map("sqrt", {rows.map("add", {variance, rows.number(epsilon)})});
  return rows.map("truediv", {rows.number(1), deviation});
}

std::vector<Tensor> layer_norm(Rows& rows, const graph::Node& node,
                               const std::vector<Tensor>& inputs) {
  const Tensor x = rows.widen(inputs[0]);
  const Tensor mean = rows.reduce("mean", x), centred = rows.map("subtract", {x, mean});
  const Tensor rstd = inverse_deviation(rows, node, centred);
  const Tensor scaled =
      rows.map("multiply", {rows.map("multiply", {centred, rstd}), rows.widen(inputs[1])});
  return {rows.narrow(rows.map("add", {scaled, rows.widen(inputs[2])})), rows.dropped(mean),
          rows.dropped(rstd)};
}

std::vector<Tensor> rms_norm(Rows& rows, const graph::Node& node,
                             const std::vector<Tensor>& inputs) {
  const Tensor x = rows.widen(inputs[0]);
  const Tensor rstd = inverse_deviation(rows, node, x);
  const Tensor scaled =
      rows.map("multiply", {rows.map("multiply", {x, rstd}), rows.widen(inputs[1])});
  return {rows.narrow(scaled), rows.dropped(rstd)};
}

struct Expansion {
  const char* op;
  std::vector<Tensor> (*write)(Rows& rows, const graph::Node& node,
                               const std::vector<Tensor>& inputs);
  int last_rows;  // the inputs up to this one have the rows
};
// op names: what each is written as.
constexpr Expansion kExpansions[] = {
    {"softmax", softmax, 0},           {"log_softmax", log_softmax, 0},
    {"softmax_grad", softmax_grad, 1}, {"log_softmax_grad", log_softmax_grad, 1},
    {"layer_norm", layer_norm, 0},     {"rms_norm", rms_norm, 0},
};

class Expander {
 public:
  explicit Expander(const graph::Graph& graph) : fusable_(graph), now_(graph) {}

  /// Null: nothing is written out.
  std::shared_ptr<graph::Graph> run() {
    bool changed = false;
    for (size_t i = 0; i < fusable_.size(); ++i) {
      const graph::Node* node = fusable_.nodes[i].node;
      if (graph::is_placeholder(*node)) continue;
      const Expansion* expansion = expansion_of(*node, fusable_.after[i]);
      if (expansion && write(*expansion, *node)) {
        changed = true;
      } else {
        now_.copy(*node);
      }
    }
    return changed ? now_.finish() : nullptr;
  }

 private:
  /// False: the device cannot run it so.
  bool write(const Expansion& expansion, const graph::Node& node) {
    Rows rows(now_, node, node.outputs[0].dtype);
    const std::vector<Tensor> made = expansion.write(rows, node, now_.at(node.inputs));
    if (!rows.has_kernels()) return false;
    for (uint32_t output = 0; output < made.size(); ++output) {
      now_.set(node, output, made[output]);
    }
    return true;
  }

  const Expansion* expansion_of(const graph::Node& node, const std::vector<int>& users) const {
    if (!node.op || !node.before.empty()) return nullptr;
    const auto* found = std::find_if(std::begin(kExpansions), std::end(kExpansions),
                                     [&](const Expansion& e) { return node.op->name() == e.op; });
    if (found == std::end(kExpansions) || !is_over_rows(node)) return nullptr;
    return has_fusable_neighbour(node, *found, users) ? found : nullptr;
  }

  /// Over the last of known dimensions, of elements that are computed in float32.
  static bool is_over_rows(const graph::Node& node) {
    const Shape& shape = node.outputs[0].shape;
    if (fusion::computed_in(node.outputs[0].dtype) != DType::float32) return false;
    if (!shape.is_fully_known() || shape.rank() == 0 || shape.num_elements() == 0) return false;
    if (shape.dim(-1) > kLongestFusedRow) return false;
    const int axis = node.op->attr_index("axis");
    if (axis < 0 || node.attrs[static_cast<size_t>(axis)].is_none()) return true;
    const int64_t along = node.attrs[static_cast<size_t>(axis)].as_int();
    return along == -1 || along == shape.rank() - 1;
  }

  /// What is computed again late is written out as it was the first time, so that it has the same
  /// bits: repeat_cheap lets it wait behind reshapes.
  static Tensor held(Tensor t) {
    while (t.is_symbolic() && graph::node_of(t).op && !graph::node_of(t).before.empty() &&
           graph::node_of(t).op->is_reshaping()) {
      t = graph::node_of(t).inputs[0];
    }
    return t;
  }

  bool has_fusable_neighbour(const graph::Node& node, const Expansion& expansion,
                             const std::vector<int>& users) const {
    const Shape& shape = node.outputs[0].shape;
    for (int i = 0; i <= expansion.last_rows; ++i) {
      const int producer = fusable_.number_of(held(node.inputs[static_cast<size_t>(i)]));
      if (producer < 0) continue;
      const FusableNode& n = fusable_.nodes[static_cast<size_t>(producer)];
      if (n.kind != FusedKind::none && n.node->outputs[0].shape == shape) return true;
    }
    return std::any_of(users.begin(), users.end(), [&](int user) {
      const FusableNode& n = fusable_.nodes[static_cast<size_t>(user)];
      const bool over_the_row = n.kind == FusedKind::reduce && n.row_dims == 1;
      return n.can_be_member() && (over_the_row || n.shape() == shape);
    });
  }

  const FuseGraph fusable_;
  Rewriter now_;
};

}  // namespace

std::shared_ptr<graph::Graph> expand(const std::shared_ptr<graph::Graph>& graph) {
  if (!is_fusion_on()) return graph;
  const std::shared_ptr<graph::Graph> written = Expander(*graph).run();
  return written ? written : graph;
}

}  // namespace tidemark::compile
