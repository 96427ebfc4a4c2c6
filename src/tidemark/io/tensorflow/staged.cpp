#include "tidemark/io/tensorflow/staged.h"

#include <tidemark/call.h>
#include <tidemark/control_flow.h>

#include "tidemark/trace/builder.h"
#include "tidemark/trace/infer.h"

namespace tidemark::io::tensorflow {

namespace {

bool flows(const Value& value) {
  return value.kind == Value::Kind::tensor || value.kind == Value::Kind::list ||
         value.kind == Value::Kind::stored;
}

std::vector<Tensor> flowing(const Values& values) {
  std::vector<Tensor> out;
  for (const Value& value : values) {
    if (!flows(value)) continue;
    if (value.kind == Value::Kind::stored) fail_malformed("a checkpoint is read in a branch");
    out.push_back(value.tensor);
  }
  return out;
}

/// The values with other tensors in their places.
Values refilled(Values like, std::span<const Tensor> tensors) {
  size_t next = 0;
  for (Value& value : like) {
    if (flows(value)) value.tensor = tensors[next++];
  }
  return like;
}

void check_alike(const Values& a, const Values& b) {
  bool is_alike = a.size() == b.size();
  for (size_t i = 0; is_alike && i < a.size(); ++i) {
    is_alike = a[i].kind == b[i].kind && a[i].variable == b[i].variable && a[i].table == b[i].table;
  }
  if (!is_alike) {
    fail<UnimplementedError>("a branch or a loop gives other variables or tables than another");
  }
}

/// What of the shapes is left after a round.
bool widen(const Values& after, std::vector<Shape>& shapes) {
  bool changed = false;
  size_t at = 0;
  for (const Value& value : after) {
    if (!flows(value)) continue;
    Shape& shape = shapes[at++];
    if (trace::is_within(value.tensor.shape(), shape)) continue;
    shape = trace::common_shape(shape, value.tensor.shape());
    changed = true;
  }
  return changed;
}

/// Runs the body on stand-ins until no shape changes any more.
void find_shapes(const std::function<Values(const Values&)>& body, const Values& first,
                 std::vector<Shape>& shapes) {
  for (int tries = 0; tries < 4; ++tries) {
    trace::GraphBuilder builder("round");
    std::vector<Tensor> inputs;
    size_t at = 0;
    for (const Value& value : first) {
      if (flows(value)) inputs.push_back(builder.add_input(value.tensor.dtype(), shapes[at++]));
    }
    const trace::TraceScope scope(builder);
    const Values after = body(refilled(first, inputs));
    if (after.size() != first.size())
      fail_malformed("a loop's body gives another number of values");
    if (!widen(after, shapes)) return;
  }
  for (Shape& shape : shapes) shape = Shape::unknown();
}

}  // namespace

Values staged_switch(const Tensor& index, std::span<const StagedFunction> functions) {
  Values like;
  bool is_first = true;
  std::vector<TensorsFunction> tensors;
  for (const StagedFunction& function : functions) {
    tensors.push_back([&] {
      Values made = function();
      std::vector<Tensor> out = flowing(made);
      if (!std::exchange(is_first, false)) check_alike(like, made);
      for (Value& value : made) value.tensor = Tensor();
      like = std::move(made);
      return out;
    });
  }
  const std::vector<Tensor> out = switch_case(index, tensors);
  return refilled(std::move(like), out);
}

Values staged_loop(const std::function<Value(const Values&)>& condition,
                   const std::function<Values(const Values&)>& body, const Values& first,
                   std::vector<Shape> shapes) {
  const bool is_traced = trace::current_builder() != nullptr;
  std::vector<Tensor> variables = flowing(first);
  LoopOptions options;
  if (is_traced) {
    const bool is_said = !shapes.empty();
    size_t at = 0;
    for (size_t i = 0; i < first.size(); ++i) {
      if (!flows(first[i])) continue;
      const bool is_list = first[i].kind == Value::Kind::list;
      const Shape& now = variables[at++].shape();
      // A shape that does not hold of the first value is none of every round.
      options.shapes.push_back(is_list                        ? Shape::unknown()
                               : is_said && i < shapes.size() ? trace::common_shape(shapes[i], now)
                                                              : now);
    }
    if (!is_said) find_shapes(body, first, options.shapes);
  }
  const auto whole = [&](std::span<const Tensor> given) { return refilled(first, given); };
  const std::vector<Tensor> last = while_loop(
      [&](std::span<const Tensor> given) {
        const Value answer = condition(whole(given));
        if (answer.kind != Value::Kind::tensor) fail_malformed("a loop's condition is no tensor");
        return answer.tensor;
      },
      [&](std::span<const Tensor> given) {
        const Values after = body(whole(given));
        check_alike(first, after);
        std::vector<Tensor> out = flowing(after);
        for (size_t i = 0; is_traced && i < out.size(); ++i) {
          const Shape& wanted = options.shapes[i];
          if (trace::is_within(out[i].shape(), wanted)) continue;
          const Attr sizes[] = {Attr(Ints(wanted.begin(), wanted.end()))};
          out[i] = call(OpRegistry::instance().get("ensure_shape"), std::span(&out[i], 1), sizes);
        }
        return out;
      },
      std::move(variables), options);
  return refilled(first, last);
}

}  // namespace tidemark::io::tensorflow
