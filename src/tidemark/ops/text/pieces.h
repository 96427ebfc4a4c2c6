// Taking strings apart and putting them together, over a sink.
#pragma once

#include <algorithm>

#include "tidemark/ops/text/sink.h"

namespace tidemark::text {

inline bool is_space(char c) {
  return c == ' ' || (c >= '\t' && c <= '\r');  // \t \n \v \f \r
}

inline std::string_view stripped(std::string_view s) {
  while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
  while (!s.empty() && is_space(s.back())) s.remove_suffix(1);
  return s;
}

/// The pieces between runs of white space; `max_pieces` < 0: all of them. What is left over stays
/// in one piece.
template <class Put>
void split_on_space(std::string_view s, int64_t max_splits, Put put) {
  for (int64_t splits = 0;; ++splits) {
    while (!s.empty() && is_space(s.front())) s.remove_prefix(1);
    if (s.empty()) return;
    if (max_splits >= 0 && splits >= max_splits) return put(s);
    size_t end = 0;
    while (end < s.size() && !is_space(s[end])) ++end;
    put(s.substr(0, end));
    s.remove_prefix(end);
  }
}

/// The pieces between the occurrences of a separator that is not empty.
template <class Put>
void split_on(std::string_view s, std::string_view separator, int64_t max_splits, Put put) {
  for (int64_t splits = 0; max_splits < 0 || splits < max_splits; ++splits) {
    const size_t at = s.find(separator);
    if (at == std::string_view::npos) break;
    put(s.substr(0, at));
    s.remove_prefix(at + separator.size());
  }
  put(s);
}

/// string_split: the pieces of every element; `end_row` is called after each.
template <class Sink, class EndRow>
void split_strings(const OpCall& call, Sink& sink, EndRow end_row) {
  const Tensor& input = call.inputs[0];
  const std::string& separator = call.attr("sep").as_string();
  const int64_t max_splits = call.attr("maxsplit").as_int();
  const auto put = [&](std::string_view piece) {
    sink.append(piece);
    sink.close();
  };
  for (int64_t i = 0; i < input.num_elements(); ++i) {
    if (separator.empty()) {
      split_on_space(input.string_at(i), max_splits, put);
    } else {
      split_on(input.string_at(i), separator, max_splits, put);
    }
    end_row();
  }
}

/// What string_ngrams is asked for.
struct NgramSpec {
  std::string_view separator, left_pad, right_pad;
  int64_t pad_width;  // < 0: one less than the n-gram is wide
  bool preserve_short;

  explicit NgramSpec(const OpCall& call)
      : separator(call.attr("separator").as_string()),
        left_pad(call.attr("left_pad").as_string()),
        right_pad(call.attr("right_pad").as_string()),
        pad_width(call.attr("pad_width").as_int()),
        preserve_short(call.attr("preserve_short_sequences").as_bool()) {}
  int64_t padding_of(int64_t width) const {
    return pad_width < 0 ? width - 1 : std::min(pad_width, width - 1);
  }
};

/// The n-grams of one width of the elements [begin, end). Returns how many there are.
template <class Sink>
int64_t put_ngrams(const Tensor& data, int64_t begin, int64_t end, const NgramSpec& spec,
                   int64_t width, int64_t padding, Sink& sink) {
  const int64_t length = end - begin;
  const int64_t count = std::max<int64_t>(length + 2 * padding - width + 1, 0);
  for (int64_t n = 0; n < count; ++n) {
    for (int64_t j = n; j < n + width; ++j) {
      if (j > n) sink.append(spec.separator);
      const int64_t at = j - padding;
      if (at < 0) {
        sink.append(spec.left_pad);
      } else if (at >= length) {
        sink.append(spec.right_pad);
      } else {
        sink.append(data.string_at(begin + at));
      }
    }
    sink.close();
  }
  return count;
}

/// string_ngrams: n-grams of every row; `end_row` is called after each.
template <class Sink, class EndRow>
void make_ngrams(const OpCall& call, std::span<const int64_t> splits, Sink& sink, EndRow end_row) {
  const NgramSpec spec(call);
  const Tensor& data = call.inputs[0];
  for (size_t row = 0; row + 1 < splits.size(); ++row) {
    const int64_t begin = splits[row], end = splits[row + 1];
    int64_t made = 0;
    for (int64_t width : call.attr("ngram_widths").as_ints()) {
      made += put_ngrams(data, begin, end, spec, width, spec.padding_of(width), sink);
    }
    if (made == 0 && spec.preserve_short && end > begin) {  // one of all there is
      const int64_t padding = std::max<int64_t>(spec.pad_width, 0);
      put_ngrams(data, begin, end, spec, end - begin + 2 * padding, padding, sink);
    }
    end_row();
  }
}

}  // namespace tidemark::text
