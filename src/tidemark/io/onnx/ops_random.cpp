// Random numbers, and what is random in training alone.
#include <bit>

#include "tidemark/io/onnx/build.h"

namespace tidemark::io::onnx {

namespace {

std::optional<int64_t> seed_of(const Call& c) {
  const Attribute* seed = c.attr("seed");
  if (!seed) return std::nullopt;
  return static_cast<int64_t>(std::bit_cast<uint32_t>(seed->real));
}

Tensor uniform(const Call& c, const Tensor& shape, DType dtype) {
  return random_uniform(shape, c.real("low", 0), c.real("high", 1), dtype, seed_of(c));
}
Tensor normal(const Call& c, const Tensor& shape, DType dtype) {
  return random_normal(shape, c.real("mean", 0), c.real("scale", 1), dtype, seed_of(c));
}

using Draw = Tensor (*)(const Call&, const Tensor&, DType);

template <Draw draw>
Tensor of_shape(const Call& c) {
  return draw(c, vector_of(c.integers("shape", {})),
              storage_of(c.element("dtype", Element::float32)));
}
template <Draw draw>
Tensor like_input(const Call& c) {
  const Tensor& x = c.in(0);
  return draw(c, shape_of(x), storage_of(c.element("dtype", element_of(x.dtype()))));
}

Tensor bernoulli(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor drawn = random_uniform(shape_of(x), 0, 1, x.dtype(), seed_of(c));
  return as(less(drawn, x), storage_of(c.element("dtype", element_of(x.dtype()))));
}

Tensor multinomial(const Call& c) {
  // The largest of the logits with Gumbel noise is drawn by their probabilities.
  const Tensor& x = c.in(0);
  const int64_t count = c.integer("sample_size", 1);
  const Tensor sizes[] = {expand_dims(dim_of(x, 0), 0), vector_of({count}),
                          expand_dims(dim_of(x, 1), 0)};
  const Tensor drawn = random_uniform(concat(sizes, 0), 1e-20, 1, x.dtype(), seed_of(c));
  const Tensor noise = -log(-log(drawn));
  return argmax(expand_dims(x, 1) + noise, 2, storage_of(c.element("dtype", Element::int32)));
}

Values dropout(const Call& c) {
  const Tensor& x = c.in(0);
  const auto everything = [&] { return fill(shape_of(x), Tensor(true)); };
  bool is_training = false;
  double ratio = 0.5;
  if (c.version >= 12) {
    is_training = c.has(2) && c.known_integer(2) != 0;
    if (is_training && c.has(1)) ratio = c.known_real(1);
  }
  if (!is_training || ratio == 0) {
    if (!c.wants(1)) return {x};
    return {x, c.version < 10 ? as(everything(), x.dtype()) : everything()};
  }
  const Tensor drawn = random_uniform(shape_of(x), 0, 1, DType::float32, seed_of(c));
  const Tensor kept = greater_equal(drawn, number(ratio, DType::float32));
  return {select(kept, x / number(1 - ratio, x), zeros_like(x)), kept};
}

constexpr Entry kEntries[] = {
    Entry{"RandomUniform", of_shape<uniform>}.drawn(),
    Entry{"RandomNormal", of_shape<normal>}.drawn(),
    Entry{"RandomUniformLike", like_input<uniform>}.drawn(),
    Entry{"RandomNormalLike", like_input<normal>}.drawn(),
    Entry{"Bernoulli", bernoulli}.drawn(),
    Entry{"Multinomial", multinomial}.drawn(),
    Entry{"Dropout", dropout}.drawn(),
};

}  // namespace

std::span<const Entry> random_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
