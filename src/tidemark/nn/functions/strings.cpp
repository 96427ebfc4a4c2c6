#include <tidemark/call.h>
#include <tidemark/strings.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::strings {

namespace {

Tensor text_of(std::string_view value) {
  const std::string_view all[] = {value};
  return Tensor::of_strings(all, {});
}

RaggedTensor as_rows(std::vector<Tensor> parts) {
  return {std::move(parts[0]), std::move(parts[1])};
}

}  // namespace

Tensor join(const std::vector<Tensor>& inputs, const std::string& separator) {
  TIDEMARK_HERE;
  return inputs.empty() ? text_of("") : string_join(inputs, separator);
}

RaggedTensor split(const Tensor& input, const SplitOptions& options) {
  TIDEMARK_HERE;
  return as_rows(string_split(input, options.sep, options.maxsplit));
}

RaggedTensor bytes_split(const Tensor& input) {
  TIDEMARK_HERE;
  return as_rows(string_bytes_split(input));
}

RaggedTensor ngrams(const RaggedTensor& data, const Ints& ngram_width,
                    const NgramsOptions& options) {
  TIDEMARK_HERE;
  for (const int64_t width : ngram_width) {
    if (width < 1) fail("[ngrams] widths are positive. Received: ", width);
  }
  return as_rows(string_ngrams(data.values, data.row_splits, options.separator, ngram_width,
                               {.left_pad = options.left_pad,
                                .right_pad = options.right_pad,
                                .pad_width = options.padding_width,
                                .preserve_short_sequences = options.preserve_short_sequences}));
}

Tensor format(const std::string& text, const std::vector<Tensor>& inputs,
              const FormatOptions& options) {
  TIDEMARK_HERE;
  if (options.placeholder.empty()) fail("[format] the placeholder is not empty");
  std::vector<Tensor> parts;
  size_t begin = 0, used = 0;
  for (size_t end; (end = text.find(options.placeholder, begin)) != std::string::npos; ++used) {
    parts.push_back(text_of(std::string_view(text).substr(begin, end - begin)));
    if (used < inputs.size()) parts.push_back(tensor_summary(inputs[used], options.summarize));
    begin = end + options.placeholder.size();
  }
  if (used != inputs.size()) {
    fail("[format] the template has ", used, " placeholders. Received: ", inputs.size(),
         " tensors");
  }
  parts.push_back(text_of(std::string_view(text).substr(begin)));
  return string_join(parts);
}

Tensor unsorted_segment_join(const Tensor& inputs, const Tensor& segment_ids, int64_t num_segments,
                             const std::string& separator) {
  TIDEMARK_HERE;
  if (inputs.rank() != 1 || segment_ids.rank() != 1) {
    fail("[unsorted_segment_join] takes vectors. Received shapes: ", inputs.shape(), " and ",
         segment_ids.shape());
  }
  const Tensor rows = string_segment_join(expand_dims(inputs, 1), segment_ids,
                                          Tensor(static_cast<int32_t>(num_segments)), separator);
  return reshape(rows, nn::vector_of({num_segments}));
}

RaggedTensor unicode_decode(const Tensor& input, const std::string& input_encoding,
                            const UnicodeOptions& options) {
  TIDEMARK_HERE;
  return unicode_decode_with_offsets(input, input_encoding, options).values;
}

WithOffsets unicode_decode_with_offsets(const Tensor& input, const std::string& input_encoding,
                                        const UnicodeOptions& options) {
  TIDEMARK_HERE;
  const std::vector<Tensor> parts =
      tidemark::unicode_decode(input, input_encoding, options.errors, options.replacement_char);
  return {{parts[0], parts[2]}, {parts[1], parts[2]}};
}

Tensor unicode_encode(const RaggedTensor& input, const std::string& output_encoding,
                      const UnicodeOptions& options) {
  TIDEMARK_HERE;
  return tidemark::unicode_encode(cast(input.values, DType::int32), input.row_splits,
                                  output_encoding, options.errors, options.replacement_char);
}

RaggedTensor unicode_split(const Tensor& input, const std::string& input_encoding,
                           const UnicodeOptions& options) {
  TIDEMARK_HERE;
  return unicode_split_with_offsets(input, input_encoding, options).values;
}

WithOffsets unicode_split_with_offsets(const Tensor& input, const std::string& input_encoding,
                                       const UnicodeOptions& options) {
  TIDEMARK_HERE;
  const auto [points, offsets] = unicode_decode_with_offsets(input, input_encoding, options);
  const Tensor count = size(points.values) + 1;
  const Tensor each = range(Tensor(int32_t{0}), count, Tensor(int32_t{1}));
  const Tensor ends = cast(each, points.row_splits.dtype());
  const Tensor parts = unicode_encode({points.values, ends}, input_encoding, options);
  return {{parts, points.row_splits}, offsets};
}

}  // namespace tidemark::strings
