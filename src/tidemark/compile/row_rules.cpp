#include "tidemark/compile/row_rules.h"

#include <algorithm>

namespace tidemark::compile {

namespace {

bool divides(const Shape& shape, int64_t units) {
  return shape.rank() > 0 && shape[0] > 0 && shape[0] % units == 0;
}

}  // namespace

std::optional<RowRule> row_rule(const OpCall& call, std::span<const Shape> outputs, int64_t units) {
  const OpDef& op = call.op;
  if (op.is_stateful() || outputs.empty() || units < 2) return std::nullopt;
  for (const Tensor& t : call.inputs) {
    if (!t.shape().is_fully_known() || t.dtype() == DType::string) return std::nullopt;
  }
  for (const Shape& shape : outputs) {
    if (!shape.is_fully_known()) return std::nullopt;
  }
  RowTreatment treatment = op.row_treatment();
  if (!treatment && op.is_elementwise()) treatment = rows::elementwise;
  if (!treatment) return std::nullopt;
  std::optional<RowRule> answer = treatment(RowQuestion(call, outputs));
  if (!answer) return std::nullopt;
  if (answer->inputs.size() != call.inputs.size() || answer->outputs.size() != outputs.size()) {
    fail<InternalError>("[", op.name(), "] has ", call.inputs.size(), " inputs and ",
                        outputs.size(), " outputs; its rule about rows tells of ",
                        answer->inputs.size(), " and ", answer->outputs.size());
  }
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (answer->inputs[i] == RowRole::rows && !divides(call.inputs[i].shape(), units))
      return std::nullopt;
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (answer->outputs[i] == RowResult::rows && !divides(outputs[i], units)) return std::nullopt;
  }
  return answer;
}

std::vector<Tensor> inputs_of_part(const OpCall& call, const Shape& whole_output,
                                   const RowRule& rule, std::vector<Tensor> part, int64_t begin,
                                   int64_t end, int64_t units) {
  for (size_t i = 0; i < part.size(); ++i) {
    if (rule.inputs[i] != RowRole::sizes) continue;
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
  for (const OpDef* op : OpRegistry::instance().all()) {
    if (op->row_treatment()) names.push_back(op->name());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace tidemark::compile
