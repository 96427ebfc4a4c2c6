#include <tidemark/call.h>
#include <tidemark/einsum.h>

#include <algorithm>
#include <map>

#include "tidemark/memory/context.h"
#include "tidemark/ops/einsum_equation.h"
#include "tidemark/ops/movement.h"

namespace tidemark {

namespace {

using movement::ints_tensor;

bool contains(const Labels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

/// A tensor whose dimensions carry labels.
struct Labelled {
  Tensor tensor;
  Labels labels;

  int axis(int label) const {
    return static_cast<int>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  }
  int64_t size(int label) const { return tensor.dim(axis(label)); }
};

/// Sizes of dimensions, some of which may only be known when a graph runs: then as tensors.
class TargetShape {
 public:
  void known(int64_t size) { parts_.push_back({size, {}}); }
  /// The product of those dimensions.
  void product(const Labelled& source, const Labels& labels) {
    Part part{1, {}};
    for (int label : labels) {
      const int64_t size = source.size(label);
      if (size != kUnknownDim) {
        part.size *= size;
        continue;
      }
      const Tensor sizes = call("shape", {source.tensor}, {{"out_type", DType::int64}});
      const Tensor one =
          call("slice", {sizes, ints_tensor({source.axis(label)}), ints_tensor({1})});
      part.factor = part.factor ? part.factor * one : one;
    }
    parts_.push_back(std::move(part));
  }
  Tensor tensor() const {
    if (std::none_of(parts_.begin(), parts_.end(), [](const Part& p) { return bool(p.factor); })) {
      Ints sizes;
      for (const Part& p : parts_) sizes.push_back(p.size);
      return ints_tensor(sizes);
    }
    std::vector<Tensor> pieces;
    for (const Part& p : parts_) {
      const Tensor size = ints_tensor({p.size});
      pieces.push_back(p.factor ? p.factor * size : size);
    }
    return call_all("concat", pieces, {{"axis", 0}})[0];
  }

 private:
  struct Part {
    int64_t size;
    Tensor factor;  // one element; empty: 1
  };
  std::vector<Part> parts_;
};

Labelled transposed(const Labelled& x, const Labels& wanted) {
  if (x.labels == wanted) return x;
  Ints perm;
  for (int label : wanted) perm.push_back(x.axis(label));
  return {call("transpose", {x.tensor}, {{"perm", perm}}), wanted};
}

Tensor reshaped(const Tensor& t, const TargetShape& shape) {
  return call("reshape", {t, shape.tensor()});
}

class Contraction {
 public:
  Contraction(std::string_view equation, std::span<const Tensor> operands) : equation_(equation) {
    std::vector<Shape> shapes;
    for (const Tensor& t : operands) shapes.push_back(t.shape());
    EinsumEquation parsed = parse_einsum(equation, shapes);
    output_ = std::move(parsed.output);
    for (size_t i = 0; i < operands.size(); ++i) {
      operands_.push_back({operands[i], std::move(parsed.inputs[i])});
    }
    find_sizes();
    for (Labelled& x : operands_) simplify(x);
  }

  Tensor run() {
    while (operands_.size() > 1) {
      const auto [i, j] = cheapest_pair();
      Labelled a = std::move(operands_[i]), b = std::move(operands_[j]);
      operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(j));
      operands_.erase(operands_.begin() + static_cast<std::ptrdiff_t>(i));
      operands_.push_back(contract(a, b));
    }
    return finish(operands_[0]);
  }

 private:
  void find_sizes() {
    for (size_t i = 0; i < operands_.size(); ++i) {
      const Labelled& x = operands_[i];
      for (size_t axis = 0; axis < x.labels.size(); ++axis) {
        const int label = x.labels[axis];
        const int64_t size = x.tensor.dim(static_cast<int>(axis));
        auto [place, is_new] = sizes_.emplace(label, size);
        const bool broadcasts = label >= kEllipsis && (size == 1 || place->second == 1);
        if (place->second == kUnknownDim || (broadcasts && place->second == 1)) {
          place->second = size;
        } else if (!is_new && size != kUnknownDim && size != place->second && !broadcasts) {
          fail_sizes(i, label, place->second, size);
        }
      }
    }
  }

  [[noreturn]] void fail_sizes(size_t operand, int label, int64_t expected, int64_t size) const {
    const std::string name = label >= kEllipsis ? "a dimension of \"...\""
                                                : message("'", std::string(1, char(label)), "'");
    fail<InvalidArgumentError>("[einsum] equation \"", equation_, "\": ", name, " has size ", size,
                               " in operand ", operand, " and size ", expected,
                               " before; every label stands for one size");
  }

  /// Labels once an operand, none of size 1 that broadcasts, none that only it has and nobody asks.
  void simplify(Labelled& x) {
    take_diagonals(x);
    Ints ones;
    Labels rest;
    for (size_t axis = 0; axis < x.labels.size(); ++axis) {
      const bool broadcasts = x.labels[axis] >= kEllipsis &&
                              x.tensor.dim(static_cast<int>(axis)) == 1 &&
                              sizes_.at(x.labels[axis]) != 1;
      if (broadcasts) {
        ones.push_back(static_cast<int64_t>(axis));
      } else {
        rest.push_back(x.labels[axis]);
      }
    }
    if (!ones.empty()) x = {call("squeeze", {x.tensor}, {{"axis", ones}}), rest};
  }

  static void take_diagonals(Labelled& x) {
    for (size_t i = 0; i < x.labels.size(); ++i) {
      for (size_t j = i + 1; j < x.labels.size(); ++j) {
        if (x.labels[i] != x.labels[j]) continue;
        const int label = x.labels[i];
        Ints perm;
        Labels rest;
        for (size_t axis = 0; axis < x.labels.size(); ++axis) {
          if (axis == i || axis == j) continue;
          perm.push_back(static_cast<int64_t>(axis));
          rest.push_back(x.labels[axis]);
        }
        perm.push_back(static_cast<int64_t>(i));
        perm.push_back(static_cast<int64_t>(j));
        rest.push_back(label);
        x = {call("diag_part", {call("transpose", {x.tensor}, {{"perm", perm}})}), rest};
        return take_diagonals(x);
      }
    }
  }

  /// Whether anyone but the operands i and j wants the label.
  bool is_wanted(int label, size_t i, size_t j) const {
    if (contains(output_, label)) return true;
    for (size_t k = 0; k < operands_.size(); ++k) {
      if (k != i && k != j && contains(operands_[k].labels, label)) return true;
    }
    return false;
  }

  double known_size(int label) const {
    const int64_t size = sizes_.at(label);
    return size == kUnknownDim ? 32 : static_cast<double>(size);
  }

  double elements(const Labels& labels) const {
    double product = 1;
    for (int label : labels) product *= known_size(label);
    return product;
  }

  /// The pair whose product needs the least memory more than its operands, then the least work.
  std::pair<size_t, size_t> cheapest_pair() const {
    std::pair<size_t, size_t> best{0, 1};
    double least = 0, least_work = 0;
    bool found = false;
    for (size_t i = 0; i < operands_.size(); ++i) {
      for (size_t j = i + 1; j < operands_.size(); ++j) {
        Labels all = operands_[i].labels, kept;
        for (int label : operands_[j].labels) {
          if (!contains(all, label)) all.push_back(label);
        }
        for (int label : all) {
          if (is_wanted(label, i, j)) kept.push_back(label);
        }
        const double growth =
            elements(kept) - elements(operands_[i].labels) - elements(operands_[j].labels);
        const double work = elements(all);
        if (!found || growth < least || (growth == least && work < least_work)) {
          best = {i, j};
          least = growth;
          least_work = work;
          found = true;
        }
      }
    }
    return best;
  }

  /// Labels of an operand that nobody else has are summed away.
  static Labelled without(const Labelled& x, const Labels& gone) {
    if (gone.empty()) return x;
    Ints axes;
    Labels rest;
    for (size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (contains(gone, x.labels[axis])) {
        axes.push_back(static_cast<int64_t>(axis));
      } else {
        rest.push_back(x.labels[axis]);
      }
    }
    return {call("sum", {x.tensor}, {{"axis", axes}}), rest};
  }

  struct Groups {
    Labels batch, summed, free_a, free_b;
  };

  /// Sums out what only one of them has, and sorts the labels of the rest.
  Groups group(Labelled& a, Labelled& b) const {
    Groups g;
    const size_t none = operands_.size();
    Labels only_a, only_b;
    for (int label : a.labels) {
      const bool wanted = is_wanted(label, none, none);
      if (contains(b.labels, label)) {
        (wanted ? g.batch : g.summed).push_back(label);
      } else {
        (wanted ? g.free_a : only_a).push_back(label);
      }
    }
    for (int label : b.labels) {
      if (contains(a.labels, label)) continue;
      (is_wanted(label, none, none) ? g.free_b : only_b).push_back(label);
    }
    a = without(a, only_a);
    b = without(b, only_b);
    return g;
  }

  /// The operand as a batch of matrices: rows x columns, or the other way round if that needs no
  /// copy; says which.
  static Tensor as_matrices(const Labelled& x, const Labels& batch, const Labels& rows,
                            const Labels& columns, bool& swapped) {
    Labels straight = batch, crossed = batch;
    straight.insert(straight.end(), rows.begin(), rows.end());
    straight.insert(straight.end(), columns.begin(), columns.end());
    crossed.insert(crossed.end(), columns.begin(), columns.end());
    crossed.insert(crossed.end(), rows.begin(), rows.end());
    swapped = x.labels == crossed && x.labels != straight;
    const Labelled ordered = transposed(x, swapped ? crossed : straight);
    TargetShape shape;
    for (int label : batch) shape.product(ordered, {label});
    shape.product(ordered, swapped ? columns : rows);
    shape.product(ordered, swapped ? rows : columns);
    return reshaped(ordered.tensor, shape);
  }

  Labelled contract(Labelled a, Labelled b) const {
    const Groups g = group(a, b);
    Labelled result;
    result.labels = g.batch;
    result.labels.insert(result.labels.end(), g.free_a.begin(), g.free_a.end());
    result.labels.insert(result.labels.end(), g.free_b.begin(), g.free_b.end());
    bool swap_a = false, swap_b = false;
    const Tensor left = as_matrices(a, g.batch, g.free_a, g.summed, swap_a);
    const Tensor right = as_matrices(b, g.batch, g.summed, g.free_b, swap_b);
    Tensor product;
    if (g.summed.empty() && !swap_a && !swap_b) {
      product = left * right;  // columns times rows: broadcasting does it
    } else {
      product = call("matmul", {left, right}, {{"transpose_a", swap_a}, {"transpose_b", swap_b}});
    }
    TargetShape shape;
    for (int label : g.batch) shape.product(a, {label});
    for (int label : g.free_a) shape.product(a, {label});
    for (int label : g.free_b) shape.product(b, {label});
    result.tensor = reshaped(product, shape);
    return result;
  }

  /// Sums what is left over, orders the dimensions, and puts repeated labels on diagonals.
  Tensor finish(Labelled x) const {
    Labels gone, unique;
    for (int label : x.labels) {
      if (!contains(output_, label)) gone.push_back(label);
    }
    x = without(x, gone);
    for (int label : output_) {
      // A dimension of "..." may be 1 everywhere it appears, but is always there.
      if (!contains(unique, label)) unique.push_back(label);
    }
    x = transposed(x, unique);
    for (int label : unique) {
      const auto times = std::count(output_.begin(), output_.end(), label);
      for (auto n = times; n > 1; --n) x = spread(x, label);
    }
    return in_output_order(x);
  }

  /// The last dimension of that label becomes two, with the values where both indices agree.
  static Labelled spread(const Labelled& x, int label) {
    Labels order;
    Ints perm;
    const auto last = static_cast<size_t>(
        std::find(x.labels.rbegin(), x.labels.rend(), label).base() - x.labels.begin() - 1);
    for (size_t axis = 0; axis < x.labels.size(); ++axis) {
      if (axis == last) continue;
      perm.push_back(static_cast<int64_t>(axis));
      order.push_back(x.labels[axis]);
    }
    perm.push_back(static_cast<int64_t>(last));
    order.push_back(label);
    order.push_back(label);
    return {call("diag", {call("transpose", {x.tensor}, {{"perm", perm}})}), order};
  }

  Tensor in_output_order(const Labelled& x) const {
    if (x.labels == output_) return x.tensor;
    Ints perm;
    std::vector<bool> taken(x.labels.size());
    for (int label : output_) {
      for (size_t axis = 0; axis < x.labels.size(); ++axis) {
        if (taken[axis] || x.labels[axis] != label) continue;
        taken[axis] = true;
        perm.push_back(static_cast<int64_t>(axis));
        break;
      }
    }
    return call("transpose", {x.tensor}, {{"perm", perm}});
  }

  std::string_view equation_;
  std::vector<Labelled> operands_;
  Labels output_;
  std::map<int, int64_t> sizes_;
};

}  // namespace

Tensor einsum(std::string_view equation, std::span<const Tensor> operands) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  if (operands.empty()) fail<InvalidArgumentError>("[einsum] needs at least one operand");
  return Contraction(equation, operands).run();
}

Tensor einsum(std::string_view equation, std::initializer_list<Tensor> operands) {
  const memory::ScopedSite here(memory::site_of_address(__builtin_return_address(0)));
  return einsum(equation, std::span(operands.begin(), operands.size()));
}

}  // namespace tidemark
