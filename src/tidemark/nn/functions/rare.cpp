// Functions at the top level that few programs call.
#include <tidemark/call.h>
#include <tidemark/composed.h>
#include <tidemark/random.h>

#include <chrono>
#include <cmath>
#include <cstring>

#include "tidemark/base/text/fingerprint.h"
#include "tidemark/nn/building.h"
#include "tidemark/nn/functions/when_run.h"
#include "tidemark/nn/scalars.h"
#include "tidemark/nn/shapes.h"
#include "tidemark/tensor/handlers.h"

namespace tidemark {

Tensor broadcast_dynamic_shape(const Tensor& shape_x, const Tensor& shape_y) {
  TIDEMARK_HERE;
  const bool is_wide = shape_x.dtype() == DType::int64 || shape_y.dtype() == DType::int64;
  const DType dtype = is_wide ? DType::int64 : DType::int32;
  return nn::when_run("broadcast_dynamic_shape",
                      [dtype](const std::vector<Tensor>& given) {
                        const Shape both = broadcast_static_shape(Shape(given[0].to_ints()),
                                                                  Shape(given[1].to_ints()));
                        return std::vector{cast(Tensor::of(both.dims(), {both.rank()}), dtype)};
                      },
                      {shape_x, shape_y}, {{dtype, {kUnknownDim}}})[0];
}

std::pair<Tensor, Tensor> required_space_to_batch_paddings(const Tensor& input_shape,
                                                           const Tensor& block_shape,
                                                           const Tensor& base_paddings) {
  TIDEMARK_HERE;
  const Tensor sizes = cast(input_shape, DType::int32), block = cast(block_shape, DType::int32);
  const Tensor none = zeros_like(sizes);
  const Tensor base = base_paddings ? cast(base_paddings, DType::int32) : Tensor();
  const Tensor begin = base ? nn::at(base, 1, 0) : none, end = base ? nn::at(base, 1, 1) : none;
  const Tensor more = floormod(-(sizes + begin + end), block);
  const Tensor paddings[] = {begin, end + more}, crops[] = {none, more};
  return {stack(paddings, 1), stack(crops, 1)};
}

Tensor extract_volume_patches(const Tensor& input, const Ints& ksizes, const Ints& strides,
                              const std::string& padding) {
  TIDEMARK_HERE;
  constexpr const char* kName = "extract_volume_patches";
  nn::check_rank(kName, input, 5);
  if (ksizes.size() != 3 || strides.size() != 3) {
    fail("[", kName, "] ksizes and strides are three numbers each. Received: ", Shape(ksizes),
         " and ", Shape(strides));
  }
  if (padding != "SAME" && padding != "VALID") {
    fail("[", kName, "] padding must be 'SAME' or 'VALID', given '", padding, "'");
  }
  Tensor x = input;
  Ints counts;
  for (int i = 0; i < 3; ++i) {
    const int64_t window = ksizes[size_t(i)], step = strides[size_t(i)];
    nn::check_positive(kName, "ksizes", window);
    nn::check_positive(kName, "strides", step);
    int64_t length = nn::known_size(kName, input, i + 1);
    if (padding == "SAME") {
      const int64_t windows = (length + step - 1) / step;
      const int64_t total = std::max<int64_t>((windows - 1) * step + window - length, 0);
      x = nn::padded(x, i + 1, total / 2, total - total / 2);
      length += total;
    }
    if (length < window) fail("[", kName, "] windows are not larger than the volume, ", window);
    counts.push_back((length - window) / step + 1);
  }
  const auto every = [&](const Tensor& from, int axis, int64_t begin) {
    const auto i = static_cast<size_t>(axis - 1);
    const Tensor numbers =
        range(Tensor(begin), Tensor(begin + counts[i] * strides[i]), Tensor(int64_t{strides[i]}));
    return gather(from, numbers, {.axis = axis});
  };
  std::vector<Tensor> parts;
  for (int64_t plane = 0; plane < ksizes[0]; ++plane) {
    const Tensor planes = every(x, 1, plane);
    for (int64_t row = 0; row < ksizes[1]; ++row) {
      const Tensor rows = every(planes, 2, row);
      for (int64_t column = 0; column < ksizes[2]; ++column) {
        parts.push_back(every(rows, 3, column));
      }
    }
  }
  return concat(parts, 4);
}

std::pair<Tensor, Tensor> approx_top_k(const Tensor& operand, int64_t k,
                                       const ApproxTopKOptions& options) {
  TIDEMARK_HERE;
  nn::check_rank("approx_top_k", operand, 1);
  const int rank = operand.rank();
  const int along = normalize_axis(options.reduction_dimension, rank);
  Ints swapped;  // with the last, which undoes itself
  for (int i = 0; i < rank; ++i) swapped.push_back(i);
  std::swap(swapped[static_cast<size_t>(along)], swapped.back());
  const Tensor last = transpose(operand, swapped);
  const std::vector<Tensor> found =
      top_k(options.is_max_k ? last : -last, Tensor(static_cast<int32_t>(k)));
  const Tensor best = options.is_max_k ? found[0] : -found[0];
  return {transpose(best, swapped), transpose(found[1], swapped)};
}

Tensor fingerprint(const Tensor& data) {
  TIDEMARK_HERE;
  nn::check_rank("fingerprint", data, 1);
  return nn::when_run(
      "fingerprint",
      [](const std::vector<Tensor>& given) {
        const Tensor& x = given[0];
        const int64_t rows = x.dim(0), width = rows == 0 ? 0 : x.num_elements() / rows;
        const Tensor out = Tensor::uninitialized(DType::uint8, {rows, 8});
        std::vector<uint64_t> numbers(static_cast<size_t>(width));
        for (int64_t row = 0; row < rows; ++row) {
          std::string_view bytes;
          if (x.dtype() == DType::string && x.rank() == 1) {
            bytes = x.string_at(row);
          } else if (x.dtype() == DType::string) {
            for (int64_t i = 0; i < width; ++i) {
              numbers[size_t(i)] = text::farm_fingerprint(x.string_at(row * width + i));
            }
            bytes = {reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8};
          } else {
            const size_t size = x.nbytes() / static_cast<size_t>(rows);
            bytes = {static_cast<const char*>(x.raw_data()) + size_t(row) * size, size};
          }
          const uint64_t number = text::farm_fingerprint(bytes);
          std::memcpy(out.mutable_data<uint8_t>() + 8 * row, &number, 8);
        }
        return std::vector{out};
      },
      {data}, {{DType::uint8, {data.dim(0), 8}}})[0];
}

Tensor timestamp() {
  TIDEMARK_HERE;
  return nn::when_run(
      "timestamp",
      [](const std::vector<Tensor>&) {
        const auto since = std::chrono::system_clock::now().time_since_epoch();
        return std::vector{Tensor(std::chrono::duration<double>(since).count())};
      },
      {}, {{DType::float64, Shape{}}}, nn::Effect::must_run)[0];
}

bool executing_eagerly() { return last_handler() == nullptr; }

Tensor random::stateless_parameterized_truncated_normal(const Shape& shape, Seed seed,
                                                        const TruncatedOptions& options) {
  TIDEMARK_HERE;
  const auto given = [](const Tensor& x, double otherwise) {
    return x ? cast(x, DType::float64) : Tensor(otherwise);
  };
  const DType dtype =
      options.means && is_floating(options.means.dtype()) ? options.means.dtype() : DType::float32;
  const Tensor mean = given(options.means, 0), deviation = given(options.stddevs, 1);
  const Tensor least = (given(options.minvals, -2) - mean) / deviation;
  const Tensor most = (given(options.maxvals, 2) - mean) / deviation;
  // Beyond 0 the upper tail would run out of digits: there the mirror image is drawn.
  const Tensor is_mirrored = greater(least, Tensor(0.0));
  const Tensor low = select(is_mirrored, -most, least), high = select(is_mirrored, -least, most);
  const auto below = [](const Tensor& x) {
    return erfc(x * Tensor(-std::sqrt(0.5))) * Tensor(0.5);
  };
  const Tensor even = stateless_uniform(shape, seed, 0, 1, DType::float64);
  const Tensor place = below(low) + even * (below(high) - below(low));
  const Tensor number = clip_by_value(ndtri(place), low, high);
  return cast(select(is_mirrored, -number, number) * deviation + mean, dtype);
}

}  // namespace tidemark
