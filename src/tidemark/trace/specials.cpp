#include "tidemark/trace/specials.h"

#include <algorithm>

#include "tidemark/base/interrupt.h"
#include "tidemark/graph/compare.h"
#include "tidemark/trace/builder.h"
#include "tidemark/trace/round_record.h"
#include "tidemark/trace/shared_graphs.h"

namespace tidemark::trace {

namespace {

bool any_effect(const Body& body) { return !body.graph->effects().empty(); }

bool are_same(const Body& a, const Body& b) {
  return a.captured == b.captured && graph::are_same(*a.graph, *b.graph, graph::Lines::compared);
}

/// Tensors on the way into a body; few of them need no memory of their own.
class Arguments {
 public:
  explicit Arguments(size_t count)
      : many_(count > kFew ? count : 0), all(count > kFew ? many_.data() : few_, count) {}
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;

 private:
  static constexpr size_t kFew = 16;
  Tensor few_[kFew];
  std::vector<Tensor> many_;

 public:
  const std::span<Tensor> all;
};

/// The only element, without a list of elements on the heap.
int64_t integer_in(const Tensor& t) {
  switch (t.dtype()) {
    case DType::bool_:
      return t.item<bool>();
    case DType::int32:
      return t.item<int32_t>();
    case DType::int64:
      return t.item<int64_t>();
    default:
      return t.to_ints()[0];
  }
}

graph::InnerGraph shown(const Body& body, graph::InnerGraph::Role role) {
  return {role, body.graph.get(), body.captured};
}

size_t bytes_of(const Body& body) { return body.graph->bytes() + body.program->bytes(); }

}  // namespace

void Body::run(std::span<Tensor> arguments, std::span<const Tensor> special_inputs,
               std::span<Tensor> outputs) const {
  Tensor* next = arguments.data() + arguments.size() - captured.size();
  for (uint32_t index : captured) *next++ = special_inputs[index];
  program->run(arguments, outputs);
}

Body finish_body(GraphBuilder& builder, std::span<const Tensor> outputs,
                 std::vector<Tensor>& special_inputs) {
  Body body;
  Ready ready = shared(builder.finish(outputs));
  body.graph = std::move(ready.graph);
  body.program = std::move(ready.program);
  body.variables = builder.variables();
  for (const Tensor& t : builder.captures()) {
    body.captured.push_back(static_cast<uint32_t>(special_inputs.size()));
    special_inputs.push_back(t);
  }
  return body;
}

Branch::Branch(std::vector<Body> bodies) : bodies_(std::move(bodies)) {
  for (const Body& body : bodies_) {
    has_effect_ |= any_effect(body);
    variables_.insert(variables_.end(), body.variables.begin(), body.variables.end());
  }
}

void Branch::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  const Tensor& which = inputs[0];
  if (which.num_elements() != 1) {
    fail("[cond] the condition must be a scalar; its shape is ", which.shape());
  }
  const int64_t wanted = integer_in(which);
  const auto last = static_cast<int64_t>(bodies_.size()) - 1;
  const auto chosen = static_cast<size_t>(wanted < 0 || wanted > last ? last : wanted);
  const Arguments arguments(bodies_[chosen].num_inputs());
  bodies_[chosen].run(arguments.all, inputs, outputs);
}

bool Branch::equals(const Special& other) const {
  const auto& branch = static_cast<const Branch&>(other);
  return std::equal(bodies_.begin(), bodies_.end(), branch.bodies_.begin(), branch.bodies_.end(),
                    are_same);
}

std::vector<graph::InnerGraph> Branch::inner_graphs() const {
  std::vector<graph::InnerGraph> inner;
  for (const Body& body : bodies_) inner.push_back(shown(body, graph::InnerGraph::Role::choice));
  return inner;
}

size_t Branch::bytes() const {
  size_t bytes = sizeof(*this);
  for (const Body& body : bodies_) bytes += bytes_of(body);
  return bytes;
}

WhileLoop::WhileLoop(Body condition, Body body, size_t num_variables)
    : condition_(std::move(condition)), body_(std::move(body)), num_variables_(num_variables) {
  has_effect_ = any_effect(condition_) || any_effect(body_);
  hoisted_ = hoist(*body_.graph, num_variables_);
  const std::span<const uint32_t> unused = condition_.program->unused_inputs();
  for (uint32_t i = 0; i < num_variables_; ++i) {
    if (std::find(unused.begin(), unused.end(), i) == unused.end()) asked_.push_back(i);
  }
}

bool WhileLoop::goes_on(std::span<Tensor> arguments, std::span<const Tensor> values,
                        std::span<const Tensor> inputs) const {
  for (uint32_t i : asked_) arguments[i] = values[i];
  Tensor answer;
  condition_.run(arguments, inputs, {&answer, 1});
  if (answer.num_elements() != 1) {
    fail("[while] the condition must be a scalar; its shape is ", answer.shape());
  }
  return integer_in(answer) != 0;
}

void WhileLoop::find_fixed(std::span<const Tensor> inputs, std::span<Tensor> fixed) const {
  const size_t count = body_.captured.size();
  for (size_t i = 0; i < count; ++i) fixed[i] = inputs[body_.captured[i]];
  if (!hoisted_.before) return;
  const Arguments captured(count);
  std::copy(fixed.begin(), fixed.begin() + static_cast<long>(count), captured.all.begin());
  hoisted_.before->run(captured.all, fixed.subspan(count));
}

void WhileLoop::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  const LongWorkInterrupt interrupt;
  const int64_t most = integer_in(inputs[num_variables_]);
  const exec::Program& body = round();
  // All that a round needs beside its tensors: made once.
  const Arguments asked_row(condition_.num_inputs()), row(body.num_inputs()),
      fixed_row(body.num_inputs() - num_variables_), made_row(body.num_outputs());
  const std::span<Tensor> asked = asked_row.all, arguments = row.all, fixed = fixed_row.all;
  const std::span<Tensor> made = made_row.all, values = made.first(num_variables_);
  std::vector<std::vector<Tensor>> records(num_recorded());
  for (size_t i = 0; i < num_variables_; ++i) values[i] = std::move(inputs[i]);
  int64_t turn = 0;
  for (; most < 0 || turn < most; ++turn) {
    if (!goes_on(asked, values, inputs)) break;
    if (turn == 0) find_fixed(inputs, fixed);
    // Moved in: what the body updates it may write in place.
    for (size_t i = 0; i < num_variables_; ++i) arguments[i] = std::move(values[i]);
    std::copy(fixed.begin(), fixed.end(), arguments.begin() + static_cast<long>(num_variables_));
    body.run(arguments, made);
    for (size_t i = 0; i < records.size(); ++i) {
      records[i].push_back(std::move(made[num_variables_ + i]));
    }
  }
  for (size_t i = 0; i < num_variables_; ++i) outputs[i] = std::move(values[i]);
  if (records.empty()) return;
  outputs[num_variables_] = Tensor(turn);
  for (size_t i = 0; i < records.size(); ++i) {
    const Tensor& shown = body_.graph->outputs()[num_variables_ + i];
    const Device device = turn > 0 ? records[i][0].device() : Device();
    outputs[num_variables_ + 1 + i] =
        record_of(std::move(records[i]), shown.dtype(), shown.shape(), device);
  }
}

std::optional<size_t> WhileLoop::round_records_at() const {
  return num_recorded() > 0 ? std::optional(num_variables_) : std::nullopt;
}

bool WhileLoop::equals(const Special& other) const {
  const auto& loop = static_cast<const WhileLoop&>(other);
  return loop.num_variables_ == num_variables_ && are_same(condition_, loop.condition_) &&
         are_same(body_, loop.body_);
}

std::vector<graph::InnerGraph> WhileLoop::inner_graphs() const {
  return {shown(condition_, graph::InnerGraph::Role::condition),
          shown(body_, graph::InnerGraph::Role::round)};
}

size_t WhileLoop::bytes() const {
  size_t hoisted = 0;
  for (const exec::Program* part : {hoisted_.before.get(), hoisted_.rest.get()}) {
    if (part) hoisted += part->bytes() + part->graph().node_bytes();
  }
  return sizeof(*this) + bytes_of(condition_) + bytes_of(body_) + hoisted;
}

}  // namespace tidemark::trace
