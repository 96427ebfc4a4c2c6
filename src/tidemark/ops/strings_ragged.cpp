// Ops that take strings apart into rows of different length (values and where each row begins), and
// numbers as strings.
#include <tidemark/op.h>

#include "tidemark/base/plain_type.h"
#include "tidemark/ops/axes.h"
#include "tidemark/ops/movement.h"
#include "tidemark/ops/text/formatting.h"
#include "tidemark/ops/text/pieces.h"
#include "tidemark/ops/text/splits.h"
#include "tidemark/ops/text/transcoding.h"

namespace tidemark {

namespace {

using namespace movement;
using text::CharacterCount;

/// One more than the elements of input i.
int64_t splits_size(const InferContext& c, int i) {
  return c.shape(i).is_fully_known() ? c.shape(i).num_elements() + 1 : kUnknownDim;
}

void split_rule(InferContext& c) {
  c.set(0, Shape{kUnknownDim});
  c.set(1, Shape{splits_size(c, 0)});
  if (!text::holds_values(c.call())) return;
  CharacterCount count;
  text::split_strings(c.call(), count, [] {});
  c.set(0, Shape{count.elements()});
  c.set_string_bytes(0, count.characters());
}

void bytes_split_rule(InferContext& c) {
  c.set(0, Shape{kUnknownDim});
  c.set(1, Shape{splits_size(c, 0)});
  if (!text::holds_values(c.call())) return;
  const int64_t characters = characters_of(c.input(0));
  c.set(0, Shape{characters});
  c.set_string_bytes(0, characters);
}

void ngrams_rule(InferContext& c) {
  for (int64_t width : c.attr("ngram_widths").as_ints()) {
    if (width < 1) c.fail("ngram widths must be at least 1; given ", width);
  }
  check_vector(c, 0);
  check_vector(c, 1);
  c.set(0, Shape{kUnknownDim});
  c.set(1, c.shape(1), c.dtype(1));
  if (!text::holds_values(c.call())) return;
  const Ints splits = c.ints(1);
  text::check_splits(c.op_name(), splits, c.input(0).num_elements());
  CharacterCount count;
  text::make_ngrams(c.call(), splits, count, [] {});
  c.set(0, Shape{count.elements()});
  c.set_string_bytes(0, count.characters());
}

void decode_rule(InferContext& c) {
  text::ErrorPolicy policy(c.call());
  const text::Encoding encoding =
      text::encoding_from_name(c.op_name(), c.attr("input_encoding").as_string());
  int64_t count = kUnknownDim;
  if (text::holds_values(c.call())) {
    count = 0;
    for (int64_t i = 0; i < c.input(0).num_elements(); ++i) {
      text::decode(c.input(0).string_at(i), encoding, policy, c.call(),
                   [&](uint32_t, size_t, uint32_t) { ++count; });
    }
  }
  c.set(0, Shape{count});
  c.set(1, Shape{count});
  c.set(2, Shape{splits_size(c, 0)});
}

void encode_rule(InferContext& c) {
  check_vector(c, 0);
  check_vector(c, 1);
  const Shape& splits_shape = c.shape(1);
  const int64_t rows = splits_shape.has_rank() && splits_shape[0] != kUnknownDim
                           ? std::max<int64_t>(splits_shape[0] - 1, 0)
                           : kUnknownDim;
  text::ErrorPolicy policy(c.call());
  const text::Encoding encoding =
      text::encoding_from_name(c.op_name(), c.attr("output_encoding").as_string());
  c.set(0, Shape{rows});
  if (!text::holds_values(c.call())) return;
  const Ints splits = c.ints(1);
  text::check_splits(c.op_name(), splits, c.input(0).num_elements());
  CharacterCount count;
  text::put_encoded(c.input(0).values<int32_t>(), encoding, policy, c.call(), count);
  c.set_string_bytes(0, count.characters());
}

void transcode_rule(InferContext& c) {
  text::ErrorPolicy check(c.call());
  c.set(0, c.shape(0));
  CharacterCount count;
  if (text::holds_values(c.call())) text::transcode(c.call(), count);
  c.set_string_bytes(0, count.characters());
}

void as_string_rule(InferContext& c) {
  const text::PrintFormat check(c.call());
  c.set(0, c.shape(0));
  if (!text::holds_values(c.call())) return;
  CharacterCount count;
  if (c.dtype(0) == DType::string) {
    text::put_padded_strings(c.call(), count);
  } else {
    with_plain_type(c.dtype(0),
                    [&](auto zero) { text::put_numbers<decltype(zero)>(c.call(), count); });
  }
  c.set_string_bytes(0, count.characters() + 1);  // printf's terminator
}

void summary_rule(InferContext& c) {
  c.set(0, Shape{});
  if (!text::holds_values(c.call())) return;
  CharacterCount count;
  if (c.dtype(0) == DType::string) {
    text::put_summary<StringRef>(c.call(), count);
  } else {
    with_plain_type(c.dtype(0),
                    [&](auto zero) { text::put_summary<decltype(zero)>(c.call(), count); });
  }
  c.set_string_bytes(0, count.characters() + 1);
}

void segment_join_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  const Shape& ids = c.shape(1);
  if (!in.has_rank() || !ids.has_rank()) return c.set(0, Shape::unknown());
  if (in.rank() != 2 || ids.rank() != 1 || (in.is_fully_known() && in[0] != ids[0])) {
    c.fail("inputs must be [n, m] and segment_ids [n]; given ", in.to_brackets(), " and ",
           ids.to_brackets());
  }
  Shape out{kUnknownDim, in[1]};
  if (!text::holds_values(c.call())) return c.set(0, out);
  out[0] = c.scalar_int(2);
  if (out[0] < 0) c.fail("num_segments must not be negative; given ", out[0]);
  for (int64_t id : c.ints(1)) {
    if (id < 0 || id >= out[0]) c.fail("segment_ids must be in [0, ", out[0], "); given ", id);
  }
  c.set(0, out);
  const auto separator = static_cast<int64_t>(c.attr("separator").as_string().size());
  c.set_string_bytes(
      0, checked_add(characters_of(c.input(0)),
                     checked_multiply(separator, in.num_elements(), "characters"), "characters"));
}

void reduce_join_rule(InferContext& c) {
  const Shape& in = c.shape(0);
  if (!in.has_rank()) return c.set(0, in);
  const Attr& axis = c.attr("axis");
  std::vector<char> flags(static_cast<size_t>(in.rank()) + 1);
  auto* marks = reinterpret_cast<bool*>(flags.data());
  if (!axis.is_none()) {
    for (int64_t a : axis.as_ints()) {
      if (a < -in.rank() || a >= in.rank()) {
        fail<OutOfRangeError>("[", c.op_name(), "] Invalid reduction dimension ", a,
                              " for input with ", in.rank(), " dimension(s)");
      }
    }
  }
  mark_axes(c.op_name(), axis, in.rank(), marks);
  const Shape out = reduced_shape(in, marks, c.attr("keepdims").as_bool());
  c.set(0, out);
  if (!text::holds_values(c.call())) return;
  const auto separator = static_cast<int64_t>(c.attr("separator").as_string().size());
  c.set_string_bytes(
      0, checked_add(characters_of(c.input(0)),
                     checked_multiply(separator, in.num_elements(), "characters"), "characters"));
}

}  // namespace

TIDEMARK_OP(string_split)
    .doc(
        "The pieces of every string between the separators (white space when `sep` is empty), and "
        "where each string's pieces begin.")
    .input("input", kString)
    .attr("sep", AttrKind::string, "")
    .attr("maxsplit", AttrKind::integer, -1)
    .output("values", always(DType::string))
    .output("row_splits", always(DType::int64))
    .shape(split_rule)
    .no_gradient();

TIDEMARK_OP(string_bytes_split)
    .doc("The bytes of every string, each a string, and where each string's begin.")
    .input("input", kString)
    .output("values", always(DType::string))
    .output("row_splits", always(DType::int64))
    .shape(bytes_split_rule)
    .no_gradient();

TIDEMARK_OP(string_ngrams)
    .doc("N-grams of the strings of each row, for each width in order.")
    .tensorflow("StringNGrams", {},
                "separator ngram_widths left_pad right_pad pad_width preserve_short_sequences")
    .input("data", kString)
    .input("data_splits", kIndex, 'I')
    .attr("separator", AttrKind::string, " ")
    .attr("ngram_widths", AttrKind::ints)
    .attr("left_pad", AttrKind::string, "")
    .attr("right_pad", AttrKind::string, "")
    .attr("pad_width", AttrKind::integer, 0)
    .attr("preserve_short_sequences", AttrKind::boolean, false)
    .output("ngrams", always(DType::string))
    .output("ngrams_splits", by_rule())
    .shape(ngrams_rule)
    .no_gradient();

TIDEMARK_OP(unicode_decode)
    .doc("The code points of every string, the byte each begins at, and where each string's begin.")
    .input("input", kString)
    .attr("input_encoding", AttrKind::string)
    .attr("errors", AttrKind::string, "replace")
    .attr("replacement_char", AttrKind::integer, 65533)
    .attr("replace_control_characters", AttrKind::boolean, false)
    .output("char_values", always(DType::int32))
    .output("char_to_byte_starts", always(DType::int64))
    .output("row_splits", always(DType::int64))
    .may_fail()
    .shape(decode_rule)
    .no_gradient();

TIDEMARK_OP(unicode_encode)
    .doc("Each row of code points as one string.")
    .tensorflow("UnicodeEncode", {}, "errors output_encoding replacement_char")
    .input("input_values", dtype_set(DType::int32))
    .input("input_splits", kIndex, 'I')
    .attr("output_encoding", AttrKind::string)
    .attr("errors", AttrKind::string, "replace")
    .attr("replacement_char", AttrKind::integer, 65533)
    .output("output", always(DType::string))
    .may_fail()
    .shape(encode_rule)
    .on_host(0, 1)
    .no_gradient();

TIDEMARK_OP(unicode_transcode)
    .doc("Strings of one Unicode encoding in another.")
    .python("tf.strings.unicode_transcode")
    .tensorflow("UnicodeTranscode", {},
                "input_encoding output_encoding errors replacement_char replace_control_characters")
    .input("input", kString)
    .attr("input_encoding", AttrKind::string)
    .attr("output_encoding", AttrKind::string)
    .attr("errors", AttrKind::string, "replace")
    .attr("replacement_char", AttrKind::integer, 65533)
    .attr("replace_control_characters", AttrKind::boolean, false)
    .output("output", always(DType::string))
    .may_fail()
    .shape(transcode_rule)
    .no_gradient();

TIDEMARK_OP(as_string)
    .doc("Each element as text.")
    .python("tf.strings.as_string", "tf.as_string")
    .tensorflow("AsString", {}, "precision scientific shortest width fill")
    .input("input", kAny)
    .attr("precision", AttrKind::integer, -1)
    .attr("scientific", AttrKind::boolean, false)
    .attr("shortest", AttrKind::boolean, false)
    .attr("width", AttrKind::integer, -1)
    .attr("fill", AttrKind::string, "")
    .output("output", always(DType::string))
    .shape(as_string_rule)
    .on_host(0)
    .each_element()
    .no_gradient();

TIDEMARK_OP(tensor_summary)
    .doc("A tensor as one string, with at most `summarize` rows from each end of each dimension.")
    .input("input", kAny)
    .attr("summarize", AttrKind::integer, 3)
    .output("output", always(DType::string))
    .shape(summary_rule)
    .on_host(0)
    .no_gradient();

TIDEMARK_OP(string_segment_join)
    .doc("The strings of each segment joined, column by column.")
    .tensorflow("UnsortedSegmentJoin", {}, "separator")
    .input("inputs", kString)
    .input("segment_ids", kIndex, 'I')
    .input("num_segments", kIndex, 'N')
    .attr("separator", AttrKind::string, "")
    .output("output", always(DType::string))
    .shape(segment_join_rule)
    .no_gradient();

TIDEMARK_OP(string_reduce_join)
    .doc("The strings along the dimensions in `axis` (all when it is None) joined into one.")
    .python("tf.strings.reduce_join")
    .tensorflow("ReduceJoin", "inputs axis", "keep_dims=keepdims separator")
    .input("inputs", kString)
    .optional_attr("axis", AttrKind::ints)
    .attr("keepdims", AttrKind::boolean, false)
    .attr("separator", AttrKind::string, "")
    .output("output", always(DType::string))
    .shape(reduce_join_rule)
    .no_gradient();

}  // namespace tidemark
