// Columns of CSV records, and sparse tensors as strings.
#include <tidemark/call.h>
#include <tidemark/io.h>

#include <algorithm>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::io {

namespace {

Tensor text_of(std::string_view value) { return Tensor::of_strings({&value, 1}, {}); }

/// One column as its default's dtype; the default where a field is empty or not available.
Tensor csv_column(const Tensor& fields, const Tensor& default_value, const std::string& na_value,
                  size_t column) {
  const DType dtype = default_value.dtype();
  if (default_value.num_elements() > 1) {
    fail("[decode_csv] record_defaults[", column, "] must hold one value or none, got shape ",
         default_value.shape());
  }
  const bool is_required = default_value.num_elements() == 0;
  Tensor missing = equal(fields, text_of(""));
  if (!na_value.empty()) missing = logical_or(missing, equal(fields, text_of(na_value)));
  if (is_required && any(missing).item<bool>()) {
    fail("[decode_csv] Field ", column, " is required but missing in a record!");
  }
  if (is_required) return dtype == DType::string ? fields : string_to_number(fields, dtype);
  const Tensor value = reshape(default_value, nn::vector_of({}));
  if (dtype == DType::string) return select(missing, value, fields);
  const Tensor numbers = string_to_number(select(missing, text_of("0"), fields), dtype);
  return select(missing, value, numbers);
}

/// How many fields the first record has.
int64_t columns_of(const Tensor& records, const DecodeCsvOptions& options) {
  if (records.num_elements() == 0) return 1;
  int64_t count = 1;
  bool is_quoted = false;
  for (const char c : records.string_at(0)) {
    if (options.use_quote_delim && c == '"') is_quoted = !is_quoted;
    if (!is_quoted && c == options.field_delim[0]) ++count;
  }
  return count;
}

std::vector<Tensor> decoded(const Tensor& records, const std::vector<Tensor>& defaults,
                            const DecodeCsvOptions& options) {
  const bool takes_all = options.select_cols.empty();
  const auto width =
      takes_all ? static_cast<int64_t>(defaults.size()) : columns_of(records, options);
  if (!takes_all && options.select_cols.back() >= width) {
    fail("[decode_csv] Expect at least ", options.select_cols.back() + 1, " fields but have ",
         width);
  }
  const Tensor fields = split_csv(records, width, options.field_delim, options.use_quote_delim);
  const std::vector<Tensor> columns = unstack(fields, width, records.rank());
  std::vector<Tensor> out;
  for (size_t i = 0; i < defaults.size(); ++i) {
    const size_t column = takes_all ? i : static_cast<size_t>(options.select_cols[i]);
    out.push_back(csv_column(columns[column], defaults[i], options.na_value, column));
  }
  return out;
}

void check_csv(const std::vector<Tensor>& defaults, const DecodeCsvOptions& options) {
  const Ints& chosen = options.select_cols;
  if (options.field_delim.size() != 1) {
    fail("[decode_csv] field_delim is one character. Received: '", options.field_delim, "'");
  }
  if (defaults.empty()) fail("[decode_csv] record_defaults are missing");
  if (std::ranges::adjacent_find(chosen, std::greater_equal<>()) != chosen.end() ||
      (!chosen.empty() && chosen[0] < 0)) {
    fail("[decode_csv] select_cols rise, from 0 or later. Received: ", Shape(chosen));
  }
  if (!chosen.empty() && chosen.size() != defaults.size()) {
    fail("[decode_csv] select_cols and record_defaults are as many. Received: ", chosen.size(),
         " and ", defaults.size());
  }
  for (size_t i = 0; i < defaults.size(); ++i) {
    const DType dtype = defaults[i].dtype();
    if (dtype == DType::float32 || dtype == DType::float64 || dtype == DType::int32 ||
        dtype == DType::int64 || dtype == DType::string) {
      continue;
    }
    fail("[decode_csv] record_defaults[", i, "] is ", name_of(dtype),
         "; allowed are float32, float64, int32, int64 and string");
  }
}

Tensor triple(const SparseTensor& x) {
  const Tensor parts[] = {serialize_tensor(x.indices), serialize_tensor(x.values),
                          serialize_tensor(x.dense_shape)};
  return tidemark::stack(parts);
}

/// A string for each part of each row: the elements of the row, which come one after the other.
std::vector<Tensor> rows_as_strings(const SparseTensor& x) {
  const int64_t rank = x.dense_shape.num_elements(), rows = x.dense_shape.data<int64_t>()[0];
  if (rank < 2) {
    fail("Rank of input SparseTensor should be > 1, but saw rank: ", rank);
  }
  const int64_t count = x.values.num_elements();
  const Tensor shape = nn::part(x.dense_shape, 0, 1);
  std::vector<Tensor> out;
  for (int64_t row = 0, begin = 0; row < rows; ++row) {
    int64_t end = begin;
    while (end < count && x.indices.data<int64_t>()[end * rank] == row) ++end;
    out.push_back(triple({nn::part(nn::part(x.indices, 0, begin, end - begin), 1, 1),
                          nn::part(x.values, 0, begin, end - begin), shape}));
    begin = end;
  }
  const Tensor none = Tensor::of_strings({}, {0, 3});
  return {out.empty() ? none : tidemark::stack(out)};
}

std::vector<Tensor> rows_of_strings(const Tensor& table, DType dtype) {
  if (table.rank() != 2 || table.dim(1) != 3) {
    fail("Serialized sparse should have shape [N, 3], but has ", table.shape());
  }
  if (table.dim(0) == 0) fail("Must have at least 1 serialized SparseTensor, has 0");
  std::vector<Tensor> indices, values, shapes;
  for (int64_t row = 0; row < table.dim(0); ++row) {
    const auto part = [&](int64_t which, DType kind) {
      return parse_tensor(text_of(table.string_at(3 * row + which)), kind);
    };
    const Tensor places = part(0, DType::int64);
    const Tensor rows = fill(nn::vector_of({places.dim(0), 1}), Tensor(row));
    const Tensor both[] = {rows, places};
    indices.push_back(concat(both, 1));
    values.push_back(part(1, dtype));
    shapes.push_back(part(2, DType::int64));
  }
  const Tensor sizes[] = {Tensor::of({table.dim(0)}), max(tidemark::stack(shapes), Ints{0})};
  return {concat(indices, 0), concat(values, 0), concat(sizes, 0)};
}

}  // namespace

std::vector<Tensor> decode_csv(const Tensor& records, const std::vector<Tensor>& record_defaults,
                               const DecodeCsvOptions& options) {
  TIDEMARK_HERE;
  check_csv(record_defaults, options);
  std::vector<Tensor> given = {records};
  given.insert(given.end(), record_defaults.begin(), record_defaults.end());
  std::vector<graph::OutputInfo> infos;
  for (const Tensor& one : record_defaults) infos.push_back({one.dtype(), records.shape()});
  return nn::when_run(
      "decode_csv",
      [options](const std::vector<Tensor>& all) {
        return decoded(all[0], {all.begin() + 1, all.end()}, options);
      },
      std::move(given), std::move(infos));
}

Tensor serialize_sparse(const SparseTensor& sp_input) {
  TIDEMARK_HERE;
  return triple(sp_input);
}

Tensor serialize_many_sparse(const SparseTensor& sp_input) {
  TIDEMARK_HERE;
  return nn::when_run("serialize_many_sparse",
                      [](const std::vector<Tensor>& x) {
                        return rows_as_strings(sparse::reorder({x[0], x[1], x[2]}));
                      },
                      {sp_input.indices, sp_input.values, sp_input.dense_shape},
                      {{DType::string, {kUnknownDim, 3}}})[0];
}

SparseTensor deserialize_many_sparse(const Tensor& serialized_sparse, DType dtype) {
  TIDEMARK_HERE;
  const std::vector<Tensor> made = nn::when_run(
      "deserialize_many_sparse",
      [dtype](const std::vector<Tensor>& given) { return rows_of_strings(given[0], dtype); },
      {serialized_sparse},
      {{DType::int64, {kUnknownDim, kUnknownDim}},
       {dtype, {kUnknownDim}},
       {DType::int64, {kUnknownDim}}});
  return {made[0], made[1], made[2]};
}

}  // namespace tidemark::io
