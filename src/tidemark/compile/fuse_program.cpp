#include "tidemark/compile/fuse_program.h"

#include <algorithm>
#include <cmath>

#include "tidemark/base/plain_type.h"
#include "tidemark/compile/rewrite.h"
#include "tidemark/ops/number_attrs.h"

namespace tidemark::compile {

namespace {

class Translator {
 public:
  Translator(const FuseGraph& graph, const FuseGroup& group)
      : g_(graph), group_(group), value_(graph.size(), fusion::kNoValue) {}

  std::optional<GroupProgram> run(const std::vector<bool>& is_wanted) {
    builder_.set_row_dims(group_.row_dims);
    for (const int m : group_.members) {
      const FusableNode& n = g_.nodes[static_cast<size_t>(m)];
      if (n.kind == FusedKind::random) {
        value_[static_cast<size_t>(m)] = draw(n);
        continue;
      }
      std::vector<fusion::Value> args;
      for (const FusedOperand& o : n.operands) args.push_back(operand(o));
      value_[static_cast<size_t>(m)] = translate(n, args);
    }
    for (const int m : group_.members) {
      const FusableNode& n = g_.nodes[static_cast<size_t>(m)];
      bool leaves = is_wanted[static_cast<size_t>(m)];
      for (const int alias : n.aliases) leaves |= is_wanted[static_cast<size_t>(alias)];
      if (!leaves) continue;
      const bool drops = n.is_reduction() && n.drops_dims;
      builder_.output(value_[static_cast<size_t>(m)], drops);
      result_.outputs.push_back(m);
    }
    if (group_.product >= 0) add_product(is_wanted);
    if (result_.outputs.empty() || result_.inputs.size() > fusion::kMaxInputs) return {};
    result_.program = builder_.finish();
    if (!has_right_shapes()) return {};
    result_.is_swept = group_.updates;
    return std::move(result_);
  }

 private:
  void add_product(const std::vector<bool>& is_wanted) {
    const int read = group_.views.empty() ? group_.product : group_.views.front();
    const Tensor value = graph::output_of(*g_.nodes[static_cast<size_t>(read)].node, 0);
    for (size_t i = 0; i < result_.inputs.size(); ++i) {
      if (is_same(result_.inputs[i], value)) result_.product = static_cast<int>(i);
    }
    if (!is_wanted[static_cast<size_t>(group_.product)]) return;
    builder_.output(load(value));
    result_.outputs.push_back(group_.product);
  }

  fusion::Value draw(const FusableNode& n) {
    const bool uniform = n.drawn == fusion::Drawn::uniform;
    const auto attr = [&](const char* name) {
      return n.node->attrs[static_cast<size_t>(n.node->op->attr_index(name))].as_real();
    };
    const Tensor& seed = n.operands[0].load;
    result_.inputs.push_back(seed);
    const double first = attr(uniform ? "minval" : "mean");
    const double second = attr(uniform ? "maxval" : "stddev");
    const uint16_t input = builder_.seed_input(seed.dtype());
    return n.node->op->input_param(1).name == "stream"
               ? builder_.random_from_stream(n.drawn, DType::float32, first, second, input)
               : builder_.random(n.drawn, DType::float32, first, second, input);
  }

  fusion::Value operand(const FusedOperand& o) {
    if (o.producer >= 0 && value_[static_cast<size_t>(o.producer)] != fusion::kNoValue) {
      return value_[static_cast<size_t>(o.producer)];
    }
    return load(o.load);
  }

  fusion::Value load(const Tensor& t) {
    for (const auto& [known, value] : loads_) {
      if (is_same(known, t)) return value;
    }
    double number = 0;
    const fusion::Value value =
        single_number(t, number) ? builder_.constant(t.dtype(), number) : new_input(t);
    loads_.emplace_back(t, value);
    return value;
  }

  fusion::Value new_input(const Tensor& t) {
    result_.inputs.push_back(t);
    return builder_.load(t.dtype(),
                         is_one_a_row(t.shape()) ? fusion::Level::row : fusion::Level::element);
  }

  static bool is_same(const Tensor& a, const Tensor& b) {
    if (a.is_symbolic() != b.is_symbolic()) return false;
    if (!a.is_symbolic()) return a.impl() == b.impl();
    return &graph::node_of(a) == &graph::node_of(b) &&
           graph::symbolic(a).index == graph::symbolic(b).index;
  }

  /// A double that holds the only element exactly, where that is known.
  static bool single_number(const Tensor& t, double& number) {
    if (t.num_elements() != 1) return false;
    const Tensor element = constant_value(t);
    if (!element) return false;
    bool exact = false;
    with_plain_type(t.dtype(), [&](auto zero) {
      using T = decltype(zero);
      if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
        number = static_cast<float>(*element.data<T>());
        exact = true;
      } else if constexpr (std::is_arithmetic_v<T>) {
        const T value = *element.data<T>();
        number = static_cast<double>(value);
        exact = std::is_floating_point_v<T> || std::abs(number) < 0x1p53;
      }
    });
    return exact;
  }

  bool is_one_a_row(const Shape& shape) const {
    if (!group_.reduces_rows) return false;
    for (int d = 1; d <= std::min(group_.row_dims, shape.rank()); ++d) {
      if (shape[shape.rank() - d] != 1) return false;
    }
    return true;
  }

  fusion::Value translate(const FusableNode& n, const std::vector<fusion::Value>& args) {
    const graph::Node& node = *n.node;
    switch (n.kind) {
      case FusedKind::cast:
        return builder_.cast(args[0], node.outputs[0].dtype);
      case FusedKind::select:
        return builder_.select(args[0], args[1], args[2]);
      case FusedKind::reduce:
        return builder_.reduce(n.reduction, args[0]);
      case FusedKind::collect:
        return builder_.collect(n.reduction, args[0]);
      default: {
        std::array<double, 2> params = {0, 0};
        read_number_attrs(*node.op, node.attrs, params);
        return builder_.map(*node.op, args, params);
      }
    }
  }

  /// Values that were looked through may have made the space smaller than it has to be.
  bool has_right_shapes() const {
    std::vector<const Shape*> shapes;
    for (const Tensor& t : result_.inputs) shapes.push_back(&t.shape());
    const Shape space = fusion::space_of(result_.program, shapes);
    if (space != group_.space) return false;
    for (size_t o = 0; o < result_.outputs.size(); ++o) {
      const FusableNode& n = g_.nodes[static_cast<size_t>(result_.outputs[o])];
      const Shape& wanted = n.drops_dims ? n.node->outputs[0].shape : n.shape();
      if (fusion::output_shape(result_.program, o, space) != wanted) return false;
      if (result_.program.output_dtype(o) != n.node->outputs[0].dtype) return false;
    }
    return true;
  }

  const FuseGraph& g_;
  const FuseGroup& group_;
  fusion::Builder builder_;
  std::vector<fusion::Value> value_;
  std::vector<std::pair<Tensor, fusion::Value>> loads_;
  GroupProgram result_;
};

}  // namespace

std::optional<GroupProgram> program_of(const FuseGraph& graph, const FuseGroup& group,
                                       const std::vector<bool>& is_wanted) {
  return Translator(graph, group).run(is_wanted);
}

}  // namespace tidemark::compile
