#include <tidemark/call.h>
#include <tidemark/control_flow.h>
#include <tidemark/create.h>

#include "tidemark/graph/call_special.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"
#include "tidemark/trace/specials.h"

namespace tidemark {

namespace {

using trace::GraphBuilder;

/// Functions may give up their tensors: each becomes a tensor of the builder's graph.
std::vector<Tensor> owned(GraphBuilder& builder, std::vector<Tensor>&& tensors) {
  for (Tensor& t : tensors) t = builder.own(t);
  return std::move(tensors);
}

void check_same_dtype(std::string_view what, size_t i, DType a, DType b) {
  if (a == b) return;
  fail("[", what, "] tensor ", i, " is ", name_of(a), " at one time and ", name_of(b),
       " at another; give it one dtype with cast");
}

std::vector<Tensor> branch(const Tensor& index, std::span<const TensorsFunction> functions) {
  std::vector<Tensor> inputs{index};
  std::vector<trace::Body> bodies;
  std::vector<graph::OutputInfo> infos;
  for (const TensorsFunction& function : functions) {
    GraphBuilder builder("branch");
    std::vector<Tensor> results;
    {
      const trace::TraceScope scope(builder);
      results = owned(builder, function());
    }
    const bool is_first = bodies.empty();
    if (!is_first && results.size() != infos.size()) {
      fail("[cond] one branch returns ", infos.size(), " tensors, another ", results.size());
    }
    for (size_t i = 0; i < results.size(); ++i) {
      if (is_first) {
        infos.push_back({results[i].dtype(), results[i].shape()});
        continue;
      }
      check_same_dtype("cond", i, infos[i].dtype, results[i].dtype());
      infos[i].shape = trace::common_shape(infos[i].shape, results[i].shape());
    }
    bodies.push_back(trace::finish_body(builder, results, inputs));
  }
  std::vector<Tensor> outputs(infos.size());
  graph::call_special(std::make_shared<trace::Branch>(std::move(bodies)), infos, inputs, outputs);
  return outputs;
}

bool is_true(const Tensor& condition) {
  if (condition.num_elements() != 1) {
    fail("[while] the condition must be a scalar; its shape is ", condition.shape());
  }
  return condition.to_ints()[0] != 0;
}

/// The variables as inputs of a part of the loop.
std::vector<Tensor> inputs_of(GraphBuilder& builder, std::span<const graph::OutputInfo> infos) {
  std::vector<Tensor> out;
  for (const graph::OutputInfo& info : infos) {
    out.push_back(builder.add_input(info.dtype, info.shape));
  }
  return out;
}

void check_count(size_t before, size_t after) {
  if (before == after) return;
  fail("[while] the body returns ", after, " tensors; there are ", before, " loop variables");
}

void check_round(std::span<const graph::OutputInfo> before, std::span<const Tensor> after) {
  check_count(before.size(), after.size());
  for (size_t i = 0; i < after.size(); ++i) {
    check_same_dtype("while", i, before[i].dtype, after[i].dtype());
    if (trace::is_within(after[i].shape(), before[i].shape)) continue;
    fail("[while] loop variable ", i, " enters the loop with shape ", before[i].shape,
         ", but has shape ", after[i].shape(),
         " after one round. Say in LoopOptions::shapes which sizes may change");
  }
}

}  // namespace

std::vector<Tensor> switch_case(const Tensor& index, std::span<const TensorsFunction> functions) {
  if (functions.empty()) fail("[switch_case] there are no functions to choose from");
  if (trace::current_builder()) {
    const bool is_bool = index.dtype() == DType::bool_;
    return branch(is_bool ? call("cast", {index}, {{"dtype", DType::int32}}) : index, functions);
  }
  if (index.num_elements() != 1) {
    fail("[cond] the condition must be a scalar; its shape is ", index.shape());
  }
  const int64_t wanted = index.to_ints()[0];
  const auto last = static_cast<int64_t>(functions.size()) - 1;
  return functions[static_cast<size_t>(wanted < 0 || wanted > last ? last : wanted)]();
}

std::vector<Tensor> while_loop(
    const std::function<Tensor(std::span<const Tensor>)>& condition,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body,
    std::vector<Tensor> variables, const LoopOptions& options) {
  const int64_t most = options.maximum_iterations;
  if (!options.shapes.empty() && options.shapes.size() != variables.size()) {
    fail("[while] there are ", variables.size(), " loop variables and ", options.shapes.size(),
         " shapes");
  }
  if (!trace::current_builder()) {
    for (int64_t round = 0; most < 0 || round < most; ++round) {
      if (!is_true(condition(variables))) break;
      std::vector<Tensor> next = body(variables);
      check_count(variables.size(), next.size());
      variables = std::move(next);
    }
    return variables;
  }
  std::vector<graph::OutputInfo> infos;
  for (size_t i = 0; i < variables.size(); ++i) {
    infos.push_back(
        {variables[i].dtype(), options.shapes.empty() ? variables[i].shape() : options.shapes[i]});
  }
  GraphBuilder asking("while_cond"), doing("while_body");
  std::vector<Tensor> answer, next;
  {
    const trace::TraceScope scope(asking);
    answer = owned(asking, {condition(inputs_of(asking, infos))});
  }
  {
    const trace::TraceScope scope(doing);
    next = owned(doing, body(inputs_of(doing, infos)));
  }
  check_round(infos, next);
  const size_t count = variables.size();
  std::vector<Tensor> inputs = std::move(variables);
  inputs.push_back(Tensor(most));
  trace::Body first = trace::finish_body(asking, answer, inputs);
  trace::Body second = trace::finish_body(doing, next, inputs);
  std::vector<Tensor> outputs(count);
  const auto loop = std::make_shared<trace::WhileLoop>(std::move(first), std::move(second), count);
  graph::call_special(loop, infos, inputs, outputs);
  return outputs;
}

Array::Array(DType dtype, const Tensor& size, ArrayOptions options) : options_(std::move(options)) {
  const bool is_known = options_.element_shape.is_fully_known();
  const Shape element = is_known ? options_.element_shape : Shape{0};
  const Tensor blank = zeros(Shape{0, 0}, dtype);
  const Attr attrs[] = {Attr(Ints(element.begin(), element.end()))};
  const Tensor inputs[] = {blank, size};
  tensor_ = call(OpRegistry::instance().get("array_resize"), inputs, attrs);
}

Array Array::with(Tensor tensor) const {
  Array out = *this;
  out.tensor_ = std::move(tensor);
  return out;
}

Array Array::written(const Tensor& index, const Tensor& value, uint64_t donated) const {
  static const OpDef& op = OpRegistry::instance().get("array_write");
  const Attr attrs[] = {Attr(options_.dynamic_size)};
  const Borrowed<3> inputs(tensor_, index, value);
  Tensor out;
  dispatch({op, inputs.span(), attrs, donated}, {&out, 1});
  Array next(*this);
  next.tensor_ = std::move(out);
  if (!options_.element_shape.has_rank()) next.options_.element_shape = value.shape();
  return next;
}

Array Array::write(const Tensor& index, const Tensor& value) const& {
  return written(index, value, 0);
}
Array Array::write(const Tensor& index, const Tensor& value) && { return written(index, value, 1); }

Tensor Array::read(const Tensor& index) const {
  const Shape& element = options_.element_shape;
  const Attr shape = element.has_rank() ? Attr(Ints(element.begin(), element.end())) : Attr();
  return call("array_read", {tensor_, index}, {{"element_shape", shape}});
}

Tensor Array::stack() const {
  const Shape& element = options_.element_shape;
  const Attr shape = element.has_rank() ? Attr(Ints(element.begin(), element.end())) : Attr();
  return call("array_resize", {tensor_, Tensor(-1)}, {{"element_shape", shape}});
}

Tensor Array::size() const {
  const Tensor sizes = call("shape", {tensor_});
  return call("gather", {sizes, Tensor(0)});
}

}  // namespace tidemark
