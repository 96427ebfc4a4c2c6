#include "tidemark/compile/step_cost.h"

#include <tidemark/op.h>

#include <algorithm>
#include <cmath>

#include "tidemark/compile/target.h"

namespace tidemark::compile {

namespace {

double bytes_touched(const graph::Node& node) {
  double bytes = 0;
  for (const Tensor& t : node.inputs) bytes += static_cast<double>(t.nbytes());
  for (const graph::OutputInfo& out : node.outputs) {
    if (!out.shape.is_fully_known()) continue;
    bytes +=
        static_cast<double>(out.shape.num_elements()) * static_cast<double>(size_of(out.dtype));
  }
  return bytes;
}

double elements(const Shape& shape) {
  return shape.is_fully_known() ? static_cast<double>(shape.num_elements()) : 0;
}

/// Multiplications of a heavy op: the geometric mean of its three largest operands' elements, to
/// the power of 3/2, is what a product of matrices takes, and close for convolutions.
double products(const graph::Node& node, const graph::HeavyWork& inside) {
  std::vector<double> sizes;
  // What comes behind a product multiplies no matrices.
  const size_t operands = inside ? inside.operands : node.inputs.size();
  for (size_t i = 0; i < operands; ++i) sizes.push_back(elements(node.inputs[i].shape()));
  if (inside) {
    sizes.push_back(elements(*inside.result));
  } else {
    for (const graph::OutputInfo& out : node.outputs) sizes.push_back(elements(out.shape));
  }
  std::sort(sizes.rbegin(), sizes.rend());
  if (sizes.size() < 3) return sizes.empty() ? 0 : sizes[0];
  return std::sqrt(sizes[0] * sizes[1] * sizes[2]);
}

}  // namespace

double estimated_seconds(const graph::Node& node) {
  const Costs costs = target_of(node).costs();
  const double touched = costs.seconds_per_step + bytes_touched(node) / costs.bytes_per_second;
  const graph::HeavyWork inside = node.op ? graph::HeavyWork{} : node.special->heavy_work();
  if (!inside && !(node.op && node.op->is_heavy())) return touched;
  return touched + products(node, inside) / costs.products_per_second;
}

double estimated_seconds(const graph::Node& node, int64_t bytes) {
  return static_cast<double>(bytes) / target_of(node).costs().bytes_per_second;
}

}  // namespace tidemark::compile
