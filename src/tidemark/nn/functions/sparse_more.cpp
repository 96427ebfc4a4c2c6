// Counts, pieces, filled rows and distances of sparse tensors.
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/sparse.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark {

namespace sparse {

namespace {

Tensor int64_scalar(int64_t value) { return Tensor(value); }

/// Numbers to count, the row of each, and how many rows; without rows all are counted together.
struct Counted {
  Tensor numbers, rows, count;
};

SparseTensor counted(Counted all, const Tensor& like, const BincountOptions& options) {
  if (options.axis != 0 && options.axis != -1) {
    fail("Unsupported value for argument axis=", options.axis, ". Only 0 and -1 are supported.");
  }
  if (options.weights && options.binary_output) {
    fail("[sparse.bincount] Arguments `binary_output` and `weights` are exclusive");
  }
  const DType whole = like.dtype() == DType::int64 ? DType::int64 : DType::int32;
  Tensor amounts = options.weights ? reshape(options.weights, nn::vector_of({-1}))
                                   : ones_like(all.numbers, whole);
  const Tensor everything[] = {all.numbers, Tensor::of({int64_t{-1}})};
  const Tensor needed = max(tidemark::concat(everything, 0)) + int64_scalar(1);
  Tensor length = tidemark::maximum(needed, int64_scalar(options.minlength));
  if (options.maxlength >= 0) {
    const Tensor kept = less(all.numbers, int64_scalar(options.maxlength));
    length = tidemark::minimum(length, int64_scalar(options.maxlength));
    amounts = boolean_mask(amounts, kept);
    if (all.rows) all.rows = boolean_mask(all.rows, kept);
    all.numbers = boolean_mask(all.numbers, kept);
  }
  const Tensor flat = all.rows ? all.rows * length + all.numbers : all.numbers;
  const Tensor order = argsort(flat, {.stable = true});
  const std::vector<Tensor> groups = unique(gather(flat, order, {.axis = 0}));
  Tensor totals = unsorted_segment_sum(gather(amounts, order, {.axis = 0}), groups[1],
                                       tidemark::size(groups[0]));
  if (options.binary_output) totals = ones_like(totals);
  const Tensor column = tidemark::expand_dims(groups[0], -1);
  const Tensor one_size = tidemark::reshape(length, nn::vector_of({1}));
  if (!all.rows) return {column, totals, one_size};
  const Tensor columns[] = {floordiv(column, length), floormod(column, length)};
  const Tensor sizes[] = {tidemark::reshape(all.count, nn::vector_of({1})), one_size};
  return {tidemark::concat(columns, 1), totals, tidemark::concat(sizes, 0)};
}

}  // namespace

SparseTensor bincount(const Tensor& values, const BincountOptions& options) {
  TIDEMARK_HERE;
  nn::check_rank("sparse.bincount", values, 0);
  Counted all{cast(tidemark::reshape(values, nn::vector_of({-1})), DType::int64), {}, {}};
  if (options.axis == -1) {
    const bool has_rows = values.rank() > 1;
    all.count = has_rows ? cast(nn::size_at(values, 0), DType::int64) : int64_scalar(1);
    const Tensor width = floordiv(tidemark::size(all.numbers, DType::int64),
                                  tidemark::maximum(all.count, int64_scalar(1)));
    all.rows = repeat(range(int64_scalar(0), all.count, int64_scalar(1)), width, {.axis = 0});
  }
  return counted(all, values, options);
}

SparseTensor bincount(const SparseTensor& values, const BincountOptions& options) {
  TIDEMARK_HERE;
  Counted all{cast(values.values, DType::int64), {}, {}};
  if (options.axis == -1) {
    const bool has_rows = nn::known_size("sparse.bincount", values.indices, 1) > 1;
    all.count = has_rows ? nn::at(values.dense_shape, 0, 0) : int64_scalar(1);
    all.rows = has_rows ? nn::at(values.indices, 1, 0) : zeros_like(all.numbers);
  }
  return counted(all, values.values, options);
}

std::vector<SparseTensor> split(const SparseTensor& sp_input, int64_t num_split, int64_t axis) {
  TIDEMARK_HERE;
  const std::vector<int64_t> sizes = sp_input.dense_shape.to_ints();
  const auto along = static_cast<size_t>(normalize_axis(axis, static_cast<int>(sizes.size())));
  if (num_split < 1 || num_split > sizes[along]) {
    fail("[sparse.split] num_split ", num_split, " is not in [1, ", sizes[along], "]");
  }
  const int64_t least = sizes[along] / num_split, more = sizes[along] % num_split;
  std::vector<SparseTensor> pieces;
  Ints start(sizes.size(), 0), length(sizes.begin(), sizes.end());
  for (int64_t piece = 0; piece < num_split; ++piece) {
    length[along] = least + (piece < more ? 1 : 0);
    pieces.push_back(slice(sp_input, start, length));
    start[along] += length[along];
  }
  return pieces;
}

std::pair<SparseTensor, Tensor> fill_empty_rows(const SparseTensor& sp_input,
                                                const Tensor& default_value) {
  TIDEMARK_HERE;
  const Tensor rows = nn::part(sp_input.dense_shape, 0, 0, 1);
  const Tensor there =
      tensor_scatter_nd_update(fill(rows, Tensor(false)), nn::part(sp_input.indices, 1, 0, 1),
                               ones_like(sp_input.values, DType::bool_));
  const Tensor is_empty = logical_not(there), which = nonzero(is_empty);
  const int64_t rank = nn::known_size("sparse.fill_empty_rows", sp_input.indices, 1);
  const Tensor places[] = {sp_input.indices, nn::padded(which, 1, 0, rank - 1)};
  const Tensor added =
      fill(nn::part(tidemark::shape(which), 0, 0, 1), cast(default_value, sp_input.values.dtype()));
  const Tensor values[] = {sp_input.values, added};
  const Tensor indices = tidemark::concat(places, 0);
  // By row alone: elements of one row stay in the order they are in.
  const Tensor order = argsort(nn::at(indices, 1, 0), {.stable = true});
  return {{gather(indices, order, {.axis = 0}),
           gather(tidemark::concat(values, 0), order, {.axis = 0}), sp_input.dense_shape},
          is_empty};
}

IndexedSlices mask(const IndexedSlices& a, const Tensor& mask_indices) {
  TIDEMARK_HERE;
  const Tensor gone = cast(mask_indices, a.indices.dtype());
  const Tensor kept = logical_not(any(equal(tidemark::expand_dims(a.indices, 1), gone), Ints{1}));
  return {boolean_mask(a.values, kept), boolean_mask(a.indices, kept), a.dense_shape};
}

SparseTensor sampled_addmm(const SparseTensor& sp_input, const Tensor& mat1, const Tensor& mat2,
                           const SampledAddmmOptions& options) {
  TIDEMARK_HERE;
  const Tensor row = gather(mat1, nn::at(sp_input.indices, 1, 0), {.axis = 0});
  const Tensor column =
      gather(tidemark::transpose(mat2, Ints{1, 0}), nn::at(sp_input.indices, 1, 1), {.axis = 0});
  const Tensor product = sum(row * column, Ints{1});
  const Tensor total = product * nn::number(options.alpha, product) +
                       sp_input.values * nn::number(options.beta, sp_input.values);
  return {sp_input.indices, cast(total, options.output_type), sp_input.dense_shape};
}

}  // namespace sparse

Tensor sets::size(const SparseTensor& a) {
  TIDEMARK_HERE;
  return nn::when_run(
      "set_size",
      [](const std::vector<Tensor>& given) {
        const int64_t rank = given[2].num_elements();
        const std::vector<int64_t> sizes = given[2].to_ints();
        const Shape leading(std::span<const int64_t>(sizes.data(), sizes.size() - 1));
        const bool is_text = given[1].dtype() == DType::string;
        const std::vector<int64_t> numbers = is_text ? std::vector<int64_t>{} : given[1].to_ints();
        std::map<int64_t, std::vector<std::string>> texts;
        std::map<int64_t, std::vector<int64_t>> rows;
        for (int64_t i = 0; i < given[1].num_elements(); ++i) {
          int64_t row = 0;
          for (int64_t d = 0; d + 1 < rank; ++d) {
            row = row * sizes[static_cast<size_t>(d)] + given[0].data<int64_t>()[i * rank + d];
          }
          if (is_text) texts[row].emplace_back(given[1].string_at(i));
          if (!is_text) rows[row].push_back(numbers[static_cast<size_t>(i)]);
        }
        const Tensor out =
            fill(nn::vector_of(Ints(leading.begin(), leading.end())), Tensor(int32_t{0}));
        const auto put = [&](auto& all) {
          for (auto& [row, elements] : all) {
            std::ranges::sort(elements);
            const auto same = std::ranges::unique(elements);
            out.mutable_data<int32_t>()[row] = static_cast<int32_t>(elements.size() - same.size());
          }
        };
        put(texts);
        put(rows);
        return std::vector{out};
      },
      {a.indices, a.values, a.dense_shape}, {{DType::int32, Shape::unknown()}})[0];
}

namespace {

using Row = std::vector<std::string>;

/// The elements of each row, as text that tells them apart, by the row's place.
std::map<int64_t, Row> rows_of(const Tensor& indices, const Tensor& values,
                               const std::vector<int64_t>& leading) {
  const Tensor texts = values.dtype() == DType::string ? values : as_string(values);
  const int64_t rank = indices.dim(1);
  std::map<int64_t, Row> out;
  for (int64_t i = 0; i < indices.dim(0); ++i) {
    int64_t row = 0;
    for (int64_t d = 0; d + 1 < rank; ++d) {
      row = row * leading[static_cast<size_t>(d)] + indices.data<int64_t>()[i * rank + d];
    }
    out[row].emplace_back(texts.string_at(i));
  }
  return out;
}

/// The fewest insertions, deletions and replacements that turn a into b.
int64_t distance(const Row& a, const Row& b) {
  std::vector<int64_t> before(b.size() + 1), row(b.size() + 1);
  std::iota(before.begin(), before.end(), 0);
  for (size_t i = 0; i < a.size(); ++i) {
    row[0] = static_cast<int64_t>(i) + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({before[j + 1] + 1, row[j] + 1, before[j] + (a[i] == b[j] ? 0 : 1)});
    }
    std::swap(row, before);
  }
  return before.back();
}

std::vector<Tensor> distances(const std::vector<Tensor>& given, bool normalize) {
  const std::vector<int64_t> first = given[2].to_ints(), second = given[5].to_ints();
  if (first.size() != second.size() || first.size() < 2) {
    fail("[edit_distance] hypothesis and truth must have one rank of at least 2; given shapes ",
         Shape(first), " and ", Shape(second));
  }
  std::vector<int64_t> leading;
  for (size_t i = 0; i + 1 < first.size(); ++i) leading.push_back(std::max(first[i], second[i]));
  const Tensor out = fill(nn::vector_of(Ints(leading.begin(), leading.end())), Tensor(0.f));
  auto* to = out.mutable_data<float>();
  std::map<int64_t, Row> a = rows_of(given[0], given[1], leading);
  std::map<int64_t, Row> b = rows_of(given[3], given[4], leading);
  for (const auto& [row, elements] : a) b.try_emplace(row);
  for (const auto& [row, wanted] : b) {
    const Row& found = a[row];
    const auto steps = static_cast<float>(distance(found, wanted));
    const float none = found.empty() ? 0 : std::numeric_limits<float>::infinity();
    const float part = wanted.empty() ? none : steps / static_cast<float>(wanted.size());
    to[row] = normalize ? part : steps;
  }
  return {out};
}

}  // namespace

Tensor edit_distance(const SparseTensor& hypothesis, const SparseTensor& truth, bool normalize) {
  TIDEMARK_HERE;
  if (hypothesis.values.dtype() != truth.values.dtype()) {
    fail("[edit_distance] hypothesis is ", name_of(hypothesis.values.dtype()), " and truth ",
         name_of(truth.values.dtype()), "; they must be of one dtype");
  }
  return nn::when_run(
      "edit_distance",
      [normalize](const std::vector<Tensor>& given) { return distances(given, normalize); },
      {hypothesis.indices, hypothesis.values, hypothesis.dense_shape, truth.indices, truth.values,
       truth.dense_shape},
      {{DType::float32, Shape::unknown()}})[0];
}

}  // namespace tidemark
