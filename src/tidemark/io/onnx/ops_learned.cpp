// ai.onnx.ml: what classical learning needs.
#include <algorithm>
#include <cmath>

#include "tidemark/io/onnx/build.h"
#include "tidemark/io/onnx/interpreter.h"

namespace tidemark::io::onnx {

namespace {

constexpr std::string_view kDomain = "ai.onnx.ml";

Tensor reals(const Attribute& a) {
  return Tensor::of<float>(a.reals, Shape{static_cast<int64_t>(a.reals.size())});
}

Tensor array_feature_extractor(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor out =
      gather(x, reshaped(as(c.in(1), DType::int64), {-1}), std::nullopt, rank_of(x) - 1);
  return rank_of(x) == 1 ? expand_dims(out, 0) : out;
}

Tensor binarizer(const Call& c) {
  const Tensor& x = c.in(0);
  return as(greater(x, number(c.real("threshold", 0), x)), x.dtype());
}

Tensor scaler(const Call& c) {
  Tensor x = as(c.in(0), DType::float32);
  if (const Attribute* offset = c.attr("offset")) x = x - reals(*offset);
  if (const Attribute* scale = c.attr("scale")) x = x * reals(*scale);
  return x;
}

Tensor normalizer(const Call& c) {
  const Tensor x = as(c.in(0), DType::float32);
  const std::string norm = c.text("norm", "MAX");
  const Ints last{-1};
  if (norm == "MAX") return x / max(x, last, true);
  const Tensor length = norm == "L1" ? sum(abs(x), last, true) : sqrt(sum(square(x), last, true));
  return divide_no_nan(x, length);
}

Tensor imputer(const Call& c) {
  const Tensor& x = c.in(0);
  if (is_integer(x.dtype())) {
    const Ints values = c.integers("imputed_value_int64s", {});
    return select(equal(x, Tensor(c.integer("replaced_value_int64", 0))), vector_of(values), x);
  }
  const Attribute* values = c.attr("imputed_value_floats");
  if (!values) c.fail("needs imputed values");
  const float replaced = static_cast<float>(c.real("replaced_value_float", 0));
  const Tensor is_missing =
      replaced != replaced ? is_nan(x) : equal(x, number(static_cast<double>(replaced), x));
  return select(is_missing, as(reals(*values), x.dtype()), x);
}

Tensor post_transformed(const Call& c, const Tensor& x) {
  const std::string how = c.text("post_transform", "NONE");
  if (how == "LOGISTIC") return sigmoid(x);
  if (how == "SOFTMAX") return softmax(x, -1);
  if (how != "NONE") fail<UnimplementedError>("the post_transform ", how, " is not read");
  return x;
}

Tensor linear_regressor(const Call& c) {
  const Attribute *weights = c.attr("coefficients"), *bias = c.attr("intercepts");
  if (!weights) c.fail("needs coefficients");
  const int64_t targets = c.integer("targets", 1);
  const Tensor x = as(c.in(0), DType::float32);
  Tensor y = matmul(x, reshaped(reals(*weights), {targets, -1}), false, true);
  if (bias) y = y + reals(*bias);
  return post_transformed(c, y);
}

/// Keys or values of a LabelEncoder: as a tensor, or as a list of one of three types.
Value labels(const Call& c, const std::string& which) {
  if (const Attribute* a = c.attr(which + "_tensor"); a && a->tensor) {
    return c.interpreter.file().tensor(*a->tensor);
  }
  if (const Attribute* a = c.attr(which + "_strings")) {
    return Tensor::of_strings(a->texts, Shape{static_cast<int64_t>(a->texts.size())});
  }
  if (const Attribute* a = c.attr(which + "_int64s")) return vector_of(a->integers);
  if (const Attribute* a = c.attr(which + "_floats")) return reals(*a);
  c.fail("needs ", which);
}

Tensor label_default(const Call& c, DType dtype) {
  if (const Attribute* a = c.attr("default_tensor"); a && a->tensor) {
    return reshaped(c.interpreter.file().tensor(*a->tensor).tensor, std::span<const int64_t>());
  }
  if (dtype == DType::string) {
    const std::string text = c.text("default_string", "_Unused");
    const std::string_view view = text;
    return Tensor::of_strings(std::span(&view, 1), Shape{});
  }
  if (is_integer(dtype)) return as(Tensor(c.integer("default_int64", -1)), dtype);
  return number(c.real("default_float", -0.0), dtype);
}

Tensor label_encoder(const Call& c) {
  const Tensor& x = c.in(0);
  const Tensor keys = labels(c, "keys").tensor, values = labels(c, "values").tensor;
  const int rank = rank_of(x);
  Tensor matches = equal(expand_dims(x, rank), keys);
  if (is_floating(x.dtype())) {
    matches = logical_or(matches, logical_and(is_nan(expand_dims(x, rank)), is_nan(keys)));
  }
  const Tensor place = argmax(as(matches, DType::int32), rank);
  const Tensor found = gather(values, place, std::nullopt, 0);
  return select(any(matches, Ints{rank}), found,
                broadcast_to(label_default(c, values.dtype()), shape_of(found)));
}

/// A forest as flat tables: each round every sample of every tree goes one node down.
struct Forest {
  Tensor feature, split, mode, yes, no, roots;  // leaves stand behind the nodes, and stay
  Tensor leaf_target, leaf_weight;
  Tensor members;  // [nodes, most]: what a node tests membership of, filled up with NaN; or empty
  int64_t nodes = 0, depth = 0;
};

enum class Test : int64_t { leq = 0, lt = 1, gte = 2, gt = 3, eq = 4, neq = 5, member = 6 };

int64_t depth_of(const Call& c, const Ints& yes, const Ints& no, const Ints& roots, int64_t nodes) {
  // Breadth first; a node met too deep is met in a circle.
  std::vector<int64_t> level(roots);
  int64_t depth = 0;
  while (!level.empty()) {
    std::vector<int64_t> next;
    for (const int64_t at : level) {
      if (at >= nodes) continue;
      next.push_back(yes[static_cast<size_t>(at)]);
      next.push_back(no[static_cast<size_t>(at)]);
    }
    std::sort(next.begin(), next.end());
    next.erase(std::unique(next.begin(), next.end()), next.end());
    if (!next.empty() && ++depth > nodes) c.fail("its trees go round in a circle");
    level = std::move(next);
  }
  return depth;
}

Tensor answers(const Tensor& x, const Tensor& split, const Tensor& mode) {
  const auto is = [&](Test test) { return equal(mode, Tensor(static_cast<int64_t>(test))); };
  Tensor out = not_equal(x, split);
  out = select(is(Test::leq), less_equal(x, split), out);
  out = select(is(Test::lt), less(x, split), out);
  out = select(is(Test::gte), greater_equal(x, split), out);
  out = select(is(Test::gt), greater(x, split), out);
  return select(is(Test::eq), equal(x, split), out);
}

/// Sets stand one behind the other, each ended by NaN, in the order of the nodes that test them.
Tensor members_of(const Call& c, const Ints& modes) {
  const Attribute* given = c.attr("membership_values");
  if (!given || !given->tensor) return {};
  const Tensor flat = as(c.interpreter.file().tensor(*given->tensor).tensor, DType::float64);
  std::vector<std::vector<double>> sets(1);
  for (const double value : flat.values<double>()) {
    if (value == value) {
      sets.back().push_back(value);
    } else {
      sets.emplace_back();
    }
  }
  size_t most = 1, next = 0;
  for (const std::vector<double>& set : sets) most = std::max(most, set.size());
  std::vector<double> table(modes.size() * most, std::nan(""));
  for (size_t i = 0; i < modes.size(); ++i) {
    if (modes[i] != static_cast<int64_t>(Test::member) || next >= sets.size()) continue;
    std::copy(sets[next].begin(), sets[next].end(), table.begin() + static_cast<int64_t>(i * most));
    ++next;
  }
  return Tensor::of<double>(table,
                            Shape{static_cast<int64_t>(modes.size()), static_cast<int64_t>(most)});
}

Forest forest_of(const Call& c) {
  const auto tensor = [&](std::string_view name) {
    const Attribute* a = c.attr(name);
    if (!a || !a->tensor) c.fail("needs ", name);
    return c.interpreter.file().tensor(*a->tensor).tensor;
  };
  Ints yes = c.integers("nodes_truenodeids", {}), no = c.integers("nodes_falsenodeids", {});
  const Ints yes_leaf = c.integers("nodes_trueleafs", {}),
             no_leaf = c.integers("nodes_falseleafs", {});
  const Ints feature = c.integers("nodes_featureids", {}), roots = c.integers("tree_roots", {});
  const Ints leaf_target = c.integers("leaf_targetids", {});
  const auto nodes = static_cast<int64_t>(feature.size()),
             leaves = static_cast<int64_t>(leaf_target.size());
  const Tensor splits = tensor("nodes_splits"), modes = as(tensor("nodes_modes"), DType::int64);
  if (yes.size() != feature.size() || no.size() != feature.size() ||
      yes_leaf.size() != feature.size() || no_leaf.size() != feature.size() ||
      splits.num_elements() != nodes || modes.num_elements() != nodes) {
    c.fail("its tables have different lengths");
  }
  for (size_t i = 0; i < feature.size(); ++i) {
    if (yes_leaf[i]) yes[i] += nodes;
    if (no_leaf[i]) no[i] += nodes;
    if (yes[i] < 0 || no[i] < 0 || yes[i] >= nodes + leaves || no[i] >= nodes + leaves) {
      c.fail("a node leads nowhere");
    }
  }
  Forest f{vector_of(feature),
           splits,
           modes,
           vector_of(yes),
           vector_of(no),
           vector_of(roots),
           vector_of(leaf_target),
           tensor("leaf_weights"),
           members_of(c, modes.to_ints()),
           nodes,
           0};
  for (const int64_t root : roots) {
    if (root < 0 || root >= nodes) c.fail("a tree has no root");
  }
  f.depth = depth_of(c, yes, no, roots, nodes);
  return f;
}

Tensor tree_ensemble(const Call& c) {
  const Tensor& x = c.in(0);
  const Forest f = forest_of(c);
  const Tensor last(std::max<int64_t>(f.nodes - 1, 0)), count(f.nodes);
  const Tensor sizes[] = {expand_dims(dim_of(x, 0), 0), expand_dims(dim_of(f.roots, 0), 0)};
  Tensor at = broadcast_to(f.roots, concat(sizes, 0));  // [samples, trees]
  for (int64_t i = 0; i < f.depth; ++i) {
    const Tensor node = minimum(at, last);
    const auto of = [&](const Tensor& table) { return gather(table, node, std::nullopt, 0); };
    const Tensor seen = gather(x, of(f.feature), std::nullopt, 1, 1);
    Tensor is_yes = answers(seen, as(of(f.split), x.dtype()), of(f.mode));
    if (f.members) {
      const Tensor is_member =
          any(equal(expand_dims(as(seen, DType::float64), -1), of(f.members)), Ints{-1});
      const Tensor member(static_cast<int64_t>(Test::member));
      is_yes = select(equal(of(f.mode), member), is_member, is_yes);
    }
    const Tensor next = select(is_yes, of(f.yes), of(f.no));
    at = select(less(at, count), next, at);
  }
  const Tensor leaf = at - count;
  const Tensor weight = as(gather(f.leaf_weight, leaf, std::nullopt, 0), x.dtype());
  const Tensor target = gather(f.leaf_target, leaf, std::nullopt, 0);
  const int64_t targets = c.integer("n_targets", 1), how = c.integer("aggregate_function", 1);
  const Tensor which =
      one_hot(target, Tensor(static_cast<int32_t>(targets)), Tensor(true), Tensor(false), -1);
  const Tensor wide = expand_dims(weight, -1);  // [samples, trees, 1]
  Tensor y;
  if (how <= 1) {
    y = sum(select(which, wide, number(0, x)), Ints{1});
    if (how == 0) y = y / as(dim_of(f.roots, 0), x.dtype());
  } else {
    const double none = how == 2 ? 3.0e38 : -3.0e38;
    const Tensor some = select(which, wide, number(none, x));
    y = how == 2 ? min(some, Ints{1}) : max(some, Ints{1});
  }
  static constexpr std::string_view kPost[] = {"NONE", "SOFTMAX", "LOGISTIC"};
  const int64_t post = c.integer("post_transform", 0);
  if (post < 0 || post > 2) fail<UnimplementedError>("post_transform ", post, " is not read");
  return post == 0 ? y : kPost[post] == "SOFTMAX" ? softmax(y, -1) : sigmoid(y);
}

constexpr Entry kEntries[] = {
    {"ArrayFeatureExtractor", array_feature_extractor, kDomain},
    {"Binarizer", binarizer, kDomain},
    {"Scaler", scaler, kDomain},
    {"Normalizer", normalizer, kDomain},
    {"Imputer", imputer, kDomain},
    {"LinearRegressor", linear_regressor, kDomain},
    {"LabelEncoder", label_encoder, kDomain},
    {"TreeEnsemble", tree_ensemble, kDomain},
};

}  // namespace

std::span<const Entry> learned_entries() { return kEntries; }

}  // namespace tidemark::io::onnx
