// Example messages into tensors.
#include "tidemark/nn/functions/examples.h"

#include <tidemark/call.h>
#include <tidemark/create.h>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/rows.h"
#include "tidemark/nn/functions/when_run.h"

namespace tidemark::io {

const Tensor& ParsedFeature::dense() const {
  if (const auto* found = std::get_if<Tensor>(&held_)) return *found;
  fail("[parse_example] the feature is no dense tensor; ask for sparse() or ragged()");
}

const SparseTensor& ParsedFeature::sparse() const {
  if (const auto* found = std::get_if<SparseTensor>(&held_)) return *found;
  fail("[parse_example] the feature is no sparse tensor; ask for dense() or ragged()");
}

const RaggedTensor& ParsedFeature::ragged() const {
  if (const auto* found = std::get_if<RaggedTensor>(&held_)) return *found;
  fail("[parse_example] the feature is no ragged tensor; ask for dense() or sparse()");
}

void check_feature(const std::string& key, DType dtype) {
  if (dtype == DType::float32 || dtype == DType::int64 || dtype == DType::string) return;
  fail("[parse_example] feature '", key, "' is ", name_of(dtype),
       "; allowed are float32, int64 and string");
}

ValueRows rows_of(const Tensor& serialized, const std::string& key, DType dtype) {
  check_feature(key, dtype);
  const std::vector<Tensor> both = parse_example_var(serialized, key, dtype);
  return {both[0], both[1]};
}

namespace {

Tensor longest_of(const Tensor& lengths) {
  const Tensor all[] = {lengths, Tensor::of({int64_t{0}})};
  return max(concat(all, 0));
}

/// The lengths, which are multiples of `width`; else an error, when it runs.
Tensor checked_multiples(const Tensor& lengths, int64_t width, const std::string& key) {
  return nn::when_run("parse_example",
                      [width, key](const std::vector<Tensor>& given) {
                        for (const int64_t length : given[0].to_ints()) {
                          if (width > 0 && length % width == 0) continue;
                          fail("[parse_example] the number of values of feature '", key,
                               "' must be a multiple of ", width, ". Received: ", length);
                        }
                        return given;
                      },
                      {lengths}, {{DType::int64, lengths.shape()}})[0];
}

ParsedFeature parse(const Tensor& serialized, const std::string& key,
                    const FixedLenFeature& feature) {
  check_feature(key, feature.dtype);
  const Tensor none = Tensor::uninitialized(feature.dtype, {0});
  const Tensor given = feature.default_value ? cast(feature.default_value, feature.dtype) : none;
  return parse_example_fixed(serialized, given, key, feature.shape);
}

ParsedFeature parse(const Tensor& serialized, const std::string& key,
                    const VarLenFeature& feature) {
  return sparse_rows(rows_of(serialized, key, feature.dtype));
}

ParsedFeature parse(const Tensor& serialized, const std::string& key,
                    const RaggedFeature& feature) {
  const std::string& name = feature.value_key.empty() ? key : feature.value_key;
  const ValueRows rows = rows_of(serialized, name, feature.dtype);
  return RaggedTensor{rows.values, rows.splits};
}

ParsedFeature parse(const Tensor& serialized, const std::string& key,
                    const FixedLenSequenceFeature& feature) {
  if (!feature.allow_missing) {
    fail("Unsupported: FixedLenSequenceFeature requires allow_missing to be true, key '", key, "'");
  }
  return filled_rows(rows_of(serialized, key, feature.dtype), key, feature);
}

ParsedFeature parse(const Tensor& serialized, const std::string& key,
                    const SparseFeature& feature) {
  if (feature.index_key.size() != feature.size.size()) {
    fail("SparseFeature '", key, "' has ", feature.index_key.size(), " index keys and ",
         feature.size.size(), " sizes; there must be as many");
  }
  const ValueRows rows = rows_of(serialized, feature.value_key, feature.dtype);
  std::vector<Tensor> columns = {nn::places_of(rows.splits).row};
  for (const std::string& name : feature.index_key) {
    columns.push_back(rows_of(serialized, name, DType::int64).values);
  }
  const Tensor count = nn::count_of(nn::lengths_of(rows.splits));
  const auto rank = static_cast<int64_t>(feature.size.size());
  const Tensor sizes[] = {reshape(count, nn::vector_of({1})),
                          Tensor::of(std::span<const int64_t>(feature.size), {rank})};
  const SparseTensor found{tidemark::stack(columns, 1), rows.values, concat(sizes, 0)};
  return feature.already_sorted ? found : sparse::reorder(found);
}

ParsedFeature first_row(const Tensor& x) { return nn::at(x, 0, 0); }
ParsedFeature first_row(const SparseTensor& x) {
  return SparseTensor{nn::part(x.indices, 1, 1), x.values, nn::part(x.dense_shape, 0, 1)};
}
ParsedFeature first_row(const RaggedTensor& x) { return x.values; }

}  // namespace

SparseTensor sparse_rows(const ValueRows& rows) {
  const nn::Places at = nn::places_of(rows.splits);
  const Tensor lengths = nn::lengths_of(rows.splits);
  const Tensor columns[] = {at.row, at.place};
  const Tensor sizes[] = {nn::count_of(lengths), longest_of(lengths)};
  return {tidemark::stack(columns, 1), rows.values, tidemark::stack(sizes)};
}

Tensor filled_rows(const ValueRows& rows, const std::string& key,
                   const FixedLenSequenceFeature& feature) {
  const int64_t width = Shape(feature.shape).num_elements();
  const Tensor lengths = checked_multiples(nn::lengths_of(rows.splits), width, key);
  const nn::Places at = nn::places_of(rows.splits);
  const Tensor wide(width), longest = longest_of(lengths);
  const Tensor count = nn::count_of(lengths), total = count * longest;
  const Tensor filling = feature.default_value ? cast(feature.default_value, feature.dtype)
                         : feature.dtype == DType::string ? Tensor("")
                                                          : zeros({}, feature.dtype);
  const Tensor filled = fill(reshape(total, nn::vector_of({1})), filling);
  // Values come behind the filling: each place takes the number of its value, or its own.
  const Tensor places = expand_dims(at.row * longest + at.place, -1);
  const Tensor zero(int64_t{0}), one(int64_t{1});
  const Tensor of_values = total + range(zero, nn::count_of(rows.values), one);
  const Tensor numbers = tensor_scatter_nd_update(range(zero, total, one), places, of_values);
  const Tensor both[] = {filled, rows.values};
  const Tensor made = gather(concat(both, 0), numbers, {.axis = 0});
  const Tensor rows_then[] = {count, floordiv(longest, wide)};
  const auto rank = static_cast<int64_t>(feature.shape.size());
  const Tensor sizes[] = {tidemark::stack(rows_then),
                          Tensor::of(std::span<const int64_t>(feature.shape), {rank})};
  return reshape(made, concat(sizes, 0));
}

Parsed parsed(const Tensor& serialized, const Features& features) {
  Parsed out;
  for (const auto& [key, feature] : features) {
    out.emplace(key,
                std::visit([&](const auto& one) { return parse(serialized, key, one); }, feature));
  }
  return out;
}

Parsed first_of(const Parsed& batch) {
  Parsed out;
  for (const auto& [key, value] : batch) {
    out.emplace(key, std::visit([](const auto& one) { return first_row(one); }, value.held()));
  }
  return out;
}

namespace {

void check_features(const Features& features) {
  if (features.empty()) fail("[parse_example] `features` are missing");
}

void check_rank(const char* name, const Tensor& serialized, int rank) {
  if (!serialized.shape().has_rank() || serialized.rank() == rank) return;
  fail("[", name, "] input serialized must be ", rank == 0 ? "a scalar" : "a vector or a scalar",
       ", got shape ", serialized.shape());
}

}  // namespace

Parsed parse_example(const Tensor& serialized, const Features& features) {
  TIDEMARK_HERE;
  check_features(features);
  if (serialized.shape().has_rank() && serialized.rank() == 0) {
    return parse_single_example(serialized, features);
  }
  check_rank("parse_example", serialized, 1);
  return parsed(serialized, features);
}

Parsed parse_single_example(const Tensor& serialized, const Features& features) {
  TIDEMARK_HERE;
  check_features(features);
  check_rank("parse_single_example", serialized, 0);
  return first_of(parsed(reshape(serialized, nn::vector_of({1})), features));
}

}  // namespace tidemark::io
