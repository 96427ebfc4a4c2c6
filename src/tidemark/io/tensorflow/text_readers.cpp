// Strings.
#include <tidemark/call.h>

#include "tidemark/io/tensorflow/node_call.h"

namespace tidemark::io::tensorflow {

namespace {

Tensor text_of(const std::string& text) {
  const std::string_view one[] = {text};
  return Tensor::of_strings(one, Shape{});
}

void read_static_replace(NodeCall& c) {
  c.give(call("regex_replace",
              {c.in(0), text_of(c.text("pattern", "")), text_of(c.text("rewrite", ""))},
              {{"replace_global", c.flag("replace_global", true)}}));
}
void read_static_match(NodeCall& c) {
  c.give(call("regex_full_match", {c.in(0), text_of(c.text("pattern", ""))}));
}

/// The pieces of all strings, with the row and column of each and the size of the whole.
void read_split(NodeCall& c) {
  const Tensor separator = c.in(1);
  if (separator.is_symbolic() || separator.dtype() != DType::string ||
      separator.num_elements() != 1) {
    c.fail_unsupported("the separator has to be a constant here");
  }
  const Tensor inputs[] = {c.in(0)};
  const std::vector<Tensor> split = call_all(
      "string_split", inputs,
      {{"sep", std::string(separator.string_at(0))}, {"maxsplit", c.number("maxsplit", -1)}});
  const Tensor& values = split[0];
  const Tensor& splits = split[1];
  const Tensor zero(int64_t{0}), one(int64_t{1});
  const auto size_of_first = [](const Tensor& t) {
    return call("gather", {call("shape", {t}, {{"out_type", DType::int64}}), Tensor(int32_t{0})});
  };
  const Tensor rows = size_of_first(splits) - one;
  const Tensor row = call("reshape", {rows, Tensor::of({int64_t{1}}, {1})});
  const Tensor starts = call("slice", {splits, Tensor::of({int64_t{0}}, {1}), row});
  const Tensor counts = call("slice", {splits, Tensor::of({int64_t{1}}, {1}), row}) - starts;
  const Tensor ids = call("repeat", {call("range", {zero, rows, one}), counts}, {{"axis", 0}});
  const Tensor columns =
      call("range", {zero, size_of_first(values), one}) - call("gather", {starts, ids});
  const Tensor pairs[] = {ids, columns};
  c.give(call_all("stack", pairs, {{"axis", 1}})[0]);
  c.give(values);
  const Tensor all[] = {Tensor::of({int64_t{0}}, {1}), counts};
  const Tensor sizes[] = {rows, call("max", {call_all("concat", all, {{"axis", 0}})[0]})};
  c.give(call_all("stack", sizes, {{"axis", 0}})[0]);
}

/// Serialized Example messages; each dense feature is a column.
void read_parse_example(NodeCall& c) {
  const AttrValue shapes = c.attr("dense_shapes");
  const auto count = static_cast<int64_t>(shapes.texts.size());
  const bool has_others = c.number("num_sparse", 0) != 0 ||
                          !c.attr("ragged_value_types").numbers.empty() ||
                          !c.attr("sparse_types").numbers.empty();
  if (has_others || c.inputs.size() != 5 + shapes.texts.size()) {
    c.fail_unsupported("only features of fixed length are read");
  }
  const Tensor keys = c.in(3);
  if (keys.is_symbolic() || keys.dtype() != DType::string || keys.num_elements() != count) {
    c.fail_unsupported("the names of the features have to be constants here");
  }
  for (int64_t i = 0; i < count; ++i) {
    const Shape shape = read_shape(shapes.texts[static_cast<size_t>(i)]);
    if (!shape.is_fully_known()) c.fail_unsupported("only features of fixed length are read");
    c.give(call("parse_example_fixed", {c.in(0), c.in(5 + static_cast<size_t>(i))},
                {{"key", std::string(keys.string_at(i))},
                 {"dense_shape", Ints(shape.begin(), shape.end())}}));
  }
}

constexpr NamedReader kReaders[] = {
    {"ParseExampleV2", read_parse_example},
    {"StaticRegexReplace", read_static_replace},
    {"StaticRegexFullMatch", read_static_match},
    {"StringSplitV2", read_split},
};

}  // namespace

std::span<const NamedReader> text_readers() { return kReaders; }

}  // namespace tidemark::io::tensorflow
