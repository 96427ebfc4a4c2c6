// All combinations of one element of each column, row by row.
#include <tidemark/call.h>
#include <tidemark/ragged.h>

#include <array>

#include "tidemark/base/text/fingerprint.h"
#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/rows.h"
#include "tidemark/nn/functions/when_run.h"

namespace tidemark {

namespace {

using ragged::Column;
using ragged::CrossHashedOptions;

/// Any column as values and where its rows begin.
RaggedTensor as_rows(const Column& column) {
  if (const auto* rows = std::get_if<RaggedTensor>(&column)) return *rows;
  if (const auto* sparse = std::get_if<SparseTensor>(&column)) {
    const Tensor row = nn::at(sparse->indices, 1, 0), count = nn::at(sparse->dense_shape, 0, 0);
    return {sparse->values, nn::splits_of(unsorted_segment_sum(ones_like(row), row, count))};
  }
  const Tensor& dense = std::get<Tensor>(column);
  nn::check_rank("cross", dense, 2);
  const Tensor sizes = shape(dense, DType::int64);
  const Tensor lengths = fill(nn::part(sizes, 0, 0, 1), nn::at(sizes, 0, 1));
  return {reshape(dense, nn::vector_of({-1})), nn::splits_of(lengths)};
}

/// Values and splits of all columns, one after the other.
std::vector<Tensor> parts_of(const std::vector<Column>& columns) {
  if (columns.empty()) fail("[cross] there is a column");
  std::vector<Tensor> out;
  for (const Column& column : columns) {
    const RaggedTensor rows = as_rows(column);
    out.push_back(rows.values);
    out.push_back(cast(rows.row_splits, DType::int64));
  }
  return out;
}

/// Calls `add` with the places of the values of each combination, of one row after the other, and
/// gives where rows begin. The last column changes fastest.
template <class Add>
Tensor for_combinations(const std::vector<Tensor>& parts, const Add& add) {
  const size_t columns = parts.size() / 2;
  const int64_t rows = parts[1].num_elements() - 1;
  for (size_t i = 0; i < columns; ++i) {
    if (parts[2 * i + 1].num_elements() == rows + 1) continue;
    fail("[cross] columns have as many rows: the first has ", rows, ", column ", i, " has ",
         parts[2 * i + 1].num_elements() - 1);
  }
  std::vector<int64_t> splits = {0}, at(columns);
  for (int64_t row = 0; row < rows; ++row) {
    const auto begin = [&](size_t i) { return parts[2 * i + 1].data<int64_t>()[row]; };
    const auto end = [&](size_t i) { return parts[2 * i + 1].data<int64_t>()[row + 1]; };
    int64_t combinations = 1;
    for (size_t i = 0; i < columns; ++i) {
      at[i] = begin(i);
      combinations *= end(i) - begin(i);
    }
    for (int64_t left = combinations; left > 0; --left) {
      add(at);
      for (size_t i = columns; i-- > 0;) {
        if (++at[i] < end(i)) break;
        at[i] = begin(i);
      }
    }
    splits.push_back(splits.back() + combinations);
  }
  return Tensor::of(std::span<const int64_t>(splits), {rows + 1});
}

std::vector<Tensor> joined(const std::vector<Tensor>& parts, const std::string& separator) {
  std::vector<Tensor> texts;
  for (size_t i = 0; i < parts.size(); i += 2) {
    texts.push_back(parts[i].dtype() == DType::string ? parts[i] : as_string(parts[i]));
  }
  std::vector<std::string> made;
  const Tensor splits = for_combinations(parts, [&](const std::vector<int64_t>& at) {
    std::string& out = made.emplace_back();
    for (size_t i = 0; i < at.size(); ++i) {
      if (i > 0) out += separator;
      out += texts[i].string_at(at[i]);
    }
  });
  const std::vector<std::string_view> views(made.begin(), made.end());
  return {Tensor::of_strings(views, {static_cast<int64_t>(views.size())}), splits};
}

constexpr uint64_t kMix = 0xC6A4A7935BD1E995;
uint64_t shift_mix(uint64_t value) { return value ^ (value >> 47); }
/// How TensorFlow joins two fingerprints.
uint64_t hash_both(uint64_t first, uint64_t second) {
  uint64_t out = first ^ kMix;
  out ^= shift_mix(second * kMix) * kMix;
  out *= kMix;
  return shift_mix(shift_mix(out) * kMix);
}

std::vector<Tensor> hashed(const std::vector<Tensor>& parts, const CrossHashedOptions& options) {
  std::vector<std::vector<uint64_t>> numbers;
  for (size_t i = 0; i < parts.size(); i += 2) {
    auto& column = numbers.emplace_back();
    if (parts[i].dtype() == DType::string) {
      for (int64_t at = 0; at < parts[i].num_elements(); ++at) {
        column.push_back(text::farm_fingerprint(parts[i].string_at(at)));
      }
    } else {
      const std::vector<int64_t> values = parts[i].to_ints();
      column.assign(values.begin(), values.end());
    }
  }
  const uint64_t most = (uint64_t{1} << 63) - 1;
  const uint64_t bound =
      options.num_buckets > 0 ? static_cast<uint64_t>(options.num_buckets) : most;
  std::vector<int64_t> made;
  const Tensor splits = for_combinations(parts, [&](const std::vector<int64_t>& at) {
    uint64_t out = options.hash_key;
    for (size_t i = 0; i < at.size(); ++i) {
      out = hash_both(out, numbers[i][static_cast<size_t>(at[i])]);
    }
    made.push_back(static_cast<int64_t>(out % bound));
  });
  return {Tensor::of(std::span<const int64_t>(made), {static_cast<int64_t>(made.size())}), splits};
}

RaggedTensor crossed(const std::vector<Column>& columns, DType dtype, nn::HostFunction function) {
  const Shape vector{kUnknownDim};
  const std::vector<Tensor> made = nn::when_run("cross", std::move(function), parts_of(columns),
                                                {{dtype, vector}, {DType::int64, vector}});
  return {made[0], made[1]};
}

RaggedTensor joined_rows(const std::vector<Column>& inputs, const std::string& separator) {
  return crossed(inputs, DType::string, [separator](const std::vector<Tensor>& parts) {
    return joined(parts, separator);
  });
}

SparseTensor as_sparse(const RaggedTensor& rows) {
  const nn::Places at = nn::places_of(rows.row_splits);
  const Tensor lengths = nn::lengths_of(rows.row_splits), zero = Tensor::of({int64_t{0}});
  const Tensor columns[] = {at.row, at.place}, all[] = {lengths, zero};
  const Tensor sizes[] = {nn::count_of(lengths), max(concat(all, 0))};
  return {stack(columns, 1), rows.values, stack(sizes)};
}

}  // namespace

RaggedTensor ragged::cross(const std::vector<Column>& inputs) {
  TIDEMARK_HERE;
  return joined_rows(inputs, "_X_");
}

RaggedTensor ragged::cross_hashed(const std::vector<Column>& inputs,
                                  const CrossHashedOptions& options) {
  TIDEMARK_HERE;
  return crossed(inputs, DType::int64,
                 [options](const std::vector<Tensor>& parts) { return hashed(parts, options); });
}

SparseTensor sparse::cross(const std::vector<Column>& inputs, const std::string& separator) {
  TIDEMARK_HERE;
  return as_sparse(joined_rows(inputs, separator));
}

SparseTensor sparse::cross_hashed(const std::vector<Column>& inputs,
                                  const CrossHashedOptions& options) {
  TIDEMARK_HERE;
  return as_sparse(ragged::cross_hashed(inputs, options));
}

}  // namespace tidemark
