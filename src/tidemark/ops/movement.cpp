#include "tidemark/ops/movement.h"

#include <algorithm>

#include "tidemark/ops/gradients.h"

namespace tidemark::movement {

int64_t characters_of(const Tensor& t) {
  if (t.dtype() != DType::string || !holds_values(t)) return 0;
  int64_t total = 0;
  for (const StringRef& ref : t.values<StringRef>()) total += static_cast<int64_t>(ref.length);
  return total;
}

int64_t longest_string(const Tensor& t) {
  if (t.dtype() != DType::string || !holds_values(t)) return 0;
  uint64_t longest = 0;
  for (const StringRef& ref : t.values<StringRef>()) longest = std::max(longest, ref.length);
  return static_cast<int64_t>(longest);
}

int64_t checked_multiply(int64_t a, int64_t b, std::string_view what) {
  int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) {
    fail(what, " would be ", a, " * ", b, ", more than 2^63 - 1");
  }
  return result;
}

int64_t checked_add(int64_t a, int64_t b, std::string_view what) {
  int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) {
    fail(what, " would be ", a, " + ", b, ", more than 2^63 - 1");
  }
  return result;
}

int64_t product(const Shape& shape, int begin, int end) {
  int64_t result = 1;
  for (int i = begin; i < end; ++i) {
    if (shape[i] == kUnknownDim) return kUnknownDim;
    result = checked_multiply(result, shape[i], "the number of elements");
  }
  return result;
}

void check_vector(const InferContext& c, int input) {
  if (!c.shape(input).has_rank() || c.shape(input).rank() == 1) return;
  c.fail("'", c.call().op.input_param(input).name, "' must be 1-D, not of shape ",
         c.shape(input).to_brackets());
}

Shape unknown_dims_of(const InferContext& c, int input) {
  const Shape& s = c.shape(input);
  if (!s.has_rank() || s.rank() != 1 || s[0] == kUnknownDim) return Shape::unknown();
  return Shape::filled(static_cast<int>(s[0]), kUnknownDim);
}

Shape read_shape(const InferContext& c, int input) {
  check_vector(c, input);
  const Ints dims = c.ints(input);
  Shape out{std::span<const int64_t>(dims)};
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] < 0) {
      c.fail("'", c.call().op.input_param(input).name, "' must not hold negative sizes; element ",
             i, " is ", out[i]);
    }
  }
  (void)out.num_elements();  // throws when it does not fit
  return out;
}

Shape merge_shapes(const InferContext& c, const Shape& a, const Shape& b, int except_axis) {
  if (!a.has_rank()) return b;
  if (!b.has_rank()) return a;
  if (a.rank() != b.rank()) {
    c.fail("Ranks of all input tensors should match: ", a.to_brackets(), " vs. ", b.to_brackets());
  }
  Shape out = a;
  for (int i = 0; i < a.rank(); ++i) {
    if (i == except_axis || a[i] == b[i] || b[i] == kUnknownDim) continue;
    if (a[i] != kUnknownDim) {
      c.fail("Dimension ", i, " in both shapes must be equal: ", a.to_brackets(), " vs. ",
             b.to_brackets());
    }
    out[i] = b[i];
  }
  return out;
}

Tensor ints_tensor(const Ints& values) {
  return Tensor::of(std::span<const int64_t>(values), Shape{static_cast<int64_t>(values.size())});
}

Tensor shape_tensor(const Grad& g, int i) {
  const Shape& s = g.shape(i);
  if (s.is_fully_known()) return ints_tensor(Ints(s.begin(), s.end()));
  return call("shape", {g.x(i)}, {{"out_type", DType::int64}});
}

Tensor zero_of(DType dtype) { return scalar(0, dtype); }

Tensor zeros_of_shape(const Tensor& t) {
  const Shape& s = t.shape();
  const Tensor shape = s.is_fully_known() ? ints_tensor(Ints(s.begin(), s.end()))
                                          : call("shape", {t}, {{"out_type", DType::int64}});
  return call("broadcast_to", {zero_of(t.dtype()), shape});
}

Tensor dy_or_zeros(const Grad& g, int i) { return g.dy(i) ? g.dy(i) : zeros_of_shape(g.y(i)); }

}  // namespace tidemark::movement
