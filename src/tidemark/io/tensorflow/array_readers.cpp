// Values, and how they are put together and taken apart.
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/ops.h>

#include "tidemark/io/tensorflow/importer.h"
#include "tidemark/io/tensorflow/node_call.h"

namespace tidemark::io::tensorflow {

namespace {

void read_const(NodeCall& c) {
  const AttrValue value = c.attr("value");
  if (value.kind != AttrValue::Kind::tensor || value.is_list) c.fail("it has no value");
  c.give(c.importer.constant(c.node, value.texts[0]));
}

void read_placeholder(NodeCall& c) {
  c.fail("it has to be given a value, and the signature does not");
}

void read_nothing(NodeCall& c) { c.outputs.emplace_back(); }

/// All inputs as they are.
void pass(NodeCall& c) { c.outputs = c.inputs; }

void read_identity(NodeCall& c) {
  if (c.inputs.empty()) c.fail("it has no input");
  const Value& value = c.inputs[0];
  if (value.kind == Value::Kind::variable && c.node.op != "Identity") return pass(c);
  // A resource keeps what it is; a variable of the first kind is read.
  if (value.kind == Value::Kind::variable && c.attr("T").numbers == Ints{kResourceType}) {
    c.outputs.push_back(value);
  } else if (value.kind == Value::Kind::variable) {
    c.give(c.in(0));
  } else {
    c.outputs.push_back(value);
  }
}

void read_split(NodeCall& c) {
  const int64_t count = c.number("num_split", 0);
  if (count < 1 || count > 1'000'000) c.fail("num_split is ", count, "; it is at least 1");
  const Tensor inputs[] = {c.in(1)};
  c.give_all(call_all("split", inputs, {{"num", count}, {"axis", c.known_number(0)}}));
}

void read_split_sizes(NodeCall& c) {
  const Ints sizes = c.known(1);
  const Tensor inputs[] = {c.in(0)};
  c.give_all(call_all("split", inputs,
                      {{"num", static_cast<int64_t>(sizes.size())},
                       {"axis", c.known_number(2)},
                       {"sizes", sizes}}));
}

void read_unpack(NodeCall& c) {
  const int64_t count = c.number("num", 0);
  if (count < 0 || count > 1'000'000) c.fail("num is ", count, "; it is at least 0");
  const Tensor inputs[] = {c.in(0)};
  c.give_all(call_all("unstack", inputs, {{"num", count}, {"axis", c.number("axis", 0)}}));
}

void read_pad(NodeCall& c) {
  const Tensor x = c.in(0);
  const Tensor value = c.inputs.size() > 2 ? c.in(2) : zeros({}, x.dtype());
  c.give(call("pad", {x, c.in(1), value}, {{"mode", "CONSTANT"}}));
}

void read_mirror_pad(NodeCall& c) {
  const Tensor x = c.in(0);
  c.give(call("pad", {x, c.in(1), zeros({}, x.dtype())}, {{"mode", c.text("mode", "REFLECT")}}));
}

void read_gather(NodeCall& c) { c.give(call("gather", {c.in(0), c.in(1)}, {{"axis", 0}})); }

void read_concat(NodeCall& c) {
  const std::vector<Tensor> parts = c.tensors(1);
  c.give_all(call_all("concat", parts, {{"axis", c.known_number(0)}}));
}

void read_shapes(NodeCall& c) {
  const DType dtype = c.attr("out_type").numbers.empty() ? DType::int32 : c.dtype("out_type");
  for (size_t i = 0; i < c.inputs.size(); ++i) {
    c.give(call("shape", {c.in(i)}, {{"out_type", dtype}}));
  }
}

void read_ensure_shape(NodeCall& c) {
  const Shape shape = c.shape("shape");
  if (!shape.has_rank()) return c.give(c.in(0));
  c.give(call("ensure_shape", {c.in(0)}, {{"shape", Ints(shape.begin(), shape.end())}}));
}

void read_linspace(NodeCall& c) {
  c.give(call("linspace", {c.in(0), c.in(1), c.in(2)}, {{"axis", 0}}));
}

/// A condition of one rank less than the rest chooses rows.
void read_select(NodeCall& c) {
  Tensor condition = c.in(0);
  const Tensor x = c.in(1);
  const int rank = x.shape().has_rank() ? x.rank() : 0;
  if (condition.shape().has_rank() && condition.rank() == 1 && rank > 1) {
    const Tensor ones =
        Tensor::of(std::span<const int32_t>(std::vector<int32_t>(rank - 1, 1)), Shape{rank - 1});
    const Tensor parts[] = {call("shape", {condition}), ones};
    condition = call("reshape", {condition, call_all("concat", parts, {{"axis", 0}})[0]});
  }
  c.give(call("select", {condition, x, c.in(2)}));
}

void read_zeros_like(NodeCall& c) { c.give(call("zeros_like", {c.in(0)})); }
void read_ones_like(NodeCall& c) { c.give(call("ones_like", {c.in(0)})); }

/// Sizes and sums of rows come as 64 bit numbers.
Tensor wide(const Tensor& t) { return call("cast", {t}, {{"dtype", DType::int64}}); }
/// One for each, where none are given.
Tensor weights_of(const Tensor& weights, const Tensor& counted) {
  if (weights.num_elements() != 0 || !weights.shape().is_fully_known()) return weights;
  return ones_like(counted, weights.dtype());
}

void read_bincount(NodeCall& c) {
  const Tensor x = c.in(0);
  if (!x.shape().has_rank()) c.fail_unsupported("the rank of what is counted is not known");
  c.give(bincount(x, c.in(1), weights_of(c.in(2), x), c.flag("binary_output")));
}

/// Counts of rows one behind the other: those of row r begin at r times their number.
void read_ragged_bincount(NodeCall& c) {
  const Tensor splits = wide(c.in(0)), values = wide(c.in(1)), zero(int64_t{0}), one(int64_t{1});
  const Tensor bins = reshape(wide(c.in(2)), Tensor::of(std::span<const int32_t>(), Shape{0}));
  const Tensor rows = size(splits, DType::int64) - one, all = rows * bins;
  const Tensor places = range(zero, size(values, DType::int64), one);
  const Tensor row = searchsorted(splits, places, "right", DType::int64) - one;
  // What is too large is not counted; what is below 0 is told.
  const Tensor is_counted = less(values, bins), is_below = less(values, zero);
  const Tensor at = select(is_below, values, select(is_counted, row * bins + values, all));
  const Tensor counts = bincount(at, all, weights_of(c.in(3), at), c.flag("binary_output"));
  const Tensor sizes[] = {rows, bins};
  c.give(reshape(counts, stack(sizes)));
}

Tensor first(const Tensor& sizes) { return call("gather", {sizes, Tensor(int32_t{0})}); }

/// The rows of values that follow one another, side by side, filled up with the default.
void read_ragged_to_tensor(NodeCall& c) {
  const AttrValue kinds = c.attr("row_partition_types");
  const Tensor values = c.in(1);
  const bool by_rows = kinds.texts.size() == 2 && kinds.texts[0] == "FIRST_DIM_SIZE" &&
                       kinds.texts[1] == "VALUE_ROWIDS";
  const bool by_splits = kinds.texts.size() == 1 && kinds.texts[0] == "ROW_SPLITS";
  if (!(by_rows || by_splits) || c.inputs.size() != (by_rows ? 5u : 4u)) {
    c.fail_unsupported("only one ragged dimension is read");
  }
  if (!values.shape().has_rank() || values.rank() != 1) {
    c.fail_unsupported("only ragged rows of scalars are read");
  }
  Tensor starts, counts;
  const Tensor zero(int64_t{0}), one(int64_t{1});
  if (by_rows) {
    const Tensor ids = wide(c.in(4));
    counts = call("unsorted_segment_sum", {call("ones_like", {ids}), ids, wide(c.in(3))});
    starts = call("cumsum", {counts}, {{"exclusive", true}});
  } else {
    const Tensor splits = wide(c.in(3));
    const Tensor rows = first(call("shape", {splits}, {{"out_type", DType::int64}})) - one;
    const Tensor row = call("reshape", {rows, Tensor::of({int64_t{1}}, {1})});
    starts = call("slice", {splits, Tensor::of({int64_t{0}}, {1}), row});
    counts = call("slice", {splits, Tensor::of({int64_t{1}}, {1}), row}) - starts;
  }
  const Ints shape = c.known(0);
  const Tensor none = Tensor::of({int64_t{0}}, {1});
  const Tensor all[] = {none, counts};
  const Tensor width = shape.size() == 2 && shape[1] >= 0
                           ? Tensor(shape[1])
                           : call("max", {call_all("concat", all, {{"axis", 0}})[0]});
  const Tensor columns = call("range", {zero, width, one});
  const auto upright = [](const Tensor& t) { return call("expand_dims", {t}, {{"axis", 1}}); };
  const Tensor at = upright(starts) + columns + one;
  const Tensor is_there = call("less", {columns, upright(counts)});
  const Tensor padded[] = {call("reshape", {c.in(2), Tensor::of({int64_t{1}}, {1})}), values};
  c.give(call("gather",
              {call_all("concat", padded, {{"axis", 0}})[0], call("select", {is_there, at, zero})},
              {{"axis", 0}}));
}

constexpr NamedReader kReaders[] = {
    {"Const", read_const},
    {"Placeholder", read_placeholder},
    {"PlaceholderV2", read_placeholder},
    {"PlaceholderWithDefault", read_identity},
    {"NoOp", read_nothing},
    {"ControlTrigger", read_nothing},
    {"Assert", read_nothing},
    {"Print", read_identity},
    {"PrintV2", read_nothing},
    {"Identity", read_identity},
    {"IdentityN", pass},
    {"PreventGradient", read_identity},
    {"Snapshot", read_identity},
    {"CheckNumerics", read_identity},
    {"EnsureShape", read_ensure_shape},
    {"Split", read_split},
    {"SplitV", read_split_sizes},
    {"Unpack", read_unpack},
    {"Pad", read_pad},
    {"PadV2", read_pad},
    {"MirrorPad", read_mirror_pad},
    {"Gather", read_gather},
    {"Concat", read_concat},
    {"ShapeN", read_shapes},
    {"LinSpace", read_linspace},
    {"Select", read_select},
    {"ZerosLike", read_zeros_like},
    {"OnesLike", read_ones_like},
    {"DenseBincount", read_bincount},
    {"RaggedBincount", read_ragged_bincount},
    {"RaggedTensorToTensor", read_ragged_to_tensor},
};

}  // namespace

std::span<const NamedReader> array_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
