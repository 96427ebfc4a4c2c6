// Conditions and loops: computed now, or, while a function is traced, nodes of its graph.
//
//   Tensor y = td::cond(td::greater(x, 0.f), [&] { return x * 2.f; }, [&] { return -x; });
//
//   td::Array powers(DType::float32, 10);          // a list that a loop fills
//   std::vector<Tensor> end = td::while_loop(
//       [&](std::span<const Tensor> v) { return td::less(v[0], 10); },
//       [&](std::span<const Tensor> v) {
//         return std::vector{v[0] + 1, v[1] * x, powers.with(v[2]).write(v[0], v[1]).tensor()};
//       },
//       {0, x, powers.tensor()}, {.shapes = {Shape{}, x.shape(), Shape::unknown()}});
//   Tensor all = powers.with(end[2]).stack();
#pragma once

#include <tidemark/tensor.h>

#include <functional>
#include <type_traits>
#include <vector>

namespace tidemark {

using TensorsFunction = std::function<std::vector<Tensor>()>;

/// What the function that `index`, an integer or bool scalar, picks returns; outside of [0, count)
/// it picks the last. All return as many tensors, of the same dtypes.
TIDEMARK_API std::vector<Tensor> switch_case(const Tensor& index,
                                             std::span<const TensorsFunction> functions);

/// What `if_true()` returns if the bool scalar holds, else what `if_false()` does: a tensor, or a
/// vector of them.
template <class True, class False>
auto cond(const Tensor& predicate, True&& if_true, False&& if_false) {
  if constexpr (std::is_convertible_v<std::invoke_result_t<True>, Tensor>) {
    const TensorsFunction both[] = {[&] { return std::vector<Tensor>{if_false()}; },
                                    [&] { return std::vector<Tensor>{if_true()}; }};
    return switch_case(predicate, both)[0];
  } else {
    const TensorsFunction both[] = {std::ref(if_false), std::ref(if_true)};
    return switch_case(predicate, both);
  }
}

struct LoopOptions {
  int64_t maximum_iterations = -1;  // negative: any number
  /// What is known of the variables' shapes in every round; empty: they keep those they start with.
  std::vector<Shape> shapes = {};
};

/// Replaces the variables by what `body` makes of them, while `condition` of them, a bool scalar,
/// holds.
TIDEMARK_API std::vector<Tensor> while_loop(
    const std::function<Tensor(std::span<const Tensor>)>& condition,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& body,
    std::vector<Tensor> variables, const LoopOptions& options = {});

struct ArrayOptions {
  bool dynamic_size = false;
  Shape element_shape = Shape::unknown();
};

/// Tensors of one dtype and shape by number. A value: writing makes another array, in place when
/// this one is given up.
class TIDEMARK_API Array {
 public:
  Array(DType dtype, const Tensor& size, ArrayOptions options = {});

  Tensor read(const Tensor& index) const;
  Array write(const Tensor& index, const Tensor& value) const&;
  Array write(const Tensor& index, const Tensor& value) &&;
  /// All elements along a new first axis. No copy.
  Tensor stack() const;
  Tensor size() const;

  /// What goes through conditions and loops for the array.
  const Tensor& tensor() const { return tensor_; }
  /// The array of the same type over what came out of them.
  Array with(Tensor tensor) const;

 private:
  Array written(const Tensor& index, const Tensor& value, uint64_t donated) const;

  ArrayOptions options_;
  Tensor tensor_;
};

// --- loops over the rows of a tensor ------------------------------------------------------------

using RowFunction = std::function<Tensor(const Tensor& row)>;
/// Of what was made so far and the next row.
using FoldFunction = std::function<Tensor(const Tensor& so_far, const Tensor& row)>;

/// What the function makes of each row, as rows; all of one shape, and of `dtype` (invalid: that of
/// `elems`).
TIDEMARK_API Tensor map_fn(const RowFunction& fn, const Tensor& elems,
                           DType dtype = DType::invalid);
struct VectorizedMapOptions {
  bool fallback_to_while_loop = true;
};
/// The same without a loop: the function is traced for one row, and every step of it is done for
/// all rows at once. A step for which that is not known makes it a loop, or throws
/// InvalidArgumentError that names it.
TIDEMARK_API Tensor vectorized_map(const RowFunction& fn, const Tensor& elems,
                                   const VectorizedMapOptions& options = {});
/// What is made in the end, from the first row on, or from the last; without an initializer the
/// first of them is where it begins.
TIDEMARK_API Tensor foldl(const FoldFunction& fn, const Tensor& elems,
                          const Tensor& initializer = {});
TIDEMARK_API Tensor foldr(const FoldFunction& fn, const Tensor& elems,
                          const Tensor& initializer = {});
/// What is made after each row, as rows.
TIDEMARK_API Tensor scan(const FoldFunction& fn, const Tensor& elems,
                         const Tensor& initializer = {});

}  // namespace tidemark
