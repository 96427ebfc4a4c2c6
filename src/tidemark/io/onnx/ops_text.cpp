// Texts. What has no op of ours is computed from texts that are there, so such models run node by
// node.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

std::vector<std::string_view> texts_of(const Call& c, size_t input) {
  const Tensor& t = c.in(input);
  if (t.is_symbolic()) fail_unknown(c, "its texts");
  if (t.dtype() != DType::string) c.fail("input ", input, " must hold texts");
  std::vector<std::string_view> out;
  for (int64_t i = 0; i < t.num_elements(); ++i) out.push_back(t.string_at(i));
  return out;
}

Tensor string_concat(const Call& c) {
  Tensor both[] = {c.in(0), c.in(1)};
  if (both[0].shape() != both[1].shape()) {
    const Shape common = broadcast_shapes(both[0].shape(), both[1].shape());
    if (!common.is_fully_known()) fail_unknown(c, "the sizes of its texts");
    for (Tensor& t : both) t = broadcast_to(t, vector_of(common.dims()));
  }
  return string_join(both);
}

Tensor regex_match(const Call& c) {
  const std::string pattern = c.text("pattern", "");
  const std::string_view view = pattern;
  return regex_full_match(c.in(0), Tensor::of_strings(std::span(&view, 1), Shape{}));
}

/// By a delimiter, or by runs of white space; at most `most` cuts, or any number.
std::vector<std::string_view> cut(std::string_view text, std::string_view delimiter, int64_t most) {
  std::vector<std::string_view> out;
  const auto is_space = [](char ch) { return std::isspace(static_cast<unsigned char>(ch)) != 0; };
  if (delimiter.empty()) {
    for (;;) {
      while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
      if (text.empty()) return out;
      if (most >= 0 && static_cast<int64_t>(out.size()) == most) {
        while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
        out.push_back(text);
        return out;
      }
      const auto end = std::find_if(text.begin(), text.end(), is_space);
      out.push_back(text.substr(0, static_cast<size_t>(end - text.begin())));
      text.remove_prefix(static_cast<size_t>(end - text.begin()));
    }
  }
  if (text.empty()) return out;
  while (most < 0 || static_cast<int64_t>(out.size()) < most) {
    const size_t at = text.find(delimiter);
    if (at == text.npos) break;
    out.push_back(text.substr(0, at));
    text.remove_prefix(at + delimiter.size());
  }
  out.push_back(text);
  return out;
}

Values string_split_node(const Call& c) {
  const std::vector<std::string_view> texts = texts_of(c, 0);
  const std::string delimiter = c.text("delimiter", "");
  const int64_t most = c.integer("maxsplit", -1);
  std::vector<std::vector<std::string_view>> rows;
  Ints counts;
  size_t width = 0;
  for (const std::string_view text : texts) {
    rows.push_back(cut(text, delimiter, most));
    counts.push_back(static_cast<int64_t>(rows.back().size()));
    width = std::max(width, rows.back().size());
  }
  std::vector<std::string_view> all;
  for (std::vector<std::string_view>& row : rows) {
    row.resize(width);
    all.insert(all.end(), row.begin(), row.end());
  }
  const Shape& shape = c.in(0).shape();
  Shape wide = shape;
  wide.push_back(static_cast<int64_t>(width));
  return {Tensor::of_strings(all, wide), Tensor::of<int64_t>(counts, shape)};
}

Tensor string_normalizer(const Call& c) {
  const Tensor& x = c.in(0);
  if (rank_of(x) < 1 || rank_of(x) > 2) c.fail("takes a vector, or a row of texts");
  const std::string change = c.text("case_change_action", "NONE");
  const bool is_exact = c.integer("is_case_sensitive", 0) != 0;
  const Attribute* given = c.attr("stopwords");
  const Tensor lower = string_lower(x, "utf-8");
  const std::vector<std::string_view> texts = texts_of(c, 0);
  std::set<std::string, std::less<>> stops;
  if (given) {
    for (const std::string_view word : given->texts) {
      if (is_exact) {
        stops.insert(std::string(word));
        continue;
      }
      const Tensor one = string_lower(Tensor::of_strings(std::span(&word, 1), Shape{}), "utf-8");
      stops.insert(std::string(one.string_at(0)));
    }
  }
  std::vector<std::string_view> kept;
  for (int64_t i = 0; i < x.num_elements(); ++i) {
    const std::string_view seen = is_exact ? texts[static_cast<size_t>(i)] : lower.string_at(i);
    if (!stops.contains(seen)) kept.push_back(texts[static_cast<size_t>(i)]);
  }
  if (kept.empty()) kept.emplace_back();
  const auto count = static_cast<int64_t>(kept.size());
  const Tensor out = Tensor::of_strings(kept, rank_of(x) == 1 ? Shape{count} : Shape{1, count});
  if (change == "LOWER") return string_lower(out, "utf-8");
  return change == "UPPER" ? string_upper(out, "utf-8") : out;
}

std::vector<std::string> items_of(const Call& c) {
  const Tensor& x = c.in(0);
  std::vector<std::string> out;
  if (x.dtype() == DType::string) {
    for (const std::string_view text : texts_of(c, 0)) out.emplace_back(text);
  } else {
    for (const int64_t value : c.ints(0)) out.push_back(std::to_string(value));
  }
  return out;
}

std::vector<std::string> pool_of(const Call& c) {
  std::vector<std::string> out;
  if (const Attribute* texts = c.attr("pool_strings")) {
    for (const std::string_view text : texts->texts) out.emplace_back(text);
  } else {
    for (const int64_t value : c.integers("pool_int64s", {})) out.push_back(std::to_string(value));
  }
  return out;
}

/// Every n-gram of the pool: its items, and its number.
std::vector<std::vector<std::string>> ngrams_of(const Call& c) {
  const std::vector<std::string> pool = pool_of(c);
  const Ints starts = c.integers("ngram_counts", {});
  std::vector<std::vector<std::string>> out;
  for (size_t n = 0; n < starts.size(); ++n) {
    const auto end = n + 1 < starts.size() ? starts[n + 1] : static_cast<int64_t>(pool.size());
    const auto size = static_cast<int64_t>(n) + 1;
    if (starts[n] < 0 || end > static_cast<int64_t>(pool.size()) || starts[n] > end) {
      c.fail("ngram_counts does not fit the pool");
    }
    for (int64_t i = starts[n]; i + size <= end; i += size) {
      out.emplace_back(pool.begin() + i, pool.begin() + i + size);
    }
  }
  return out;
}

Tensor tf_idf(const Call& c) {
  const Tensor& x = c.in(0);
  const int64_t shortest = c.integer("min_gram_length"), longest = c.integer("max_gram_length");
  const int64_t most_skips = c.integer("max_skip_count");
  const Ints columns = c.integers("ngram_indexes", {});
  const std::vector<std::vector<std::string>> ngrams = ngrams_of(c);
  if (ngrams.size() != columns.size()) c.fail("needs one of ngram_indexes an n-gram");
  std::map<std::vector<std::string>, size_t> known;
  int64_t width = 0;
  for (size_t i = 0; i < ngrams.size(); ++i) {
    known.emplace(ngrams[i], i);
    if (columns[i] < 0 || columns[i] >= (int64_t{1} << 28)) c.fail("ngram_indexes is out of range");
    width = std::max(width, columns[i] + 1);
  }
  const std::vector<std::string> items = items_of(c);
  const int rank = rank_of(x);
  const int64_t rows = rank == 2 ? x.dim(0) : 1, length = rank == 0 ? 1 : x.dim(-1);
  c.check_listed(static_cast<double>(rows) * static_cast<double>(width));
  std::vector<float> counts(static_cast<size_t>(rows * width), 0.f);
  const Attribute* weights = c.attr("weights");
  const std::string mode = c.text("mode", "TF");
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t size = shortest; size <= longest; ++size) {
      const int64_t skips = size == 1 ? 0 : most_skips;  // one item has nothing between
      for (int64_t skip = 0; skip <= skips; ++skip) {
        for (int64_t from = 0; from + (size - 1) * (skip + 1) < length; ++from) {
          std::vector<std::string> gram;
          for (int64_t k = 0; k < size; ++k) {
            gram.push_back(items[static_cast<size_t>(row * length + from + k * (skip + 1))]);
          }
          const auto found = known.find(gram);
          if (found == known.end()) continue;
          counts[static_cast<size_t>(row * width + columns[found->second])] += 1;
        }
      }
    }
  }
  for (size_t i = 0; i < ngrams.size() && mode != "TF"; ++i) {
    const float weight = weights && i < weights->reals.size() ? weights->reals[i] : 1.f;
    for (int64_t row = 0; row < rows; ++row) {
      float& at = counts[static_cast<size_t>(row * width + columns[i])];
      if (mode == "IDF") at = at > 0 ? weight : 0;
      if (mode == "TFIDF") at *= weight;
    }
  }
  return Tensor::of<float>(counts, rank == 2 ? Shape{rows, width} : Shape{width});
}

constexpr Entry kEntries[] = {
    {"StringConcat", string_concat},    {"RegexFullMatch", regex_match},
    {"StringSplit", string_split_node}, {"StringNormalizer", string_normalizer},
    {"TfIdfVectorizer", tf_idf},
};

}  // namespace

std::span<const Entry> text_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
