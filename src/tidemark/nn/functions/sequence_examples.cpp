// SequenceExample messages into tensors: a context, and lists of features, one a frame.
#include <tidemark/call.h>

#include <optional>

#include "tidemark/base/wire.h"
#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/examples.h"
#include "tidemark/nn/functions/rows.h"
#include "tidemark/nn/functions/when_run.h"

namespace tidemark::io {

namespace {

/// Goes through the fields of messages, and remembers whether one was malformed.
struct Reading {
  bool is_whole = true;

  /// Calls `use` with the bytes of each such field.
  template <class Use>
  void each(std::string_view message, uint32_t number, const Use& use) {
    WireReader reader(message);
    for (WireField field; reader.next(field);) {
      if (field.number == number && field.is_bytes()) use(field.bytes);
    }
    is_whole = is_whole && reader.ok();
  }
};

struct Message {
  std::string bytes;
  void append(char c) { bytes.push_back(c); }
  void append(std::string_view more) { bytes.append(more); }
};

/// An Example with this one feature.
std::string example_of(std::string_view key, std::string_view feature) {
  Message entry, features, example;
  put_bytes_field(entry, 1, key);
  put_bytes_field(entry, 2, feature);
  put_bytes_field(features, 1, entry.bytes);
  put_bytes_field(example, 1, features.bytes);
  return std::move(example.bytes);
}

/// Frames as Examples with one feature, and where each message's begin.
struct Frames {
  std::string key;
  bool is_required;

  std::vector<Tensor> operator()(const std::vector<Tensor>& given) const {
    std::vector<std::string> examples;
    std::vector<int64_t> splits = {0};
    for (int64_t i = 0; i < given[0].num_elements(); ++i) {
      const bool has_list = read(given[0].string_at(i), i, examples);
      if (is_required && !has_list) {
        fail("[parse_sequence_example] message ", i, " has no list '", key,
             "', which is required; FixedLenSequenceFeature with allow_missing = true lets it be "
             "empty");
      }
      splits.push_back(static_cast<int64_t>(examples.size()));
    }
    const std::vector<std::string_view> views(examples.begin(), examples.end());
    return {Tensor::of_strings(views, {static_cast<int64_t>(views.size())}),
            Tensor::of(std::span<const int64_t>(splits), {static_cast<int64_t>(splits.size())})};
  }

 private:
  /// The message's frames; false: it has no such list. Of several of one name the last counts.
  bool read(std::string_view message, int64_t number, std::vector<std::string>& examples) const {
    std::optional<std::string_view> list;
    Reading reading;
    reading.each(message, 2, [&](std::string_view lists) {
      reading.each(lists, 1, [&](std::string_view entry) {
        std::string_view name, value;
        reading.each(entry, 1, [&](std::string_view bytes) { name = bytes; });
        reading.each(entry, 2, [&](std::string_view bytes) { value = bytes; });
        if (name == key) list = value;
      });
    });
    if (list) {
      reading.each(*list, 1,
                   [&](std::string_view feature) { examples.push_back(example_of(key, feature)); });
    }
    if (!reading.is_whole) {
      fail("[parse_sequence_example] Could not parse serialized sequence example ", number);
    }
    return list.has_value();
  }
};

ValueRows frames_of(const Tensor& serialized, const std::string& key, bool is_required) {
  const Shape vector{kUnknownDim};
  const std::vector<Tensor> made =
      nn::when_run("parse_sequence_example", Frames{key, is_required}, {serialized},
                   {{DType::string, vector}, {DType::int64, vector}});
  return {made[0], made[1]};
}

struct Parser {
  const Tensor& serialized;
  const std::string& key;
  ParsedSequence& out;

  void operator()(const FixedLenSequenceFeature& feature) const {
    check_feature(key, feature.dtype);
    const ValueRows frames = frames_of(serialized, key, !feature.allow_missing);
    const Tensor none = Tensor::uninitialized(feature.dtype, {0});
    const Tensor found = parse_example_fixed(frames.values, none, key, feature.shape);
    const Tensor width(Shape(feature.shape).num_elements());
    const ValueRows rows{reshape(found, nn::vector_of({-1})), frames.splits * width};
    out.feature_lists.emplace(key, filled_rows(rows, key, feature));
    out.feature_list_lengths.emplace(key, nn::lengths_of(frames.splits));
  }
  void operator()(const VarLenFeature& feature) const {
    const ValueRows frames = frames_of(serialized, key, false);
    const ValueRows rows = rows_of(frames.values, key, feature.dtype);
    const nn::Places in_frame = nn::places_of(rows.splits), in_list = nn::places_of(frames.splits);
    const auto of_frame = [&](const Tensor& x) { return gather(x, in_frame.row, {.axis = 0}); };
    const Tensor columns[] = {of_frame(in_list.row), of_frame(in_list.place), in_frame.place};
    const auto longest = [](const Tensor& lengths) {
      const Tensor all[] = {lengths, Tensor::of({int64_t{0}})};
      return max(concat(all, 0));
    };
    const Tensor lists = nn::lengths_of(frames.splits);
    const Tensor sizes[] = {nn::count_of(lists), longest(lists),
                            longest(nn::lengths_of(rows.splits))};
    out.feature_lists.emplace(
        key, SparseTensor{tidemark::stack(columns, 1), rows.values, tidemark::stack(sizes)});
  }
  template <class Other>
  void operator()(const Other&) const {
    fail("[parse_sequence_example] the feature of list '", key,
         "' is a FixedLenSequenceFeature or a VarLenFeature");
  }
};

ParsedSequence parsed_sequence(const Tensor& serialized, const Features& context,
                               const Features& lists) {
  if (context.empty() && lists.empty()) {
    fail(
        "[parse_sequence_example] at least one of `context_features` and `sequence_features` has "
        "features");
  }
  ParsedSequence out{parsed(serialized, context), {}, {}};
  for (const auto& [key, feature] : lists) std::visit(Parser{serialized, key, out}, feature);
  return out;
}

}  // namespace

ParsedSequence parse_sequence_example(const Tensor& serialized, const Features& context_features,
                                      const Features& sequence_features) {
  TIDEMARK_HERE;
  if (serialized.shape().has_rank() && serialized.rank() == 0) {
    return parse_single_sequence_example(serialized, context_features, sequence_features);
  }
  return parsed_sequence(serialized, context_features, sequence_features);
}

ParsedSequence parse_single_sequence_example(const Tensor& serialized,
                                             const Features& context_features,
                                             const Features& sequence_features) {
  TIDEMARK_HERE;
  const Tensor batch = reshape(serialized, nn::vector_of({1}));
  const ParsedSequence found = parsed_sequence(batch, context_features, sequence_features);
  ParsedSequence out{first_of(found.context), first_of(found.feature_lists), {}};
  for (const auto& [key, lengths] : found.feature_list_lengths) {
    out.feature_list_lengths.emplace(key, nn::at(lengths, 0, 0));
  }
  return out;
}

}  // namespace tidemark::io
