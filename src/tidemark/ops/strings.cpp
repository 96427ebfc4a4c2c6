// Ops on strings: lengths, parts, joining, cases, hashes, patterns.
#include <tidemark/op.h>

#include "tidemark/ops/movement.h"
#include "tidemark/ops/strings.h"
#include "tidemark/ops/text/patterns.h"
#include "tidemark/ops/text/sink.h"

namespace tidemark {

namespace {

using namespace movement;

void check_unit(const InferContext& c) {
  const std::string& unit = c.attr("unit").as_string();
  if (unit == "BYTE" || unit == "UTF8_CHAR") return;
  c.fail("unit must be \"BYTE\" or \"UTF8_CHAR\"; given \"", unit, "\"");
}

void length_rule(InferContext& c) {
  check_unit(c);
  c.set(0, c.shape(0));
}

/// No longer than the input.
void shrinking_rule(InferContext& c) {
  c.set(0, c.shape(0));
  c.set_string_bytes(0, characters_of(c.input(0)));
}

void case_rule(InferContext& c) {
  const std::string& encoding = c.attr("encoding").as_string();
  if (!encoding.empty() && encoding != "utf-8") {
    c.fail("only utf-8 or '' (no encoding) is supported, received ", encoding);
  }
  // A letter of one or two bytes may become one of three, and a malformed byte the replacement's
  // three.
  c.set(0, c.shape(0));
  c.set_string_bytes(
      0, checked_multiply(characters_of(c.input(0)), encoding.empty() ? 1 : 3, "characters"));
}

void substr_rule(InferContext& c) {
  check_unit(c);
  const Shape& pos = c.shape(1);
  const Shape& len = c.shape(2);
  if (pos.is_fully_known() && len.is_fully_known() && pos != len) {
    c.fail("pos and len should have the same shape, got: ", pos.to_brackets(), " vs. ",
           len.to_brackets());
  }
  const Shape out = broadcast_shapes(c.shape(0), pos);
  c.set(0, out);
  if (!text::holds_values(c.call())) return;
  c.set_string_bytes(
      0, checked_multiply(longest_string(c.input(0)), out.num_elements(), "characters"));
}

void join_rule(InferContext& c) {
  Shape out;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const Shape& s = c.shape(i);
    if (!s.has_rank()) {
      out = s;
    } else if (s.rank() > 0) {
      if (out.has_rank() && out.rank() > 0 && s.is_fully_known() && out.is_fully_known() &&
          s != out) {
        c.fail("Input shapes do not match: ", out.to_brackets(), " vs. ", s.to_brackets());
      }
      out = s;
    }
  }
  c.set(0, out);
  if (!text::holds_values(c.call())) return;
  const int64_t count = out.num_elements();
  int64_t bytes = checked_multiply(
      checked_multiply(static_cast<int64_t>(c.attr("separator").as_string().size()),
                       c.num_inputs() - 1, "characters"),
      count, "characters");
  for (int i = 0; i < c.num_inputs(); ++i) {
    const int64_t copies = c.shape(i).rank() == 0 ? count : 1;
    bytes = checked_add(bytes, checked_multiply(characters_of(c.input(i)), copies, "characters"),
                        "characters");
  }
  c.set_string_bytes(0, bytes);
}

void buckets_rule(InferContext& c) {
  const int64_t buckets = c.attr("num_buckets").as_int();
  if (buckets < 1) c.fail("num_buckets must be at least 1; given ", buckets);
  c.set(0, c.shape(0));
}

void keyed_buckets_rule(InferContext& c) {
  buckets_rule(c);
  const Ints& key = c.attr("key").as_ints();
  if (key.size() != 2) c.fail("Key must have 2 elements; given ", key.size());
}

void check_pattern_input(const InferContext& c, int i) {
  if (c.shape(i).has_rank() && c.shape(i).rank() != 0) {
    c.fail(c.call().op.input_param(i).name, " must be scalar, but received ",
           c.shape(i).to_brackets());
  }
}

void regex_replace_rule(InferContext& c) {
  check_pattern_input(c, 1);
  check_pattern_input(c, 2);
  c.set(0, c.shape(0));
  if (!text::holds_values(c.call())) return;
  const std::string_view rewrite = c.input(2).string_at(0);
  const int64_t characters = characters_of(c.input(0));
  // There are at most one match for each character and one at the end: a bound good enough for
  // short rewrites. Others are tried.
  constexpr size_t kShort = 1;
  if (rewrite.size() <= kShort && !text::names_groups(rewrite)) {
    const auto size = static_cast<int64_t>(rewrite.size());
    return c.set_string_bytes(0, characters + (characters + c.input(0).num_elements()) * size);
  }
  text::CharacterCount count;
  text::replace_all(c.call(), count);
  c.set_string_bytes(0, count.characters());
}

void full_match_rule(InferContext& c) {
  check_pattern_input(c, 1);
  c.set(0, c.shape(0));
}

void same_shape_rule(InferContext& c) { c.set(0, c.shape(0)); }

}  // namespace

TIDEMARK_OP(string_length)
    .doc("Length of each string, in bytes or in UTF-8 characters.")
    .python("tf.strings.length")
    .tensorflow("StringLength", {}, "unit")
    .input("input", kString)
    .attr("unit", AttrKind::string, "BYTE")
    .output("output", always(DType::int32))
    .shape(length_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_substr)
    .doc(
        "The `len` bytes or characters of each string from `pos` on; a negative `pos` counts from "
        "the end. `pos` and `len` broadcast with the strings.")
    .python("tf.strings.substr")
    .tensorflow("Substr", {}, "unit")
    .input("input", kString)
    .input("pos", kIndex, 'I')
    .input("len", kIndex, 'I')
    .attr("unit", AttrKind::string, "BYTE")
    .output("output", always(DType::string))
    .may_fail()
    .shape(substr_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_join)
    .doc("The strings at the same place of all inputs, joined with the separator between them.")
    .tensorflow("StringJoin", {}, "separator")
    .input_list("inputs", kString)
    .attr("separator", AttrKind::string, "")
    .output("output", always(DType::string))
    .shape(join_rule)
    .no_gradient();

TIDEMARK_OP(string_lower)
    .doc("Letters in lower case: ASCII's, or all of Unicode's with the encoding \"utf-8\".")
    .python("tf.strings.lower")
    .tensorflow("StringLower", {}, "encoding")
    .input("input", kString)
    .attr("encoding", AttrKind::string, "")
    .output("output", always(DType::string))
    .shape(case_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_upper)
    .doc("Letters in upper case: ASCII's, or all of Unicode's with the encoding \"utf-8\".")
    .python("tf.strings.upper")
    .tensorflow("StringUpper", {}, "encoding")
    .input("input", kString)
    .attr("encoding", AttrKind::string, "")
    .output("output", always(DType::string))
    .shape(case_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_strip)
    .doc("Strings without white space at their ends.")
    .python("tf.strings.strip")
    .tensorflow("StringStrip")
    .input("input", kString)
    .output("output", always(DType::string))
    .shape(shrinking_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_to_number)
    .doc("The number each string spells.")
    .python("tf.strings.to_number")
    .tensorflow("StringToNumber", {}, "out_type")
    .input("input", kString)
    .attr("out_type", AttrKind::dtype, DType::float32)
    .among(dtype_set(DType::float32, DType::float64, DType::int32, DType::int64, DType::uint32,
                     DType::uint64))
    .output("output", from_attr("out_type"))
    .may_fail()
    .shape(same_shape_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_to_hash_bucket)
    .doc("Each string's hash modulo `num_buckets`.")
    .python("tf.strings.to_hash_bucket")
    .tensorflow("StringToHashBucket", {}, "num_buckets")
    .input("input", kString)
    .attr("num_buckets", AttrKind::integer)
    .output("output", always(DType::int64))
    .shape(buckets_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_to_hash_bucket_fast)
    .doc("Each string's FarmHash fingerprint modulo `num_buckets`.")
    .python("tf.strings.to_hash_bucket_fast")
    .tensorflow("StringToHashBucketFast", {}, "num_buckets")
    .input("input", kString)
    .attr("num_buckets", AttrKind::integer)
    .output("output", always(DType::int64))
    .shape(buckets_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(string_to_hash_bucket_strong)
    .doc("Each string's SipHash under the key of two integers, modulo `num_buckets`.")
    .python("tf.strings.to_hash_bucket_strong")
    .tensorflow("StringToHashBucketStrong", {}, "num_buckets key")
    .input("input", kString)
    .attr("num_buckets", AttrKind::integer)
    .attr("key", AttrKind::ints)
    .output("output", always(DType::int64))
    .shape(keyed_buckets_rule)
    .each_element()
    .no_gradient();

TIDEMARK_OP(regex_full_match)
    .doc("True where all of a string matches the RE2 pattern.")
    .python("tf.strings.regex_full_match")
    .tensorflow("RegexFullMatch")
    .input("input", kString)
    .input("pattern", kString, 'P')
    .output("output", always(DType::bool_))
    .shape(full_match_rule)
    .no_gradient();

TIDEMARK_OP(regex_replace)
    .doc(
        "Strings with the matches of the RE2 pattern (only the first unless `replace_global`) "
        "replaced by `rewrite`, in which \\1 stands for the first group.")
    .python("tf.strings.regex_replace")
    .tensorflow("RegexReplace", {}, "replace_global")
    .input("input", kString)
    .input("pattern", kString, 'P')
    .input("rewrite", kString, 'P')
    .attr("replace_global", AttrKind::boolean, true)
    .output("output", always(DType::string))
    .shape(regex_replace_rule)
    .no_gradient();

}  // namespace tidemark
