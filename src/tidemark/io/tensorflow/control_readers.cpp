// Calls, branches and loops over functions; what is left of TensorFlow 1's.
#include <tidemark/call.h>

#include "tidemark/io/tensorflow/importer.h"
#include "tidemark/io/tensorflow/staged.h"

namespace tidemark::io::tensorflow {

namespace {

void read_call(NodeCall& c) {
  if (const OpDef* ours = our_op_of(c.node)) return read_as_ours(c, *ours);
  c.outputs = c.importer.call_function(c.function("f"), std::move(c.inputs));
}

Values rest_of(const NodeCall& c) {
  if (c.inputs.empty()) c.fail("it has no condition");
  return {c.inputs.begin() + 1, c.inputs.end()};
}

void choose(NodeCall& c, const Tensor& index, const std::vector<std::string_view>& names) {
  if (names.empty()) c.fail("it has no branches");
  const Values arguments = rest_of(c);
  std::vector<StagedFunction> branches;
  for (std::string_view name : names) {
    branches.push_back(
        [&c, &arguments, name] { return c.importer.call_function(name, arguments); });
  }
  c.outputs = staged_switch(index, branches);
}

void read_if(NodeCall& c) {
  Tensor condition = c.in(0);
  if (condition.dtype() == DType::string) c.fail_unsupported("a condition that is a string");
  if (condition.dtype() != DType::bool_) {
    condition = call("not_equal", {condition, call("zeros_like", {condition})});
  }
  choose(c, condition, {c.function("else_branch"), c.function("then_branch")});
}

void read_case(NodeCall& c) {
  const AttrValue branches = c.attr("branches");
  if (branches.kind != AttrValue::Kind::function) c.fail("it has no branches");
  choose(c, c.in(0), branches.texts);
}

void read_while(NodeCall& c) {
  const std::string_view condition = c.function("cond"), body = c.function("body");
  std::vector<bool> fixed = c.importer.unchanged_arguments(body);
  fixed.resize(c.inputs.size(), false);
  const auto changing = [&](const auto& all) {
    std::remove_cvref_t<decltype(all)> out;
    for (size_t i = 0; i < all.size() && i < fixed.size(); ++i) {
      if (!fixed[i]) out.push_back(all[i]);
    }
    return out;
  };
  const auto whole = [&](const Values& given) {
    Values out = c.inputs;
    size_t next = 0;
    for (size_t i = 0; i < out.size(); ++i) {
      if (!fixed[i]) out[i] = given.at(next++);
    }
    return out;
  };
  std::vector<Shape> shapes;
  const AttrValue said = c.attr("output_shapes");
  if (said.kind == AttrValue::Kind::shape && said.texts.size() == c.inputs.size()) {
    for (std::string_view shape : said.texts) shapes.push_back(read_shape(shape));
    shapes = changing(shapes);
  }
  const Values last = staged_loop(
      [&](const Values& given) {
        Values answer = c.importer.call_function(condition, whole(given));
        if (answer.size() != 1) c.fail("its condition gives ", answer.size(), " values");
        return answer[0];
      },
      [&](const Values& given) {
        const Values made = c.importer.call_function(body, whole(given));
        if (made.size() != c.inputs.size()) c.fail("its body gives ", made.size(), " values");
        return changing(made);
      },
      changing(c.inputs), std::move(shapes));
  c.outputs = whole(last);
}

/// Both outputs: only the one that lives is looked at.
void read_switch(NodeCall& c) {
  if (c.inputs.size() != 2) c.fail("it has ", c.inputs.size(), " inputs");
  c.outputs = {c.inputs[0], c.inputs[0]};
}
void read_test(NodeCall& c) { c.outputs = c.inputs; }
void read_stray(NodeCall& c) { c.fail_unsupported("it is outside of what tf.cond and loops make"); }

constexpr NamedReader kReaders[] = {
    {"PartitionedCall", read_call},
    {"StatefulPartitionedCall", read_call},
    {"If", read_if},
    {"StatelessIf", read_if},
    {"Case", read_case},
    {"StatelessCase", read_case},
    {"While", read_while},
    {"StatelessWhile", read_while},
    {"Switch", read_switch},
    {"RefSwitch", read_switch},
    {"LoopCond", read_test},
    {"Merge", read_stray},
    {"RefMerge", read_stray},
    {"Enter", read_stray},
    {"RefEnter", read_stray},
    {"Exit", read_stray},
    {"RefExit", read_stray},
    {"NextIteration", read_stray},
    {"RefNextIteration", read_stray},
};

}  // namespace

std::span<const NamedReader> control_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
