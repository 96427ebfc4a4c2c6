// Branches and loops over graphs in attributes: at once, or as steps of the graph being traced.
#include <tidemark/control_flow.h>

#include <algorithm>

#include "tidemark/base/interrupt.h"
#include "tidemark/graph/node.h"
#include "tidemark/io/onnx/build.h"
#include "tidemark/io/onnx/interpreter.h"
#include "tidemark/trace/builder.h"

namespace tidemark::io::onnx {

namespace {

/// Tensors alone can go through steps of a graph; anything else has to run node by node.
std::vector<Tensor> tensors_of(const Call& c, std::span<const Value> values) {
  std::vector<Tensor> out;
  for (const Value& v : values) {
    if (!v.is_tensor()) fail_unknown(c, "sequences and optionals of its graph");
    out.push_back(v.tensor);
  }
  return out;
}

Values if_node(const Call& c) {
  const Graph &yes = c.graph("then_branch"), &no = c.graph("else_branch");
  const Tensor given = c.in(0);
  if (!given.is_symbolic()) {
    const Ints condition = given.to_ints();
    if (condition.size() != 1) c.fail("the condition must have one element");
    return c.interpreter.run_inner(c, condition[0] ? yes : no, {});
  }
  const Tensor condition = reshaped(given, std::span<const int64_t>());
  std::vector<Element> elements;
  const auto branch = [&](const Graph& graph) {
    const Values made = c.interpreter.run_inner(c, graph, {});
    elements.clear();
    for (const Value& v : made) elements.push_back(v.element);
    return tensors_of(c, made);
  };
  std::vector<Tensor> made;
  try {
    made = cond(
        condition, [&] { return branch(yes); }, [&] { return branch(no); });
  } catch (const InvalidArgumentError&) {
    // A branch that these inputs do not fit, and that they may never take.
    fail_unknown(c, "which of its branches is taken");
  }
  Values out;
  for (size_t i = 0; i < made.size(); ++i) out.emplace_back(made[i], elements[i]);
  return out;
}

/// What one round gives: whether to go on (nothing: yes), the state, and what is gathered.
struct Round {
  Tensor go_on;
  Values state, gathered;
};
using RunRound = std::function<Round(const Tensor& index, const Values& state)>;

struct Rounds {
  Tensor count;  // at most; nothing: any number
  Tensor first;  // whether to begin; nothing: yes
  Values state;
  std::vector<Type> gathered;
};

int64_t one_number(const Tensor& t) {
  const Ints given = t.to_ints();
  if (given.size() != 1) fail("a loop's count and condition are one number, not ", given.size());
  return given[0];
}

bool is_yes(const Tensor& t) { return !t || one_number(t) != 0; }

Tensor empty_of(const Call& c, const Type& type) {
  Shape shape{0};
  for (const int64_t dim : type.dims) shape.push_back(std::max<int64_t>(dim, 0));
  if (type.element == Element::undefined) c.fail("gathers nothing of an unknown type");
  return Tensor::uninitialized(storage_of(type.element), shape);
}

/// Final state, then what each round gathered, stacked.
Values run_now(const Call& c, const Rounds& rounds, const RunRound& run) {
  const int64_t most = rounds.count ? one_number(rounds.count) : -1;
  Values state = rounds.state;
  std::vector<std::vector<Tensor>> gathered(rounds.gathered.size());
  bool go_on = is_yes(rounds.first);
  for (int64_t i = 0; go_on && (most < 0 || i < most); ++i) {
    check_interrupt();
    Round round = run(Tensor(i), state);
    go_on = is_yes(round.go_on);
    state = std::move(round.state);
    for (size_t k = 0; k < gathered.size(); ++k) gathered[k].push_back(round.gathered[k].tensor);
  }
  for (size_t k = 0; k < gathered.size(); ++k) {
    state.emplace_back(gathered[k].empty() ? empty_of(c, rounds.gathered[k])
                                           : stack(gathered[k], 0));
  }
  return state;
}

Shape shape_of_type(const Type& type) {
  return type.has_shape ? Shape(std::span<const int64_t>(type.dims)) : Shape::unknown();
}

/// How much of the state's shapes is taken to hold in every round; tried from the most on.
enum class Held { sizes, ranks, nothing };

Shape held_shape(const Shape& shape, Held held) {
  if (held == Held::sizes) return shape;
  if (held == Held::nothing || !shape.has_rank()) return Shape::unknown();
  return Shape::filled(shape.rank(), kUnknownDim);
}

Values run_as_step(const Call& c, const Rounds& rounds, const RunRound& run, Held held) {
  const size_t states = rounds.state.size(), gathers = rounds.gathered.size();
  std::vector<Tensor> variables{
      Tensor(int64_t{0}),
      rounds.first ? reshaped(rounds.first, std::span<const int64_t>()) : Tensor(true)};
  LoopOptions options;
  options.shapes = {Shape{}, Shape{}};
  for (const Tensor& t : tensors_of(c, rounds.state)) {
    variables.push_back(t);
    options.shapes.push_back(held_shape(t.shape(), held));
  }
  std::vector<Array> arrays;
  for (const Type& type : rounds.gathered) {
    if (type.element == Element::undefined) fail_unknown(c, "the type of what it gathers");
    const Shape shape = shape_of_type(type);
    arrays.emplace_back(storage_of(type.element), Tensor(0),
                        ArrayOptions{.dynamic_size = true, .element_shape = shape});
    variables.push_back(arrays.back().tensor());
    options.shapes.push_back(Shape::unknown());
  }
  const auto asking = [&](std::span<const Tensor> v) {
    return rounds.count ? logical_and(v[1], less(v[0], rounds.count)) : v[1];
  };
  const auto doing = [&](std::span<const Tensor> v) {
    Values state;
    for (size_t i = 0; i < states; ++i) state.emplace_back(v[2 + i], rounds.state[i].element);
    const Round round = run(v[0], state);
    std::vector<Tensor> out{
        v[0] + Tensor(int64_t{1}),
        round.go_on ? reshaped(round.go_on, std::span<const int64_t>()) : Tensor(true)};
    for (const Tensor& t : tensors_of(c, round.state)) out.push_back(t);
    const Tensor index = as(v[0], DType::int32);
    for (size_t k = 0; k < gathers; ++k) {
      out.push_back(
          arrays[k].with(v[2 + states + k]).write(index, round.gathered[k].tensor).tensor());
    }
    return out;
  };
  const std::vector<Tensor> end = while_loop(asking, doing, variables, options);
  Values out;
  for (size_t i = 0; i < states; ++i) out.emplace_back(end[2 + i], rounds.state[i].element);
  for (size_t k = 0; k < gathers; ++k)
    out.emplace_back(arrays[k].with(end[2 + states + k]).stack());
  return out;
}

Values run_rounds(const Call& c, Rounds rounds, const RunRound& run) {
  if (!trace::current_builder()) return run_now(c, rounds, run);
  if (rounds.count) {
    rounds.count = reshaped(as(rounds.count, DType::int64), std::span<const int64_t>());
  }
  for (const Held held : {Held::sizes, Held::ranks}) {
    try {
      return run_as_step(c, rounds, run, held);
    } catch (const InvalidArgumentError&) {
      // Some shape changes from round to round.
    }
  }
  return run_as_step(c, rounds, run, Held::nothing);
}

Values loop_node(const Call& c) {
  const Graph& body = c.graph("body");
  Rounds rounds;
  if (c.has(0)) rounds.count = c.in(0);
  if (c.has(1)) rounds.first = c.in(1);
  for (size_t i = 2; i < c.num_inputs(); ++i) rounds.state.push_back(c.inputs[i]);
  const size_t states = rounds.state.size();
  if (body.outputs.size() < states + 1 || body.inputs.size() < states + 2) {
    c.fail("its body does not fit its ", states, " values");
  }
  for (size_t i = states + 1; i < body.outputs.size(); ++i) {
    rounds.gathered.push_back(body.outputs[i].type);
  }
  return run_rounds(c, std::move(rounds), [&](const Tensor& index, const Values& state) {
    Values inputs{index, Tensor(true)};
    inputs.insert(inputs.end(), state.begin(), state.end());
    Values made = c.interpreter.run_inner(c, body, inputs);
    const auto first = made.begin() + 1, middle = first + static_cast<int64_t>(states);
    return Round{made[0].tensor, Values(first, middle), Values(middle, made.end())};
  });
}

/// Along the axis, the one of each round first.
Tensor axis_first(const Tensor& x, int64_t axis, bool is_backwards) {
  const int rank = rank_of(x), at = axis_of(axis, rank);
  const Tensor turned = is_backwards ? reverse(x, Ints{at}) : x;
  if (at == 0) return turned;
  Ints perm{at};
  for (int i = 0; i < rank; ++i) {
    if (i != at) perm.push_back(i);
  }
  return transposed(turned, perm);
}

Tensor axis_back(const Tensor& x, int64_t axis, bool is_backwards) {
  const int rank = rank_of(x), at = axis_of(axis, rank);
  const Tensor turned = is_backwards ? reverse(x, Ints{0}) : x;
  if (at == 0) return turned;
  Ints perm;
  for (int i = 1; i <= at; ++i) perm.push_back(i);
  perm.push_back(0);
  for (int i = at + 1; i < rank; ++i) perm.push_back(i);
  return transposed(turned, perm);
}

/// One image of the batch a time where the old form has a batch dimension.
Values scan_once(const Call& c, const Graph& body, const Values& state,
                 const std::vector<Tensor>& lines) {
  Rounds rounds;
  rounds.state = state;
  rounds.count = dim_of(lines.at(0), 0);
  for (size_t i = state.size(); i < body.outputs.size(); ++i) {
    rounds.gathered.push_back(body.outputs[i].type);
  }
  return run_rounds(c, std::move(rounds), [&](const Tensor& index, const Values& now) {
    Values inputs = now;
    for (const Tensor& line : lines) inputs.emplace_back(gather(line, index, std::nullopt, 0));
    const Values made = c.interpreter.run_inner(c, body, inputs);
    const auto middle = made.begin() + static_cast<int64_t>(state.size());
    return Round{{}, Values(made.begin(), middle), Values(middle, made.end())};
  });
}

Values scan_batches(const Call& c, const Graph& body, size_t states) {
  if (c.has(0)) c.fail("sequence lengths of Scan 8 are not read");
  const int64_t batch = known_dim(c.in(1), 0);
  std::vector<std::vector<Tensor>> columns;
  for (int64_t b = 0; b < batch; ++b) {
    Values state;
    std::vector<Tensor> lines;
    for (size_t i = 0; i < states; ++i) state.emplace_back(picked(c.in(1 + i), 0, b));
    for (size_t i = 1 + states; i < c.num_inputs(); ++i) lines.push_back(picked(c.in(i), 0, b));
    const Values made = scan_once(c, body, state, lines);
    columns.resize(made.size());
    for (size_t i = 0; i < made.size(); ++i) columns[i].push_back(made[i].tensor);
  }
  Values out;
  for (const std::vector<Tensor>& column : columns) out.emplace_back(stack(column, 0));
  return out;
}

Values scan_node(const Call& c) {
  const Graph& body = c.graph("body");
  const auto scanned = static_cast<size_t>(c.integer("num_scan_inputs"));
  const size_t given = c.version < 9 ? c.num_inputs() - 1 : c.num_inputs();
  if (scanned < 1 || scanned > given) c.fail("has too few inputs");
  const size_t states = given - scanned;
  if (body.outputs.size() < states) c.fail("its body does not fit");
  if (c.version < 9) return scan_batches(c, body, states);
  const auto at = [](const Ints& list, size_t i) { return i < list.size() ? list[i] : 0; };
  const Ints axes = c.integers("scan_input_axes", {}),
             turns = c.integers("scan_input_directions", {});
  std::vector<Tensor> lines;
  for (size_t i = 0; i < scanned; ++i) {
    lines.push_back(axis_first(c.in(states + i), at(axes, i), at(turns, i) != 0));
  }
  Values state(c.inputs.begin(), c.inputs.begin() + static_cast<int64_t>(states));
  Values out = scan_once(c, body, state, lines);
  const Ints out_axes = c.integers("scan_output_axes", {});
  const Ints out_turns = c.integers("scan_output_directions", {});
  for (size_t i = states; i < out.size(); ++i) {
    const size_t k = i - states;
    if (at(out_axes, k) || at(out_turns, k)) {
      out[i] = axis_back(out[i].tensor, at(out_axes, k), at(out_turns, k) != 0);
    }
  }
  return out;
}

constexpr Entry kEntries[] = {
    Entry{"If", if_node}.drawn(),
    Entry{"Loop", loop_node}.drawn(),
    Entry{"Scan", scan_node}.drawn(),
};

}  // namespace

std::span<const Entry> control_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
