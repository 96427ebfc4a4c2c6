// Poolings whose windows differ in size by one.
#include <tidemark/call.h>
#include <tidemark/nn_functions.h>
#include <tidemark/random.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"

namespace tidemark::nn {

namespace {

constexpr int64_t kDraws = 1024;

Tensor int64_vector(const std::vector<int64_t>& values) {
  return Tensor::of(std::span<const int64_t>(values), {static_cast<int64_t>(values.size())});
}

/// Where windows begin: `count` + 1 rising numbers from 0 to `length`.
std::vector<int64_t> cuts(int64_t length, int64_t count, bool pseudo_random, const float* draws) {
  std::vector<int64_t> out = {0};
  const double ratio = static_cast<double>(length) / static_cast<double>(count);
  if (pseudo_random) {
    // The steps are the floor and the ceiling of the ratio, by where a drawn line crosses.
    const auto u = static_cast<double>(draws[0]);
    const auto place = [&](int64_t i) {
      return static_cast<int64_t>(std::ceil(ratio * (static_cast<double>(i) + u)));
    };
    for (int64_t i = 1; i < count; ++i) out.push_back(place(i) - place(0));
    out.push_back(length);
    return out;
  }
  const auto low = static_cast<int64_t>(std::floor(ratio));
  std::vector<int64_t> order(static_cast<size_t>(count)), steps(order.size(), low);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, [&](int64_t i) { return draws[i % kDraws]; });
  for (int64_t i = 0; i < length - low * count; ++i) ++steps[static_cast<size_t>(order[size_t(i)])];
  for (const int64_t step : steps) out.push_back(out.back() + step);
  return out;
}

std::vector<Tensor> sequences(const std::vector<Tensor>& given, const std::vector<double>& ratios,
                              bool pseudo_random) {
  const std::vector<int64_t> sizes = given[0].to_ints();
  std::vector<Tensor> out;
  for (size_t i = 0; i < 2; ++i) {
    const auto count = static_cast<int64_t>(static_cast<double>(sizes[i + 1]) / ratios[i]);
    if (count < 1) {
      fail("[fractional pooling] a ratio of ", ratios[i], " leaves nothing of ", sizes[i + 1],
           " pixels");
    }
    const float* draws = given[1].data<float>() + static_cast<int64_t>(i) * kDraws;
    out.push_back(int64_vector(cuts(sizes[i + 1], count, pseudo_random, draws)));
  }
  return out;
}

/// The number of the element at each place of each window, the last one where it ends early; and
/// where it has not ended.
std::vector<Tensor> windows(const Tensor& sequence, bool overlapping) {
  const std::vector<int64_t> begins = sequence.to_ints();
  const auto count = static_cast<int64_t>(begins.size()) - 1;
  const auto last = [&](int64_t i) {
    const int64_t end = begins[static_cast<size_t>(i + 1)] - (overlapping ? 0 : 1);
    return std::min(end, begins.back() - 1);
  };
  int64_t width = 1;
  for (int64_t i = 0; i < count; ++i) width = std::max(width, last(i) - begins[size_t(i)] + 1);
  const Tensor places = Tensor::uninitialized(DType::int64, {count, width});
  const Tensor is_there = Tensor::uninitialized(DType::float32, {count, width});
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t j = 0; j < width; ++j) {
      const int64_t place = begins[static_cast<size_t>(i)] + j;
      places.mutable_data<int64_t>()[i * width + j] = std::min(place, last(i));
      is_there.mutable_data<float>()[i * width + j] = place <= last(i) ? 1 : 0;
    }
  }
  return {places, is_there};
}

std::vector<Tensor> windows_when_run(const Tensor& sequence, bool overlapping) {
  const Shape matrix{kUnknownDim, kUnknownDim};
  return when_run(
      "fractional_pool",
      [overlapping](const std::vector<Tensor>& given) { return windows(given[0], overlapping); },
      {sequence}, {{DType::int64, matrix}, {DType::float32, matrix}});
}

std::vector<double> checked_ratios(const std::vector<double>& given) {
  std::vector<double> ratios = given;
  if (ratios.size() == 1) ratios.push_back(ratios[0]);
  if (ratios.size() == 4 && ratios[0] == 1 && ratios[3] == 1) ratios = {ratios[1], ratios[2]};
  if (ratios.size() != 2 || !(ratios[0] >= 1) || !(ratios[1] >= 1)) {
    fail("pooling_ratio is one number of at least 1, or one for the height and one for the width");
  }
  return ratios;
}

FractionalPool pooled(const char* name, const Tensor& value, const std::vector<double>& ratios,
                      const FractionalPoolOptions& options, bool takes_most) {
  check_rank(name, value, 4);
  const std::vector<double> checked = checked_ratios(ratios);
  const Tensor draws = random::uniform({2, kDraws}, 0, 1, DType::float32, options.seed);
  const std::vector<Tensor> begins = when_run(
      name,
      [=](const std::vector<Tensor>& given) {
        return sequences(given, checked, options.pseudo_random);
      },
      {sizes_of(value), draws}, {{DType::int64, {kUnknownDim}}, {DType::int64, {kUnknownDim}}});
  const std::vector<Tensor> down = windows_when_run(begins[0], options.overlapping);
  const std::vector<Tensor> across = windows_when_run(begins[1], options.overlapping);
  // [batch, windows, rows of one, windows, columns of one, channels]
  const Tensor all = gather(gather(value, down[0], {.axis = 1}), across[0], {.axis = 3});
  if (takes_most) return {max(all, Ints{2, 4}), begins[0], begins[1]};
  const auto parts = [&](const Tensor& is_there) {
    return cast(is_there / sum(is_there, Ints{1}, true), value.dtype());
  };
  const auto beside = [](const Tensor& x, int after) {
    Tensor out = x;
    for (int i = 0; i < after; ++i) out = expand_dims(out, -1);
    return out;
  };
  const Tensor weighted = all * beside(parts(down[1]), 3) * beside(parts(across[1]), 1);
  return {sum(weighted, Ints{2, 4}), begins[0], begins[1]};
}

}  // namespace

FractionalPool fractional_max_pool(const Tensor& value, const std::vector<double>& pooling_ratio,
                                   const FractionalPoolOptions& options) {
  TIDEMARK_HERE;
  return pooled("fractional_max_pool", value, pooling_ratio, options, true);
}

FractionalPool fractional_avg_pool(const Tensor& value, const std::vector<double>& pooling_ratio,
                                   const FractionalPoolOptions& options) {
  TIDEMARK_HERE;
  return pooled("fractional_avg_pool", value, pooling_ratio, options, false);
}

}  // namespace tidemark::nn
