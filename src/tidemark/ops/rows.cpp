#include <tidemark/rows.h>

#include <algorithm>

#include "tidemark/graph/specials.h"

namespace tidemark {

std::optional<Ints> RowQuestion::known(size_t i) const {
  const Tensor& t = call_.inputs[i];
  Tensor value = t;
  if (t.is_symbolic()) {
    const graph::Node& node = graph::node_of(t);
    value = graph::is_constant(node) ? node.inputs[0] : graph::known_value(t);
  }
  if (!value) return std::nullopt;
  return value.to_ints();
}

std::optional<RowRule> RowQuestion::rows(std::vector<RowRole> inputs) const {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == RowRole::rows && !has_rows(in(i))) return std::nullopt;
  }
  for (const Shape& out : outputs_) {
    if (!has_rows(out)) return std::nullopt;
  }
  return RowRule{std::move(inputs), std::vector<RowResult>(outputs_.size(), RowResult::rows)};
}

bool RowQuestion::names_first(std::string_view axis, int rank) const {
  const Attr& given = attr(axis);
  const auto is_first = [&](int64_t a) { return a == 0 || a == -rank; };
  if (given.is_none()) return !call_.op.is_along_axis() || is_first(call_.op.axis_unless_given());
  if (given.kind() == AttrKind::integer) return is_first(given.as_int());
  const Ints& all = given.as_ints();
  return std::any_of(all.begin(), all.end(), is_first);
}

bool RowQuestion::can_add(size_t input) const {
  const DType d = dtype(input);
  return d == DType::float32 || d == DType::float64 || d == DType::int32 || d == DType::int64;
}

namespace rows {

Answer elementwise(const RowQuestion& q) {
  std::vector<RowRole> inputs;
  for (size_t i = 0; i < q.num_inputs(); ++i) inputs.push_back(q.broadcast(i));
  return q.rows(std::move(inputs));
}

Answer every_input(const RowQuestion& q) {
  return q.rows(std::vector<RowRole>(q.num_inputs(), RowRole::rows));
}

Answer first_input(const RowQuestion& q) {
  std::vector<RowRole> inputs(q.num_inputs(), RowRole::whole);
  inputs[0] = RowRole::rows;
  return q.rows(std::move(inputs));
}

Answer first_input_of_matrices(const RowQuestion& q) {
  return q.in(0).rank() < 2 ? std::nullopt : first_input(q);
}

Answer every_input_of_matrices(const RowQuestion& q) {
  return q.in(0).rank() < 2 ? std::nullopt : every_input(q);
}

Answer along_axis(const RowQuestion& q) {
  if (q.names_first("axis", q.in(0).rank())) return std::nullopt;
  std::vector<RowRole> inputs;
  for (size_t i = 0; i < q.num_inputs(); ++i) {
    inputs.push_back(q.in(i) == q.in(0) ? RowRole::rows : RowRole::whole);
  }
  return q.rows(std::move(inputs));
}

Answer along_axis_of_output(const RowQuestion& q) {
  return q.names_first("axis", q.out().rank()) ? std::nullopt : first_input(q);
}

Answer reduction(const RowQuestion& q) {
  if (!q.names_first("axis", q.in(0).rank())) return first_input(q);
  const auto combined = [](RowResult how) { return RowRule{{RowRole::rows}, {how}}; };
  const bool is_float = q.dtype() == DType::float32 || q.dtype() == DType::float64;
  switch (q.call().op.reduction_kind()) {
    case ReductionKind::sum:
      return q.can_add() ? Answer(combined(RowResult::sum)) : std::nullopt;
    case ReductionKind::mean:
      return is_float ? Answer(combined(RowResult::mean)) : std::nullopt;
    case ReductionKind::maximum:
      return combined(RowResult::maximum);
    case ReductionKind::minimum:
      return combined(RowResult::minimum);
    case ReductionKind::none:
    case ReductionKind::product:
    case ReductionKind::logical:
    case ReductionKind::other:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace rows

}  // namespace tidemark
