#include "tidemark/compile/row_rules.h"

#include <algorithm>
#include <unordered_map>

#include "tidemark/compile/rewrite.h"

namespace tidemark::compile {

namespace {

/// A call whose sizes are all known, and the answer about it.
class Question {
 public:
  Question(const OpCall& call, std::span<const Shape> outputs, int64_t units)
      : call(call), outputs(outputs), units(units) {}

  const OpCall& call;
  std::span<const Shape> outputs;
  int64_t units;

  const Shape& in(size_t i) const { return call.inputs[i].shape(); }
  const Shape& out(size_t i = 0) const { return outputs[i]; }
  const Attr& attr(std::string_view name) const { return call.attr(name); }
  bool flag(std::string_view name) const { return attr(name).as_bool(); }
  DType dtype() const { return call.inputs[0].dtype(); }
  /// The elements, where they are known while planning.
  std::optional<Ints> known(size_t i) const {
    const Tensor value = constant_value(call.inputs[i]);
    if (!value) return std::nullopt;
    return value.to_ints();
  }

  /// Rows of the first output.
  int64_t rows() const { return out().rank() > 0 ? out()[0] : 0; }
  bool has_rows(const Shape& s) const { return s.rank() > 0 && s[0] == rows(); }
  /// Takes part in the broadcasting to the first output: its rows, or the same for all rows.
  RowRole broadcast(size_t i) const {
    return in(i).rank() == out().rank() && has_rows(in(i)) ? RowRole::rows : RowRole::whole;
  }

 private:
};

using Answer = std::optional<RowRule>;
using Rule = Answer (*)(const Question&);

constexpr RowRole R = RowRole::rows, W = RowRole::whole, S = RowRole::sizes;

Answer no() { return std::nullopt; }

/// All outputs are rows, as many as the first has; so are the inputs that are said to be.
Answer rows(const Question& q, std::vector<RowRole> inputs) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == R && !q.has_rows(q.in(i))) return no();
  }
  for (const Shape& out : q.outputs) {
    if (!q.has_rows(out)) return no();
  }
  return RowRule{std::move(inputs), std::vector<RowResult>(q.outputs.size(), RowResult::rows)};
}

Answer all_rows(const Question& q) {
  return rows(q, std::vector<RowRole>(q.call.inputs.size(), R));
}
Answer first_rows(const Question& q) {
  std::vector<RowRole> inputs(q.call.inputs.size(), W);
  inputs[0] = R;
  return rows(q, std::move(inputs));
}

Answer elementwise(const Question& q) {
  std::vector<RowRole> inputs;
  for (size_t i = 0; i < q.call.inputs.size(); ++i) inputs.push_back(q.broadcast(i));
  return rows(q, std::move(inputs));
}

/// Sums over rows that are made of sums over parts: only where those round little.
bool can_add(DType dtype) {
  return dtype == DType::float32 || dtype == DType::float64 || dtype == DType::int32 ||
         dtype == DType::int64;
}

/// Axes by an attribute that is none (all of them), a number or a list.
bool has_axis_0(const Attr& axis, int rank) {
  if (axis.is_none()) return true;
  if (axis.kind() == AttrKind::integer) return axis.as_int() == 0 || axis.as_int() == -rank;
  const Ints& all = axis.as_ints();
  return std::any_of(all.begin(), all.end(), [&](int64_t a) { return a == 0 || a == -rank; });
}

// --- reductions, scans, sorting ---------------------------------------------------------------

Answer along_axis(const Question& q) {
  return has_axis_0(q.attr("axis"), q.in(0).rank()) ? no() : first_rows(q);
}

Answer reduction(const Question& q) {
  if (!has_axis_0(q.attr("axis"), q.in(0).rank())) return first_rows(q);
  const std::string& name = q.call.op.name();
  const bool is_float = q.dtype() == DType::float32 || q.dtype() == DType::float64;
  if (name == "sum" && can_add(q.dtype())) return RowRule{{R}, {RowResult::sum}};
  if (name == "mean" && is_float) return RowRule{{R}, {RowResult::mean}};
  if (name == "max") return RowRule{{R}, {RowResult::maximum}};
  if (name == "min") return RowRule{{R}, {RowResult::minimum}};
  return no();
}

Answer softmax(const Question& q) {
  if (q.in(0).rank() < 2) return no();
  const Attr& axis = q.attr("axis");
  if (!axis.is_none() && has_axis_0(axis, q.in(0).rank())) return no();
  return all_rows(q);
}

Answer rows_of_matrix(const Question& q) { return q.in(0).rank() < 2 ? no() : first_rows(q); }
Answer cross_entropy(const Question& q) { return q.in(0).rank() < 2 ? no() : all_rows(q); }

// --- products ---------------------------------------------------------------------------------

Answer matmul(const Question& q) {
  const bool turns_a = q.flag("transpose_a") || q.flag("adjoint_a");
  const bool turns_b = q.flag("transpose_b") || q.flag("adjoint_b");
  if (q.out().rank() > 2) return rows(q, {q.broadcast(0), q.broadcast(1)});
  if (!turns_a) return rows(q, {R, W});
  if (turns_b || !can_add(q.dtype())) return no();
  return RowRule{{R, R}, {RowResult::sum}};
}

Answer filter_grad(const Question& q) {
  return can_add(q.dtype()) ? Answer(RowRule{{R, W, R}, {RowResult::sum}}) : no();
}

Answer attention(const Question& q) {
  if (q.out().rank() < 3) return no();
  std::vector<RowRole> inputs(q.call.inputs.size(), R);
  inputs[3] = q.broadcast(3);
  if (inputs.size() > 7 && q.in(7).rank() == 0) inputs[7] = W;
  return rows(q, std::move(inputs));
}

Answer norm(const Question& q) { return rows_of_matrix(q); }
Answer norm_grad(const Question& q) {
  if (q.in(0).rank() < 2 || !can_add(q.dtype())) return no();
  std::vector<RowRole> inputs(q.call.inputs.size(), R);
  inputs[1] = W;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i] == R && !q.has_rows(q.in(i))) return no();
  }
  std::vector<RowResult> results(q.outputs.size(), RowResult::sum);
  results[0] = RowResult::rows;
  return RowRule{std::move(inputs), std::move(results)};
}

// --- movement ---------------------------------------------------------------------------------

/// Elements keep their order, so rows of one shape are rows of the other as far as units go.
Answer reshape(const Question& q) {
  if (q.in(0).rank() == 0 || q.in(0).num_elements() == 0) return no();
  return RowRule{{R, S}, {RowResult::rows}};
}

Answer transpose(const Question& q) {
  const Attr& perm = q.attr("perm");
  if (perm.is_none() || perm.as_ints().empty()) return q.out().rank() == 1 ? first_rows(q) : no();
  return perm.as_ints()[0] == 0 ? first_rows(q) : no();
}

Answer expand_dims(const Question& q) {
  return has_axis_0(q.attr("axis"), q.out().rank()) ? no() : first_rows(q);
}
/// Without axes a part of a single row would lose that dimension too.
Answer squeeze(const Question& q) {
  const Attr& axis = q.attr("axis");
  if (axis.is_none() || (axis.kind() == AttrKind::ints && axis.as_ints().empty())) return no();
  return has_axis_0(axis, q.in(0).rank()) ? no() : first_rows(q);
}

Answer broadcast_to(const Question& q) { return rows(q, {q.broadcast(0), S}); }
Answer fill(const Question& q) { return rows(q, {S, W}); }
Answer one_hot(const Question& q) {
  return has_axis_0(q.attr("axis"), q.out().rank()) ? no() : first_rows(q);
}

Answer join(const Question& q) {
  return has_axis_0(q.attr("axis"), q.out().rank()) ? no() : all_rows(q);
}

Answer tile(const Question& q) {
  const auto multiples = q.known(1);
  return multiples && !multiples->empty() && (*multiples)[0] == 1 ? first_rows(q) : no();
}
Answer repeat(const Question& q) {
  return has_axis_0(q.attr("axis"), q.in(0).rank()) ? no() : first_rows(q);
}
Answer pad(const Question& q) {
  const auto paddings = q.known(1);
  if (!paddings || paddings->size() < 2) return no();
  return (*paddings)[0] == 0 && (*paddings)[1] == 0 ? first_rows(q) : no();
}

Answer slice(const Question& q) {
  const auto begin = q.known(1);
  if (!begin || begin->empty() || (*begin)[0] != 0) return no();
  return rows(q, {R, W, S});
}

/// The first dimension is taken whole: an end at or behind its last row is one for parts too.
bool takes_all_rows(const Question& q, size_t begin_at, int64_t rows) {
  const auto begin = q.known(begin_at), end = q.known(begin_at + 1), by = q.known(begin_at + 2);
  if (!begin || !end || !by || begin->empty()) return false;
  const auto bit = [&](const char* mask) { return (q.attr(mask).as_int() & 1) != 0; };
  if (bit("ellipsis_mask") || bit("new_axis_mask") || bit("shrink_axis_mask")) return false;
  return (bit("begin_mask") || (*begin)[0] == 0) && (bit("end_mask") || (*end)[0] >= rows) &&
         (*by)[0] == 1;
}
Answer strided_slice(const Question& q) {
  if (q.in(0).rank() == 0 || !takes_all_rows(q, 1, q.in(0)[0])) return no();
  return first_rows(q);
}
Answer strided_slice_grad(const Question& q) {
  if (!takes_all_rows(q, 1, q.rows())) return no();
  return rows(q, {S, W, W, W, R});
}

Answer gather(const Question& q) {
  const int64_t batch = q.attr("batch_dims").as_int();
  if (batch != 0) return batch > 0 ? all_rows(q) : no();
  const Attr& axis = q.attr("axis");
  if (!axis.is_none() && !has_axis_0(axis, q.in(0).rank())) return rows(q, {R, W});
  return q.in(1).rank() > 0 ? rows(q, {W, R}) : no();
}
Answer gather_grad(const Question& q) {
  const int64_t batch = q.attr("batch_dims").as_int();
  if (batch != 0) return batch > 0 ? rows(q, {R, R, S}) : no();
  const Attr& axis = q.attr("axis");
  if (!axis.is_none() && !has_axis_0(axis, q.out().rank())) return rows(q, {W, R, S});
  const Shape &indices = q.in(0), &dy = q.in(1);
  if (indices.rank() == 0 || dy.rank() == 0 || indices[0] != dy[0]) return no();
  return can_add(dy.rank() > 0 ? q.call.inputs[1].dtype() : DType::invalid)
             ? Answer(RowRule{{R, R, W}, {RowResult::sum}})
             : no();
}

Answer pool_with_argmax(const Question& q) {
  return q.flag("include_batch_in_index") ? no() : first_rows(q);
}

const std::unordered_map<std::string_view, Rule>& table() {
  static const std::unordered_map<std::string_view, Rule> rules = {
      {"identity", first_rows},
      {"stop_gradient", first_rows},
      {"zeros_like", first_rows},
      {"ones_like", first_rows},
      {"add_n", all_rows},
      {"sum", reduction},
      {"mean", reduction},
      {"max", reduction},
      {"min", reduction},
      {"prod", reduction},
      {"any", reduction},
      {"all", reduction},
      {"logsumexp", reduction},
      {"variance", reduction},
      {"std", reduction},
      {"euclidean_norm", reduction},
      {"argmax", along_axis},
      {"argmin", along_axis},
      {"cumsum", along_axis},
      {"cumprod", along_axis},
      {"cumulative_logsumexp", along_axis},
      {"sort", along_axis},
      {"argsort", along_axis},
      {"reverse", along_axis},
      {"roll", along_axis},
      {"top_k", rows_of_matrix},
      {"in_top_k", all_rows},
      {"softmax", softmax},
      {"log_softmax", softmax},
      {"softmax_grad", softmax},
      {"log_softmax_grad", softmax},
      {"sparse_softmax_cross_entropy", cross_entropy},
      {"sparse_softmax_cross_entropy_grad", cross_entropy},
      {"softmax_cross_entropy", cross_entropy},
      {"softmax_cross_entropy_grad", cross_entropy},
      {"matmul", matmul},
      {"attention", attention},
      {"attention_grad", attention},
      {"layer_norm", norm},
      {"layer_norm_grad", norm_grad},
      {"rms_norm", norm},
      {"rms_norm_grad", norm_grad},
      {"convolution", first_rows},
      {"convolution_input_grad",
       [](const Question& q) {
         return rows(q, {S, W, R});
       }},
      {"convolution_filter_grad", filter_grad},
      {"max_pool", all_rows},
      {"max_pool_with_argmax", pool_with_argmax},
      {"max_pool_grad", all_rows},
      {"max_pool_take", all_rows},
      {"avg_pool", all_rows},
      {"avg_pool_grad",
       [](const Question& q) {
         return rows(q, {S, R});
       }},
      {"resize_images", first_rows},
      {"resize_images_grad", first_rows},
      {"reshape", reshape},
      {"transpose", transpose},
      {"expand_dims", expand_dims},
      {"squeeze", squeeze},
      {"broadcast_to", broadcast_to},
      {"fill", fill},
      {"one_hot", one_hot},
      {"concat", join},
      {"stack", join},
      {"unstack",
       [](const Question& q) {
         return has_axis_0(q.attr("axis"), q.in(0).rank()) ? no() : all_rows(q);
       }},
      {"split", along_axis},
      {"tile", tile},
      {"repeat", repeat},
      {"pad", pad},
      {"mirror_pad_grad", pad},
      {"slice", slice},
      {"strided_slice", strided_slice},
      {"strided_slice_grad", strided_slice_grad},
      {"gather", gather},
      {"gather_grad", gather_grad},
  };
  return rules;
}

bool divides(const Shape& shape, int64_t units) {
  return shape.rank() > 0 && shape[0] > 0 && shape[0] % units == 0;
}

}  // namespace

std::optional<RowRule> row_rule(const OpCall& call, std::span<const Shape> outputs, int64_t units) {
  const OpDef& op = call.op;
  if (op.is_stateful() || outputs.empty() || units < 2) return no();
  for (const Tensor& t : call.inputs) {
    if (!t.shape().is_fully_known() || t.dtype() == DType::string) return no();
  }
  for (const Shape& shape : outputs) {
    if (!shape.is_fully_known()) return no();
  }
  const auto known = table().find(op.name());
  if (known == table().end() && !op.is_elementwise()) return no();
  const Question question(call, outputs, units);
  Answer answer = known == table().end() ? elementwise(question) : known->second(question);
  if (!answer) return no();
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (answer->inputs[i] == R && !divides(call.inputs[i].shape(), units)) return no();
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (answer->outputs[i] == RowResult::rows && !divides(outputs[i], units)) return no();
  }
  return answer;
}

std::vector<Tensor> inputs_of_part(const OpCall& call, const Shape& whole_output,
                                   const RowRule& rule, std::vector<Tensor> part, int64_t begin,
                                   int64_t end, int64_t units) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (rule.inputs[i] != S) continue;
    Ints dims(whole_output.begin(), whole_output.end());
    dims[0] = dims[0] / units * (end - begin);
    const Tensor wide = Tensor::of(std::span<const int64_t>(dims), {whole_output.rank()});
    if (call.inputs[i].dtype() != DType::int32) {
      part[i] = wide;
    } else {
      const std::vector<int32_t> narrow(dims.begin(), dims.end());
      part[i] = Tensor::of(std::span<const int32_t>(narrow), {whole_output.rank()});
    }
  }
  return part;
}

std::vector<std::string_view> ops_with_row_rules() {
  std::vector<std::string_view> names;
  for (const auto& [name, rule] : table()) names.push_back(name);
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tidemark::compile
