// Attention in its forms, and what models of text put around it.
#include <tidemark/control_flow.h>
#include <tidemark/einsum.h>

#include <cmath>
#include <limits>

#include "tidemark/io/onnx/build.h"
#include "tidemark/io/onnx/interpreter.h"

namespace tidemark::io::onnx {

namespace {

Tensor zero() { return Tensor(int64_t{0}); }
Tensor one() { return Tensor(int64_t{1}); }
constexpr int64_t kShowsBiased = 2;  // of qk_matmul_output_mode: scores and mask together
double minus_infinity() { return -std::numeric_limits<double>::infinity(); }

/// [batch, length, heads * size] to [batch, heads, length, size].
Tensor split_heads(const Tensor& x, int64_t heads) {
  const Tensor parts[] = {slice(shape_of(x), vector_of({0}), vector_of({2})),
                          vector_of({heads, -1})};
  return transposed(reshape(x, concat(parts, 0)), {0, 2, 1, 3});
}

Tensor merge_heads(const Tensor& x) { return merged(transposed(x, {0, 2, 1, 3}), 2, 4); }

/// Each head of keys and values serves several of the queries.
Tensor shared_heads(const Tensor& x, int64_t heads) {
  const int64_t own = known_dim(x, 1);
  if (own == heads) return x;
  if (own < 1 || heads % own != 0) fail(heads, " heads cannot share ", own, " of keys and values");
  return repeat(x, Tensor(heads / own), 1);
}

struct Attended {
  Tensor query, key, value, past_length;  // past_length: a scalar, or one a batch [batch,1,1,1]
};

/// Keys less queries, counted from the end of what was before: [.., queries, keys].
Tensor distance(const Attended& a) {
  const Tensor queries = range(zero(), dim_of(a.query, 2), one());
  const Tensor keys = range(zero(), dim_of(a.key, 2), one());
  return expand_dims(keys, 0) - (expand_dims(queries, 1) + a.past_length);
}

Tensor masked(const Tensor& seen, const Tensor& like) {
  return select(seen, number(0, like), number(minus_infinity(), like));
}

/// What is added to the scores; empty: nothing.
Tensor bias_of(const Call& c, const Attended& a, const Tensor& lengths) {
  Tensor bias;
  const auto add_to = [&](const Tensor& more) { bias = bias ? bias + more : more; };
  if (c.has(3)) {
    Tensor mask = c.in(3);
    if (mask.dtype() == DType::bool_) mask = masked(mask, a.query);
    const int64_t width = mask.dim(-1), keys = a.key.dim(2);
    if (width != keys && width != 1) {
      Ints pads(2 * static_cast<size_t>(rank_of(mask)), 0);
      pads.back() = known_dim(a.key, 2) - known_dim(mask, -1);
      mask = pad(mask, reshaped(vector_of(pads), {rank_of(mask), 2}), "CONSTANT",
                 number(minus_infinity(), mask));
    }
    add_to(mask);
  }
  if (c.integer("is_causal", 0)) add_to(masked(less_equal(distance(a), zero()), a.query));
  const int64_t left = c.integer("left_window_size", -1);
  const int64_t right = c.integer("right_window_size", -1);
  if (left >= 0) add_to(masked(greater_equal(distance(a), Tensor(-left)), a.query));
  if (right >= 0) add_to(masked(less_equal(distance(a), Tensor(right)), a.query));
  if (lengths) {
    const Tensor keys = range(zero(), dim_of(a.key, 2), one());
    add_to(masked(less(keys, lengths), a.query));
  }
  return bias;
}

DType softmax_type(const Call& c, DType unless_given) {
  if (!c.attr("softmax_precision")) return unless_given;
  return storage_of(c.element("softmax_precision", Element::float32));
}

double scale_of(const Call& c, const Tensor& query) {
  const Attribute* given = c.attr("scale");
  return given ? static_cast<double>(given->real)
               : 1 / std::sqrt(static_cast<double>(known_dim(query, -1)));
}

Tensor scores_of(const Attended& a, double scale) {
  const Tensor root = number(std::sqrt(scale), a.query);
  return matmul(a.query * root, a.key * root, false, true);
}

/// A query that may see no key at all takes nothing from any.
Tensor weights_of(const Tensor& scores, const Tensor& bias) {
  const Tensor weights = softmax(scores, -1);
  if (!bias) return weights;
  const Tensor nothing = equal(max(bias, Ints{-1}, true), number(minus_infinity(), bias));
  return select(nothing, number(0, weights), weights);
}

Values attention_node(const Call& c) {
  Attended a{c.in(0), c.in(1), c.in(2), zero()};
  const bool is_flat = rank_of(a.query) == 3;
  if (is_flat) {
    a.query = split_heads(a.query, c.integer("q_num_heads"));
    a.key = split_heads(a.key, c.integer("kv_num_heads"));
    a.value = split_heads(a.value, c.integer("kv_num_heads"));
  }
  Tensor lengths;
  if (c.has(4)) {
    a.past_length = dim_of(c.in(4), 2);
    const Tensor keys[] = {c.in(4), a.key}, values[] = {c.in(5), a.value};
    a.key = concat(keys, 2);
    a.value = concat(values, 2);
  }
  if (c.has(6)) {
    lengths = reshaped(as(c.in(6), DType::int64), {-1, 1, 1, 1});
    if (!c.has(4)) a.past_length = lengths - dim_of(a.query, 2);
  }
  const Tensor present_key = a.key, present_value = a.value;
  const int64_t heads = known_dim(a.query, 1);
  a.key = shared_heads(a.key, heads);
  a.value = shared_heads(a.value, heads);
  const int64_t mode = c.integer("qk_matmul_output_mode", 0);
  const double cap = c.real("softcap", 0);
  Tensor scores = scores_of(a, scale_of(c, a.query));
  Tensor shown = scores;
  if (cap != 0) {
    scores = tanh(scores / number(cap, scores)) * number(cap, scores);
    shown = scores;
  }
  const Tensor bias = bias_of(c, a, lengths);
  if (bias) scores = scores + bias;
  if (mode == kShowsBiased) shown = scores;
  const Tensor weights = weights_of(as(scores, softmax_type(c, scores.dtype())), bias);
  if (mode == 3) shown = weights;
  Tensor y = matmul(as(weights, a.query.dtype()), a.value);
  if (is_flat) y = merge_heads(y);
  return {y, present_key, present_value, as(shown, a.query.dtype())};
}

Tensor flex_attention(const Call& c) {
  const Tensor& query = c.in(0);
  const int64_t heads = known_dim(query, 1);
  const Attended a{query, shared_heads(c.in(1), heads), shared_heads(c.in(2), heads), zero()};
  const DType wide = query.dtype() == DType::float64 ? DType::float64 : DType::float32;
  const auto changed = [&](std::string_view name, const Tensor& x) {
    const Attribute* graph = c.attr(name);
    if (!graph || !graph->graph) return x;
    const Value given(x);
    const Values made = c.interpreter.run_inner(c, *graph->graph, {&given, 1});
    if (made.size() != 1) c.fail("'", name, "' must give one tensor, not ", made.size());
    return as(made[0].tensor, x.dtype());
  };
  const DType dtype = softmax_type(c, wide);
  const Tensor scores = changed("score_mod", as(scores_of(a, scale_of(c, query)), dtype));
  const Tensor weights = changed("prob_mod", softmax(scores, -1));
  return as(matmul(weights, as(a.value, dtype)), c.in(2).dtype());
}

/// What one step of linear attention reads.
struct LinearStep {
  Tensor query, key, value, decay, beta;  // [length, batch, heads, size]
};

Tensor steps_first(const Tensor& x, int64_t heads) {
  return as(transposed(split_heads(x, heads), {2, 0, 1, 3}), DType::float32);
}

Values linear_attention(const Call& c) {
  const int64_t q_heads = c.integer("q_num_heads"), kv_heads = c.integer("kv_num_heads");
  const Tensor& query = c.in(0);
  LinearStep s{steps_first(query, q_heads),
               steps_first(c.in(1), kv_heads),
               steps_first(c.in(2), kv_heads),
               {},
               {}};
  const std::string rule = c.text("update_rule", "gated_delta");
  const bool is_gated = rule == "gated" || rule == "gated_delta";
  const bool is_delta = rule == "delta" || rule == "gated_delta";
  if (is_gated) s.decay = steps_first(c.in(4), kv_heads);
  if (is_delta) s.beta = steps_first(c.in(5), known_dim(c.in(5), -1));
  const int64_t size = known_dim(s.key, -1);
  double scale = c.real("scale", 0);
  if (scale == 0) scale = 1 / std::sqrt(static_cast<double>(size));
  Tensor state;
  if (c.has(3)) {
    state = as(c.in(3), DType::float32);
  } else {
    const Tensor sizes[] = {expand_dims(dim_of(query, 0), 0),
                            vector_of({kv_heads, size, known_dim(s.value, -1)})};
    state = fill(concat(sizes, 0), Tensor(0.f));
  }
  const Tensor length = dim_of(query, 1);
  Array outputs(DType::float32, as(length, DType::int32),
                {.element_shape = Shape{query.dim(0), q_heads, known_dim(s.value, -1)}});
  const auto at = [](const Tensor& x, const Tensor& i) { return gather(x, i, std::nullopt, 0); };
  const std::vector<Tensor> end = while_loop(
      [&](std::span<const Tensor> v) { return less(v[0], length); },
      [&](std::span<const Tensor> v) {
        Tensor memory = v[1];
        const Tensor key = at(s.key, v[0]);
        Tensor value = at(s.value, v[0]);
        if (is_gated) memory = memory * expand_dims(exp(at(s.decay, v[0])), -1);
        if (is_delta) {
          value = at(s.beta, v[0]) * (value - einsum("bhdm,bhd->bhm", {memory, key}));
        }
        memory = memory + expand_dims(key, -1) * expand_dims(value, -2);
        const Tensor read =
            einsum("bhd,bhdm->bhm", {at(s.query, v[0]), shared_heads(memory, q_heads)});
        const Array written = outputs.with(v[2]).write(as(v[0], DType::int32),
                                                       read * Tensor(static_cast<float>(scale)));
        return std::vector<Tensor>{v[0] + one(), memory, written.tensor()};
      },
      {zero(), state, outputs.tensor()}, {.shapes = {Shape{}, state.shape(), Shape::unknown()}});
  const Tensor all = outputs.with(end[2]).stack();  // [length, batch, heads, size]
  const Tensor sizes[] = {slice(shape_of(query), vector_of({0}), vector_of({2})), vector_of({-1})};
  const Tensor y = reshape(transposed(all, {1, 0, 2, 3}), concat(sizes, 0));
  return {as(y, query.dtype()), as(end[1], c.has(3) ? c.in(3).dtype() : query.dtype())};
}

Tensor rotary_embedding(const Call& c) {
  const Tensor& given = c.in(0);
  const bool is_flat = rank_of(given) == 3;
  // [batch, length, heads, size]
  const Tensor x = is_flat ? transposed(split_heads(given, c.integer("num_heads")), {0, 2, 1, 3})
                           : transposed(given, {0, 2, 1, 3});
  int64_t turned = c.integer("rotary_embedding_dim", 0);
  const int64_t size = known_dim(x, 3);
  if (turned == 0) turned = size;
  const auto cached = [&](size_t input) {
    const Tensor all = c.has(3) ? gather(c.in(input), c.in(3), std::nullopt, 0) : c.in(input);
    return expand_dims(all, 2);
  };
  const Tensor cosine = cached(1), sine = cached(2);
  const Tensor part = sliced(x, 3, 0, turned);
  const bool in_pairs = c.integer("interleaved", 0) != 0;
  Tensor first, second;
  if (in_pairs) {
    const Tensor sizes[] = {slice(shape_of(x), vector_of({0}), vector_of({3})),
                            vector_of({turned / 2, 2})};
    const Tensor pairs = reshape(part, concat(sizes, 0));
    first = picked(pairs, 4, 0);
    second = picked(pairs, 4, 1);
  } else {
    first = sliced(part, 3, 0, turned / 2);
    second = sliced(part, 3, turned / 2, turned);
  }
  const Tensor results[] = {cosine * first - sine * second, sine * first + cosine * second};
  Tensor out = in_pairs ? merged(stack(results, -1), 3, 5) : concat(results, 3);
  if (turned < size) {
    const Tensor parts[] = {out, sliced(x, 3, turned, size)};
    out = concat(parts, 3);
  }
  return is_flat ? merged(out, 2, 4) : transposed(out, {0, 2, 1, 3});
}

constexpr Entry kEntries[] = {
    {"Attention", attention_node},
    {"FlexAttention", flex_attention, "ai.onnx.preview"},
    {"LinearAttention", linear_attention},
    {"RotaryEmbedding", rotary_embedding},
};

}  // namespace

std::span<const Entry> attention_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
