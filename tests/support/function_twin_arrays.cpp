// Functions of tf, tf.math and tf.random.
#include "function_twin.h"

namespace td = tidemark;

namespace function_twin {

Functions array_functions() {
  return {
      {"tensordot", [](const Tensors& x) { return Tensors{td::tensordot(x[0], x[1], 1)}; }},
      {"tensordot_pairs",
       [](const Tensors& x) {
         return Tensors{td::tensordot(x[0], x[1], {0, 2}, {1, 0})};
       }},
      {"one_hot", [](const Tensors& x) { return Tensors{td::one_hot(x[0], 4)}; }},
      {"where_places", [](const Tensors& x) { return Tensors{td::where(x[0])}; }},
      {"divide_floats", [](const Tensors& x) { return Tensors{td::divide(x[0], x[1])}; }},
      {"divide", [](const Tensors& x) { return Tensors{td::divide(x[0], x[1])}; }},
      {"scalar_mul", [](const Tensors& x) { return Tensors{td::scalar_mul(2.5, x[0])}; }},
      {"saturate_cast_int8",
       [](const Tensors& x) { return Tensors{td::saturate_cast(x[0], td::int8)}; }},
      {"saturate_cast_uint8",
       [](const Tensors& x) { return Tensors{td::saturate_cast(x[0], td::uint8)}; }},
      {"saturate_cast_half",
       [](const Tensors& x) { return Tensors{td::saturate_cast(x[0], td::float16)}; }},
      {"norm", [](const Tensors& x) { return Tensors{td::norm(x[0])}; }},
      {"norm_1", [](const Tensors& x) { return Tensors{td::norm(x[0], {.ord = 1, .axis = {1}})}; }},
      {"norm_3",
       [](const Tensors& x) {
         return Tensors{td::norm(x[0], {.ord = 3, .axis = {0}, .keepdims = true})};
       }},
      {"norm_inf",
       [](const Tensors& x) {
         return Tensors{td::norm(x[0], {.ord = std::numeric_limits<double>::infinity()})};
       }},
      {"norm_matrix_1",
       [](const Tensors& x) {
         return Tensors{td::norm(x[0], {.ord = 1, .axis = {0, 1}})};
       }},
      {"norm_matrix_2",
       [](const Tensors& x) {
         return Tensors{td::norm(x[0], {.ord = 2, .axis = {-2, -1}})};
       }},
      {"norm_matrix_inf",
       [](const Tensors& x) {
         return Tensors{td::norm(
             x[0],
             {.ord = std::numeric_limits<double>::infinity(), .axis = {0, 1}, .keepdims = true})};
       }},
      {"clip_by_norm", [](const Tensors& x) { return Tensors{td::clip_by_norm(x[0], 1.5)}; }},
      {"clip_by_norm_axes",
       [](const Tensors& x) { return Tensors{td::clip_by_norm(x[0], 0.5, td::Ints{1})}; }},
      {"clip_by_global_norm",
       [](const Tensors& x) {
         auto [clipped, length] = td::clip_by_global_norm(x, 1);
         clipped.push_back(length);
         return clipped;
       }},
      {"histogram_fixed_width",
       [](const Tensors& x) {
         return Tensors{td::histogram_fixed_width(x[0], -1, 1, {.nbins = 5})};
       }},
      {"meshgrid", [](const Tensors& x) { return td::meshgrid(x); }},
      {"meshgrid_ij", [](const Tensors& x) { return td::meshgrid(x, "ij"); }},
      {"sequence_mask", [](const Tensors& x) { return Tensors{td::sequence_mask(x[0])}; }},
      {"sequence_mask_maxlen",
       [](const Tensors& x) {
         return Tensors{td::sequence_mask(x[0], {.maxlen = 5, .dtype = td::int32})};
       }},
      {"unravel_index",
       [](const Tensors& x) {
         return Tensors{td::unravel_index(x[0], {3, 4})};
       }},
      {"dynamic_partition", [](const Tensors& x) { return td::dynamic_partition(x[0], x[1], 3); }},
      {"dynamic_stitch",
       [](const Tensors& x) {
         return Tensors{td::dynamic_stitch({x[0], x[1]}, {x[2], x[3]})};
       }},
      {"space_to_batch",
       [](const Tensors& x) {
         return Tensors{td::space_to_batch(x[0], {2, 3}, {{0, 0}, {1, 1}})};
       }},
      {"batch_to_space",
       [](const Tensors& x) {
         return Tensors{td::batch_to_space(x[0], {2, 2}, {{0, 1}, {1, 0}})};
       }},
  };
}

Functions loop_functions() {
  return {
      {"map_fn",
       [](const Tensors& x) {
         return Tensors{td::map_fn([](const td::Tensor& row) { return row * row; }, x[0])};
       }},
      {"folds",
       [](const Tensors& x) {
         const auto fold = [](const td::Tensor& so_far, const td::Tensor& row) {
           return so_far * 0.5f + row;
         };
         return Tensors{td::foldl(fold, x[0]), td::foldr(fold, x[0], td::ones({4})),
                        td::scan(fold, x[0]), td::scan(fold, x[0], td::ones({4}))};
       }},
      {"map_fn_in_a_function",
       [](const Tensors& x) {
         auto step = td::function([](td::Tensor t) {
           return td::map_fn([](const td::Tensor& row) { return td::reduce_sum(row); }, t) +
                  td::foldl([](const td::Tensor& a, const td::Tensor& b) { return a + b; },
                            td::reduce_sum(t, td::Ints{1}));
         });
         step(x[0]);
         return Tensors{step(x[0])};
       }},
      {"vectorized_map",
       [](const Tensors& x) {
         const auto fn = [&](const td::Tensor& row) {
           const td::Tensor wide =
               td::reshape(td::tanh(row) * td::reduce_sum(row), td::Tensor::of({2, 2}));
           return td::matmul(wide, td::transpose(wide)) + td::gather(row, td::Tensor(1));
         };
         auto step = td::function([&](td::Tensor t) { return td::vectorized_map(fn, t); });
         return Tensors{td::vectorized_map(fn, x[0], {.fallback_to_while_loop = false}),
                        step(x[0])};
       }},
      {"vectorized_map_loops",
       [](const Tensors& x) {
         const auto fn = [](const td::Tensor& row) {
           return td::cond(
               td::greater(td::reduce_sum(row), 0.f), [&] { return row; }, [&] { return -row; });
         };
         try {
           td::vectorized_map(fn, x[0], {.fallback_to_while_loop = false});
         } catch (const td::InvalidArgumentError& error) {
           if (std::string(error.what()).find("cond") == std::string::npos) throw;
           return Tensors{td::vectorized_map(fn, x[0])};
         }
         throw std::runtime_error("it was done for all rows at once");
       }},
  };
}

Functions math_functions() {
  return {
      {"math.bincount", [](const Tensors& x) { return Tensors{td::math::bincount(x[0])}; }},
      {"math.bincount_weights",
       [](const Tensors& x) {
         return Tensors{td::math::bincount(x[0], {.weights = x[1], .minlength = 9})};
       }},
      {"math.bincount_rows",
       [](const Tensors& x) {
         return Tensors{td::math::bincount(x[0], {.maxlength = 4, .by_row = true})};
       }},
      {"math.confusion_matrix",
       [](const Tensors& x) { return Tensors{td::math::confusion_matrix(x[0], x[1])}; }},
      {"math.count_nonzero",
       [](const Tensors& x) {
         return Tensors{td::math::count_nonzero(x[0], {.axis = td::Ints{1}})};
       }},
      {"math.zero_fraction",
       [](const Tensors& x) { return Tensors{td::math::zero_fraction(x[0])}; }},
      {"math.top_k",
       [](const Tensors& x) {
         const auto [values, indices] = td::math::top_k(x[0], 2);
         return Tensors{values, indices};
       }},
      {"math.approx_min_k",
       [](const Tensors& x) {
         const auto [values, indices] = td::math::approx_min_k(x[0], 2);
         return Tensors{values, indices};
       }},
      {"math.is_non_decreasing",
       [](const Tensors& x) { return Tensors{td::math::is_non_decreasing(x[0])}; }},
      {"math.is_strictly_increasing",
       [](const Tensors& x) { return Tensors{td::math::is_strictly_increasing(x[0])}; }},
      {"math.polyval",
       [](const Tensors& x) {
         return Tensors{td::math::polyval({x[0], x[1], x[2]}, x[3])};
       }},
      {"math.reciprocal_no_nan",
       [](const Tensors& x) { return Tensors{td::math::reciprocal_no_nan(x[0])}; }},
      {"math.unsorted_segment_mean",
       [](const Tensors& x) { return Tensors{td::math::unsorted_segment_mean(x[0], x[1], 4)}; }},
      {"math.unsorted_segment_sqrt_n",
       [](const Tensors& x) { return Tensors{td::math::unsorted_segment_sqrt_n(x[0], x[1], 4)}; }},
      {"math.bessel_i0", [](const Tensors& x) { return Tensors{td::math::bessel_i0(x[0])}; }},
      {"math.bessel_i1", [](const Tensors& x) { return Tensors{td::math::bessel_i1(x[0])}; }},
      {"math.erfcinv", [](const Tensors& x) { return Tensors{td::math::erfcinv(x[0])}; }},
      {"math.lbeta", [](const Tensors& x) { return Tensors{td::math::lbeta(x[0])}; }},
      {"random.stateless_categorical",
       [](const Tensors& x) {
         return Tensors{td::random::stateless_categorical(x[0], 20, {3, 4})};
       }},
      {"random.stateless_gamma",
       [](const Tensors& x) {
         return Tensors{td::random::stateless_gamma({5, 3}, {3, 4}, x[0], x[1])};
       }},
      {"random.stateless_poisson",
       [](const Tensors& x) {
         return Tensors{td::random::stateless_poisson({5, 3}, {3, 4}, x[0])};
       }},
      {"random.stateless_binomial",
       [](const Tensors& x) {
         return Tensors{td::random::stateless_binomial({5, 3}, {3, 4}, x[0], x[1])};
       }},
      {"random.split",
       [](const Tensors&) {
         return Tensors{td::random::split({3, 4}, 3)};
       }},
  };
}

}  // namespace function_twin
