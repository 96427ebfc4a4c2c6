// Functions of tf.quantization and of tf.nn that train on samples or sparse ids, and boxes.
#include "function_twin.h"

namespace td = tidemark;

namespace function_twin {

namespace {

namespace qt = tidemark::quantization;
namespace nn = tidemark::nn;
namespace im = tidemark::image;

/// What is computed, and the gradient of its squares by each input; the same in a traced function.
template <class F>
Tensors with_gradients(const Tensors& x, const F& function) {
  const auto run = [&](const std::vector<td::Tensor>& given) {
    td::GradientTape tape({.persistent = true});
    for (const td::Tensor& one : given) tape.watch(one);
    const td::Tensor y = function(given);
    const td::Tensor loss = td::reduce_sum(td::square(y) + y);
    Tensors out = {y};
    for (const td::Tensor& one : given) out.push_back(tape.gradient(loss, one));
    return out;
  };
  return run(x);
}

Tensors fake(const Tensors& x) {
  Tensors out = with_gradients({x[0], x[1], x[2]}, [](const Tensors& t) {
    return qt::fake_quant_with_min_max_vars(t[0], t[1], t[2], {.num_bits = 4});
  });
  for (const td::Tensor& t : with_gradients({x[0], x[3], x[4]}, [](const Tensors& g) {
         return qt::fake_quant_with_min_max_vars_per_channel(g[0], g[1], g[2],
                                                             {.narrow_range = true});
       })) {
    out.push_back(t);
  }
  out.push_back(qt::fake_quant_with_min_max_args(x[0], {.min = -1, .max = 2, .num_bits = 3}));
  out.push_back(qt::fake_quant_with_min_max_args_gradient(x[0] * 2.f, x[0], {.min = -1, .max = 1}));
  for (const auto& g :
       {qt::fake_quant_with_min_max_vars_gradient(x[0] * 2.f, x[0], x[1], x[2]),
        qt::fake_quant_with_min_max_vars_per_channel_gradient(x[0] * 2.f, x[0], x[3], x[4])}) {
    for (const td::Tensor& t : {g.inputs, g.min, g.max}) out.push_back(t);
  }
  return out;
}

Tensors rounded(const Tensors& x) {
  Tensors out = with_gradients({x[0]}, [&](const Tensors& t) {
    return qt::quantize_and_dequantize(t[0], x[1], x[2], {.num_bits = 4, .range_given = true});
  });
  out.push_back(qt::quantize_and_dequantize(x[0], x[1], x[2]));
  out.push_back(qt::quantize_and_dequantize_v2(
      x[0], x[3], x[4], {.signed_input = false, .round_mode = "HALF_UP", .axis = 1}));
  return out;
}

Tensors sampled(const Tensors& x) {
  const td::random::Candidates drawn{td::cast(x[4], td::int64), x[5], x[6]};
  Tensors out = with_gradients({x[0], x[1], x[3]}, [&](const Tensors& t) {
    return nn::sampled_softmax_loss(t[0], t[1], x[2], t[2], 4, 9,
                                    {.num_true = 2, .sampled_values = drawn});
  });
  out.push_back(
      nn::nce_loss(x[0], x[1], x[2], x[3], 4, 9, {.num_true = 2, .sampled_values = drawn}));
  const auto hits = nn::compute_accidental_hits(x[2], x[4], 2);
  for (const td::Tensor& t : {hits.indices, hits.ids, hits.weights}) out.push_back(t);
  return out;
}

/// The expected counts do not depend on the draw but through which classes came.
Tensors candidates(const Tensors& x) {
  namespace rd = tidemark::random;
  Tensors out;
  for (const rd::Candidates& one :
       {rd::uniform_candidate_sampler(x[0], 2, 9, true, 9),
        rd::log_uniform_candidate_sampler(x[0], 2, 9, true, 9),
        rd::fixed_unigram_candidate_sampler(
            x[0], 2, 8, true, 9,
            {.unigrams = {1, 2, 3, 4, 5, 6, 7, 8}, .distortion = 0.5, .num_reserved_ids = 1}),
        rd::all_candidate_sampler(x[0], 2, 9, true)}) {
    out.push_back(td::sort(one.sampled_candidates));
    out.push_back(one.true_expected_count);
    out.push_back(td::sort(one.sampled_expected_count));
  }
  const rd::Candidates some = rd::log_uniform_candidate_sampler(x[0], 2, 5, false, 9);
  out.push_back(some.true_expected_count);
  out.push_back(td::cast(
      td::reduce_all(td::logical_and(td::greater_equal(some.sampled_candidates, int64_t{0}),
                                     td::less(some.sampled_candidates, int64_t{9}))),
      td::float32));
  return out;
}

Tensors looked_up(const Tensors& x) {
  const td::SparseTensor ids = td::sparse::from_dense(td::cast(x[1], td::int64));
  const td::SparseTensor weights{ids.indices, x[2], ids.dense_shape};
  Tensors out;
  for (const char* combiner : {"mean", "sqrtn", "sum"}) {
    out.push_back(nn::embedding_lookup_sparse(x[0], ids, weights, {.combiner = combiner}));
  }
  out.push_back(nn::embedding_lookup_sparse(x[0], ids, std::nullopt, {.max_norm = 0.5}));
  const td::SparseTensor some{ids.indices, ids.values - int64_t{2}, ids.dense_shape};
  out.push_back(nn::safe_embedding_lookup_sparse(x[0], some));
  out.push_back(nn::safe_embedding_lookup_sparse(x[0], some, weights,
                                                 {.combiner = "sqrtn", .default_id = 3}));
  return out;
}

Tensors pooled(const Tensors& x) {
  Tensors out =
      with_gradients(x, [](const Tensors& t) { return nn::fractional_max_pool(t[0], {2}).output; });
  const auto mean = nn::fractional_avg_pool(x[0], {1, 2, 2, 1}, {.overlapping = true});
  for (const td::Tensor& t : {mean.output, mean.row_pooling_sequence, mean.col_pooling_sequence}) {
    out.push_back(t);
  }
  const auto some = nn::fractional_avg_pool(x[0], {1.4}, {.pseudo_random = true});
  out.push_back(td::shape(some.output));
  return out;
}

Tensors best_boxes(const Tensors& x) {
  const auto soft = im::non_max_suppression_with_scores(x[0], x[1], 3, {.soft_nms_sigma = 0.5});
  const auto padded =
      im::non_max_suppression_padded(x[0], x[1], 6, {.pad_to_max_output_size = true});
  const td::Tensor both[] = {x[0], x[0] * 0.5f}, scores[] = {x[1], x[1] * 2.f};
  const td::Tensor boxes = td::stack(both), all = td::stack(scores);
  const auto batch = im::non_max_suppression_padded(boxes, all, 3);
  const td::Tensor classes[] = {all, all * 0.5f};
  const auto combined = im::combined_non_max_suppression(
      td::expand_dims(boxes, 2), td::stack(classes, 2), 2, 5, {.score_threshold = 0.2});
  return {soft.first,
          soft.second,
          padded.first,
          padded.second,
          batch.first,
          batch.second,
          combined.nmsed_boxes,
          combined.nmsed_scores,
          combined.nmsed_classes,
          combined.valid_detections,
          im::non_max_suppression_overlaps(x[2], x[1], 3)};
}

Tensors random_boxes(const Tensors& x) {
  Tensors out;
  for (int64_t seed = 0; seed < 4; ++seed) {
    const auto box =
        im::stateless_sample_distorted_bounding_box(td::constant({40, 30, 3}), x[0], {seed, 4});
    for (const td::Tensor& t : {box.begin, box.size, box.bboxes}) out.push_back(t);
  }
  const auto any = im::sample_distorted_bounding_box(td::constant({40, 30, 3}), x[0]);
  out.push_back(td::shape(any.bboxes));
  return out;
}

Tensors glimpses(const Tensors& x) {
  const auto zero = [](bool centered, bool normalized) {
    return im::GlimpseOptions{centered, normalized, "zero"};
  };
  return {im::extract_glimpse(x[0], {3, 4}, x[1], zero(true, true)),
          im::extract_glimpse(x[0], {3, 4}, x[1], zero(false, true)),
          im::extract_glimpse(x[0], {3, 4}, x[1] * 4.f, zero(false, false)),
          td::shape(im::extract_glimpse(x[0], {3, 4}, x[1]))};
}

Tensors files_of_pictures(const Tensors& x) {
  const td::Tensor image = td::cast(x[0], td::uint8), file = td::encode_jpeg(image);
  return {im::decode_and_crop_jpeg(file, td::constant({1, 2, 3, 2})),
          im::adjust_jpeg_quality(image, 30), im::adjust_jpeg_quality(x[1], 50),
          im::stateless_random_jpeg_quality(image, 10, 90, {3, 4}),
          td::shape(im::random_jpeg_quality(image, 10, 90))};
}

Tensors shapes(const Tensors& x) {
  const auto paddings =
      td::required_space_to_batch_paddings(td::constant({5, 7}), td::constant({2, 3}));
  const auto based = td::required_space_to_batch_paddings(
      td::constant({5, 7}), td::constant({2, 3}), td::constant({{1, 0}, {0, 1}}));
  const auto best = td::approx_top_k(x[0], 2, {.reduction_dimension = 1, .is_max_k = false});
  return {td::broadcast_dynamic_shape(td::constant({3, 1, 2}), td::constant({4, 1})),
          paddings.first,
          paddings.second,
          based.first,
          based.second,
          best.first,
          best.second,
          td::extract_volume_patches(x[0], {2, 1, 3}, {1, 2, 2}, "VALID"),
          td::extract_volume_patches(x[0], {2, 2, 2}, {1, 2, 3}, "SAME"),
          td::cast(td::Tensor(td::executing_eagerly()), td::float32)};
}

Tensors generated(const Tensors&) {
  using td::random::Generator;
  const Generator own = Generator::from_seed(7);
  Tensors out = {own.normal({3}, 1, 2), own.truncated_normal({2, 2}), own.uniform({3}, 2, 5),
                 own.uniform_int({4}, 0, 9)};
  own.skip(3);
  out.push_back(td::floordiv(own.uniform_full_int({2}, td::int32), 4096));
  for (const Generator& one : own.split(2)) out.push_back(one.normal({2}));
  out.push_back(own.state());
  own.reset_from_seed(9);
  const Generator again = Generator::from_state(own.state());
  out.push_back(own.normal({2}));
  out.push_back(again.normal({2}));
  out.push_back(td::random::create_rng_state(5));
  // A traced function draws others in each run, of the same stream.
  td::random::set_global_generator(Generator::from_seed(3));
  const Generator same = Generator::from_seed(3);
  auto draw =
      td::function([](td::Tensor x) { return td::random::get_global_generator().normal({2}) + x; });
  bool is_right = true;
  for (int i = 0; i < 3; ++i) {
    const td::Tensor difference = td::abs(draw(td::zeros({2})) - same.normal({2}));
    is_right = is_right && td::reduce_max(difference).item<float>() == 0;
  }
  out.push_back(td::Tensor(is_right));
  return out;
}

}  // namespace

Functions training_functions() {
  return {
      {"quantization.fake", fake},
      {"quantization.rounded", rounded},
      {"nn.sampled_losses", sampled},
      {"random.candidates", candidates},
      {"nn.embedding_lookup_sparse", looked_up},
      {"nn.fractional_pools", pooled},
      {"nn.isotonic_regression",
       [](const Tensors& x) {
         Tensors out = with_gradients(
             {x[0]}, [](const Tensors& t) { return nn::isotonic_regression(t[0]).first; });
         const auto rising = nn::isotonic_regression(x[0], false, 0);
         out.push_back(nn::isotonic_regression(x[0]).second);
         out.push_back(rising.first);
         out.push_back(rising.second);
         return out;
       }},
      {"nn.ctc_labels",
       [](const Tensors& x) {
         const auto different = nn::ctc_unique_labels(x[0]);
         const auto collapsed = nn::collapse_repeated(x[0], td::constant({5, 3}));
         return Tensors{different.first, different.second, collapsed.first, collapsed.second};
       }},
      {"image.boxes", best_boxes},
      {"image.random_boxes", random_boxes},
      {"image.glimpses", glimpses},
      {"image.jpeg", files_of_pictures},
      {"image.ssim_multiscale",
       [](const Tensors& x) {
         return Tensors{
             im::ssim_multiscale(x[0], x[1], 1),
             im::ssim_multiscale(x[0], x[1], 1, {.power_factors = {0.5, 0.5}, .filter_size = 5})};
       }},
      {"shapes", shapes},
      {"random.generator", generated},
      {"random.truncated",
       [](const Tensors& x) {
         return Tensors{
             td::random::stateless_parameterized_truncated_normal({4, 3}, {3, 4}),
             td::random::stateless_parameterized_truncated_normal(
                 {4, 3}, {3, 4}, {.means = x[0], .stddevs = 2.f, .minvals = 1.f, .maxvals = 5.f})};
       }},
  };
}

}  // namespace function_twin
