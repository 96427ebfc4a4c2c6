#include "tidemark/trace/imagined.h"

#include <algorithm>
#include <limits>

#include "tidemark/exec/eager.h"
#include "tidemark/ops/axes.h"
#include "tidemark/tensor/kept_for_runs.h"
#include "tidemark/trace/infer.h"

namespace tidemark::trace {

using graph::Imagined;

namespace {

bool has_elements(const Tensor& t) { return t.impl()->buffer != nullptr; }

/// An unknown element of a shape is like an unknown size.
void imagine_elements(std::vector<Tensor>& inputs, int world) {
  for (Tensor& t : inputs) {
    if (has_elements(t) || !is_integer(t.dtype()) || !t.shape().is_fully_known()) continue;
    if (t.num_elements() == 0 || t.num_elements() > kMostKnownElements) continue;
    const Ints sizes(static_cast<size_t>(t.num_elements()), kSizes[world]);
    if (Tensor imagined = tensor_of_ints(t.dtype(), sizes, t.shape())) t = std::move(imagined);
  }
}

}  // namespace

bool joins_parts_of_a_shape(const OpCall& call) {
  const bool is_joining = !call.inputs.empty() && is_integer(call.inputs[0].dtype()) &&
                          call.op.is_cheap() && !call.op.works_on_elements() &&
                          call.op.input_param(0).kind == Param::Kind::input_list;
  return is_joining && std::any_of(call.inputs.begin(), call.inputs.end(), [](const Tensor& t) {
           return has_elements(t) || (has_worlds(t) && graph::symbolic(t).imagined->value[0]);
         });
}

Tensor stand_in(DType dtype, const Shape& shape) {
  auto impl = std::make_unique<graph::SymbolicImpl>();
  impl->dtype = dtype;
  impl->is_symbolic = true;
  impl->shape = shape;
  impl->num_elements = shape.is_fully_known() ? shape.num_elements() : 0;
  return Tensor::adopt(impl.release());
}

Tensor tensor_of_ints(DType dtype, std::span<const int64_t> values, const Shape& shape) {
  if (dtype == DType::int64) return Tensor::of(values, shape);
  if (dtype != DType::int32) return {};
  std::vector<int32_t> narrow;
  for (const int64_t value : values) {
    if (value != static_cast<int32_t>(value)) return {};
    narrow.push_back(static_cast<int32_t>(value));
  }
  return Tensor::of(std::span<const int32_t>(narrow), shape);
}

Shape in_world(const Shape& shape, int world) {
  Shape out = shape;
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] < 0) out[i] = kSizes[world];
  }
  return out;
}

bool has_varying_elements(const Tensor& t) {
  return has_worlds(t) && graph::symbolic(t).imagined->value[0] && !graph::known_value(t);
}

Tensor input_in_world(const Tensor& t, int world) {
  if (!t.is_symbolic()) return t;
  const Imagined* imagined = graph::symbolic(t).imagined.get();
  if (!imagined) return t;
  if (imagined->value[world]) return imagined->value[world];
  return stand_in(t.dtype(), imagined->shape[world]);
}

std::vector<Tensor> inputs_in_world(const OpCall& call, int world) {
  std::vector<Tensor> out;
  out.reserve(call.inputs.size());
  for (const Tensor& t : call.inputs) out.push_back(input_in_world(t, world));
  if (joins_parts_of_a_shape(call)) imagine_elements(out, world);
  return out;
}

std::vector<Output> run_rule(const OpCall& call, std::span<const Tensor> inputs, size_t count) {
  const OpCall imagined{call.op, inputs, call.attrs};
  InferContext context(imagined, static_cast<int>(count));
  call.op.shape_rule()(context);
  std::vector<Output> out(count);
  for (size_t i = 0; i < count; ++i) {
    const auto& said = context.output(static_cast<int>(i));
    out[i] = {said.dtype, said.shape};
    if (out[i].shape.has_rank() && call.op.has_rows_from_values(static_cast<int>(i))) {
      out[i].shape[dim_of_rows(call, inputs[0].rank())] = kUnknownDim;
    }
  }
  return out;
}

std::vector<Tensor> run_small(const OpCall& call, std::span<const Tensor> inputs,
                              const std::vector<Output>& outputs) {
  if (call.op.is_stateful() || call.op.is_heavy()) return {};
  for (const Output& out : outputs) {
    if (!(is_integer(out.dtype) || out.dtype == DType::bool_) || !out.shape.is_fully_known() ||
        out.shape.num_elements() > kMostKnownElements) {
      return {};
    }
  }
  const bool tells_shape = call.op.is_about_shape();
  for (const Tensor& t : inputs) {
    if (tells_shape ? !t.shape().is_fully_known()
                    : t.is_symbolic() || t.num_elements() > 4 * kMostKnownElements) {
      return {};
    }
  }
  std::vector<Tensor> values(outputs.size());
  try {
    exec::run_eager({call.op, inputs, call.attrs}, values);
  } catch (const Error&) {
    return {};  // the run itself will say what is wrong
  }
  for (const Tensor& t : values) kept_for_runs(t);  // the graph's, as long as it lives
  return values;
}

void join_into(std::vector<Output>& found, const std::vector<Output>& more) {
  if (found.empty()) {
    found = more;
    return;
  }
  for (size_t i = 0; i < more.size(); ++i) {
    found[i].shape = common_shape(found[i].shape, more[i].shape);
  }
}

}  // namespace tidemark::trace
