// Sequences and optionals: lists of values whose length is known while the graph is read.
#include <algorithm>

#include "tidemark/io/onnx/build.h"
#include "tidemark/io/onnx/interpreter.h"

namespace tidemark::io::onnx {

namespace {

const Values& items_of(const Call& c, size_t input) {
  const Value* value = &c.value(input);
  if (value->kind == Value::Kind::optional && !value->items.empty()) value = &value->items[0];
  if (value->kind != Value::Kind::sequence) c.fail("input ", input, " must be a sequence");
  return value->items;
}

/// A position in a list of this many; `beyond` allows the place after the last.
size_t place_of(const Call& c, size_t input, size_t count, bool beyond) {
  const auto length = static_cast<int64_t>(count);
  const Ints given = c.ints(input);
  if (given.size() != 1) c.fail("a position must be one number");
  const int64_t at = given[0] < 0 ? given[0] + length : given[0];
  if (at < 0 || at > length || (at == length && !beyond)) {
    c.fail("position ", given[0], " is outside of a sequence of ", length);
  }
  return static_cast<size_t>(at);
}

Values sequence_empty(const Call&) { return {Value::sequence({})}; }
Values sequence_construct(const Call& c) { return {Value::sequence(c.inputs)}; }

Values sequence_insert(const Call& c) {
  Values items = items_of(c, 0);
  const size_t at = c.has(2) ? place_of(c, 2, items.size(), true) : items.size();
  items.insert(items.begin() + static_cast<int64_t>(at), c.value(1));
  return {Value::sequence(std::move(items))};
}

Values sequence_erase(const Call& c) {
  Values items = items_of(c, 0);
  if (items.empty()) c.fail("the sequence is empty");
  const size_t at = c.has(1) ? place_of(c, 1, items.size(), false) : items.size() - 1;
  items.erase(items.begin() + static_cast<int64_t>(at));
  return {Value::sequence(std::move(items))};
}

Values sequence_at(const Call& c) {
  const Values& items = items_of(c, 0);
  return {items[place_of(c, 1, items.size(), false)]};
}

Values sequence_length(const Call& c) {
  return {Tensor(static_cast<int64_t>(items_of(c, 0).size()))};
}

Values split_to_sequence(const Call& c) {
  const Tensor& x = c.in(0);
  const int axis = axis_of(c.integer("axis", 0), rank_of(x));
  const int64_t size = known_dim(x, axis);
  c.check_listed(static_cast<double>(size));
  Ints sizes;
  bool keeps_axis = true;
  if (!c.has(1)) {
    sizes = Ints(static_cast<size_t>(size), 1);
    keeps_axis = c.integer("keepdims", 1) != 0;
  } else if (rank_of(c.in(1)) == 0) {
    const int64_t each = c.known_integer(1);
    if (each < 1) c.fail("parts must have a positive size");
    for (int64_t at = 0; at < size; at += each) sizes.push_back(std::min(each, size - at));
  } else {
    sizes = c.ints(1);
  }
  Values items;
  int64_t at = 0;
  for (const int64_t part : sizes) {
    Tensor piece = sliced(x, axis, at, at + part);
    if (!keeps_axis) piece = squeeze(piece, Ints{axis});
    items.emplace_back(std::move(piece));
    at += part;
  }
  return {Value::sequence(std::move(items))};
}

Tensor concat_from_sequence(const Call& c) {
  std::vector<Tensor> all;
  for (const Value& item : items_of(c, 0)) all.push_back(item.tensor);
  if (all.empty()) c.fail("the sequence is empty");
  const bool is_new = c.integer("new_axis", 0) != 0;
  const int axis = axis_of(c.integer("axis"), rank_of(all[0]) + (is_new ? 1 : 0));
  return is_new ? stack(all, axis) : concat(all, axis);
}

Values sequence_map(const Call& c) {
  const Graph& body = c.graph("body");
  const size_t count = items_of(c, 0).size();
  std::vector<Values> columns(body.outputs.size());
  for (size_t i = 0; i < count; ++i) {
    Values inputs;
    for (size_t k = 0; k < c.num_inputs(); ++k) {
      if (c.inputs[k].kind != Value::Kind::sequence) {
        inputs.push_back(c.inputs[k]);
        continue;
      }
      if (c.inputs[k].items.size() != count) c.fail("its sequences have different lengths");
      inputs.push_back(c.inputs[k].items[i]);
    }
    const Values made = c.interpreter.run_inner(c, body, inputs);
    for (size_t k = 0; k < made.size(); ++k) columns[k].push_back(made[k]);
  }
  Values out;
  for (Values& column : columns) out.push_back(Value::sequence(std::move(column)));
  return out;
}

Values optional_node(const Call& c) {
  return {Value::optional(c.has(0) ? Values{c.value(0)} : Values{})};
}

Values optional_get(const Call& c) {
  const Value& given = c.value(0);
  if (given.kind != Value::Kind::optional) return {given};
  if (given.items.empty()) c.fail("the optional is empty");
  return {given.items[0]};
}

Values optional_has(const Call& c) {
  const bool is_there =
      c.has(0) && (c.inputs[0].kind != Value::Kind::optional || !c.inputs[0].items.empty());
  return {Tensor(is_there)};
}

constexpr Entry kEntries[] = {
    {"SequenceEmpty", sequence_empty},
    {"SequenceConstruct", sequence_construct},
    {"SequenceInsert", sequence_insert},
    {"SequenceErase", sequence_erase},
    {"SequenceAt", sequence_at},
    {"SequenceLength", sequence_length},
    {"SplitToSequence", split_to_sequence},
    {"ConcatFromSequence", concat_from_sequence},
    {"SequenceMap", sequence_map},
    {"Optional", optional_node},
    {"OptionalGetElement", optional_get},
    {"OptionalHasElement", optional_has},
};

}  // namespace

std::span<const Entry> sequence_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
