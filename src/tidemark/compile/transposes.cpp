#include "tidemark/compile/transposes.h"

#include <tidemark/op.h>

#include <algorithm>
#include <numeric>

namespace tidemark::compile {

const graph::Node* made_by(const Tensor& t, std::string_view op) {
  if (!t.is_symbolic()) return nullptr;
  const graph::Node& node = graph::node_of(t);
  return node.op && node.op->name() == op && node.before.empty() ? &node : nullptr;
}

std::optional<Ints> permutation_of(const graph::Node& node) {
  if (!node.op || node.op->name() != "transpose" || !node.before.empty()) return {};
  if (!node.inputs[0].shape().has_rank() || node.attrs[1].as_bool()) return {};
  const auto rank = static_cast<int64_t>(node.inputs[0].rank());
  Ints permutation(static_cast<size_t>(rank));
  if (node.attrs[0].is_none()) {
    std::iota(permutation.rbegin(), permutation.rend(), int64_t{0});
    return permutation;
  }
  permutation = node.attrs[0].as_ints();
  for (int64_t& axis : permutation) axis += axis < 0 ? rank : 0;
  return permutation;
}

std::optional<Ints> permutation_of(const Tensor& t) {
  return t.is_symbolic() ? permutation_of(graph::node_of(t)) : std::nullopt;
}

bool is_identity(const Ints& permutation) {
  for (size_t i = 0; i < permutation.size(); ++i) {
    if (permutation[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

Ints inverse(const Ints& permutation) {
  Ints back(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    back[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  }
  return back;
}

Ints composed(const Ints& first, const Ints& second) {
  Ints both(second.size());
  for (size_t i = 0; i < second.size(); ++i) both[i] = first[static_cast<size_t>(second[i])];
  return both;
}

bool swaps_last_two(const Ints& permutation) {
  if (permutation.size() < 2) return false;
  Ints swapped = permutation;
  std::swap(swapped[swapped.size() - 1], swapped[swapped.size() - 2]);
  return is_identity(swapped);
}

bool is_reshape(const Ints& permutation, const Shape& shape) {
  if (!shape.is_fully_known()) return false;
  int64_t last = -1;
  for (const int64_t axis : permutation) {
    if (shape[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace tidemark::compile
