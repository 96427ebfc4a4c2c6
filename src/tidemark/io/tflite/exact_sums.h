// Sums of products of integers, to the last one.
//
// Reals hold integers exactly up to a power of two, so the products are those of reals, cut into
// parts along the last axis where a sum might grow beyond it.
#pragma once

#include <functional>

#include "tidemark/io/tflite/quantised.h"

namespace tidemark::io::tflite {

using Product = std::function<Tensor(const Tensor& x, const Tensor& weights)>;
/// The integers of x, as reals of this dtype.
using Given = std::function<Tensor(DType wide)>;

inline constexpr double kExactFloats = 1 << 24;

/// The largest magnitude of a number less its zero.
double reach_of(const Numbers& x);

/// Sums over the last axis of x, no number of which goes beyond `reach`, and of the weights
/// [out, …, in] (input 1), as integers of the dtype `whole`.
Tensor exact_sums(const Call& c, const Given& x, double reach, DType whole, const Product& product);
Tensor exact_depthwise_sums(const Call& c, const Given& x, double reach, DType whole);

/// What operators do with x and their weights.
Product convolved_by(const Call& c);
Product spread_by(const Call& c);  // the transposed convolution
Product multiplied_by_rows(const Call& c);

}  // namespace tidemark::io::tflite
