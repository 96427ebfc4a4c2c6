// tf.strings: strings taken apart and put together.
//
//   td::Tensor lines = td::constant({"a b", "c"});
//   td::RaggedTensor words = td::strings::split(lines);                     // [[a, b], [c]]
//   td::Tensor all = td::strings::join({lines, lines}, "-");                // [a b-a b, c-c]
//   td::Tensor text = td::strings::format("{} of {}", {td::constant(1), td::constant(2)});
//
// Those that are ops (td::strings::length, lower, regex_replace, …) are in <tidemark/ops.h>.
#pragma once

#include <tidemark/composed.h>
#include <tidemark/ops.h>
#include <tidemark/ragged.h>

#include <string>
#include <vector>

namespace tidemark {

namespace strings {

/// The strings at the same place of all inputs, joined.
TIDEMARK_API Tensor join(const std::vector<Tensor>& inputs, const std::string& separator = "");
struct SplitOptions {
  std::string sep = "";  // none: white space
  int64_t maxsplit = -1;
};
/// The pieces of every string between separators, a row for each string.
TIDEMARK_API RaggedTensor split(const Tensor& input, const SplitOptions& options = {});
/// The bytes of every string, each a string.
TIDEMARK_API RaggedTensor bytes_split(const Tensor& input);
struct NgramsOptions {
  std::string separator = " ";
  std::string left_pad = "", right_pad = "";
  int64_t padding_width = 0;  // -1: as many as an n-gram needs
  bool preserve_short_sequences = false;
};
/// N-grams of the strings of each row.
TIDEMARK_API RaggedTensor ngrams(const RaggedTensor& data, const Ints& ngram_width,
                                 const NgramsOptions& options = {});
struct FormatOptions {
  std::string placeholder = "{}";
  int64_t summarize = 3;
};
/// The template with its placeholders replaced by the values of tensors.
TIDEMARK_API Tensor format(const std::string& text, const std::vector<Tensor>& inputs,
                           const FormatOptions& options = {});
/// The strings of each segment joined, in their order. Strings and numbers are vectors.
TIDEMARK_API Tensor unsorted_segment_join(const Tensor& inputs, const Tensor& segment_ids,
                                          int64_t num_segments, const std::string& separator = "");

struct UnicodeOptions {
  std::string errors = "replace";  // "ignore", "strict"
  int64_t replacement_char = 65533;
};
/// The code points of every string, a row for each.
TIDEMARK_API RaggedTensor unicode_decode(const Tensor& input, const std::string& input_encoding,
                                         const UnicodeOptions& options = {});
struct WithOffsets {
  RaggedTensor values, offsets;
};
/// The same, and the byte at which each begins.
TIDEMARK_API WithOffsets unicode_decode_with_offsets(const Tensor& input,
                                                     const std::string& input_encoding,
                                                     const UnicodeOptions& options = {});
/// The code points of each row as a string.
TIDEMARK_API Tensor unicode_encode(const RaggedTensor& input, const std::string& output_encoding,
                                   const UnicodeOptions& options = {});
/// The characters of every string, each a string of the same encoding.
TIDEMARK_API RaggedTensor unicode_split(const Tensor& input, const std::string& input_encoding,
                                        const UnicodeOptions& options = {});

TIDEMARK_API WithOffsets unicode_split_with_offsets(const Tensor& input,
                                                    const std::string& input_encoding,
                                                    const UnicodeOptions& options = {});

}  // namespace strings
}  // namespace tidemark
