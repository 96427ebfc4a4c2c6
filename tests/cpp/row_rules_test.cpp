// What is said about ops working row by row, against running them on all rows and on parts.
#include "tidemark/compile/row_rules.h"

#include <set>

#include "gradient_samples.h"

namespace tidemark::compile {

namespace {

Tensor rows_of(const Tensor& t, int64_t begin, int64_t end, int64_t units) {
  Ints from(static_cast<size_t>(t.rank()), 0), sizes(t.shape().begin(), t.shape().end());
  from[0] = t.shape()[0] / units * begin;
  sizes[0] = t.shape()[0] / units * (end - begin);
  const auto vector = [&](const Ints& v) {
    return Tensor::of(std::span<const int64_t>(v), {t.rank()});
  };
  return call("slice", {t, vector(from), vector(sizes)});
}

std::vector<Tensor> run(const OpDef& op, const std::vector<Tensor>& inputs,
                        const std::vector<NamedAttr>& attrs) {
  return call_all(op, inputs, all_attrs(op, attrs));
}

Tensor joined(RowResult how, const Tensor& a, const Tensor& b, double share_a) {
  switch (how) {
    case RowResult::rows: {
      const Tensor both[] = {a, b};
      return call_all("concat", both, {{"axis", 0}})[0];
    }
    case RowResult::sum:
      return a + b;
    case RowResult::mean:
      return a * call("cast", {Tensor(share_a)}, {{"dtype", a.dtype()}}) +
             b * call("cast", {Tensor(1 - share_a)}, {{"dtype", a.dtype()}});
    case RowResult::maximum:
      return call("maximum", {a, b});
    case RowResult::minimum:
      return call("minimum", {a, b});
  }
  return {};
}

void expect_close(const Tensor& found, const Tensor& expected, const std::string& what) {
  ASSERT_EQ(found.shape(), expected.shape()) << what;
  ASSERT_EQ(found.dtype(), expected.dtype()) << what;
  const Tensor a = call("cast", {found}, {{"dtype", DType::float64}});
  const Tensor b = call("cast", {expected}, {{"dtype", DType::float64}});
  for (int64_t i = 0; i < a.num_elements(); ++i) {
    const double x = a.data<double>()[i], y = b.data<double>()[i];
    if (std::isnan(x) && std::isnan(y)) continue;
    ASSERT_NEAR(x, y, 1e-9 * (1 + std::abs(y))) << what << " at " << i;
  }
}

/// Runs the op on the first units of rows and on the others. False: it has no rule for them.
bool agrees(const OpDef& op, const Sample& sample, int64_t units, int64_t cut) {
  const std::vector<Tensor> whole = run(op, sample.inputs, sample.attrs);
  std::vector<Shape> shapes;
  for (const Tensor& t : whole) shapes.push_back(t.shape());
  const std::vector<Attr> attrs = all_attrs(op, sample.attrs);
  const OpCall the_call{op, sample.inputs, attrs};
  const auto rule = row_rule(the_call, shapes, units);
  if (!rule) return false;
  std::vector<Tensor> parts[2];
  for (const int half : {0, 1}) {
    const int64_t begin = half == 0 ? 0 : cut, end = half == 0 ? cut : units;
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < sample.inputs.size(); ++i) {
      const bool is_rows = rule->inputs[i] == RowRole::rows;
      inputs.push_back(is_rows ? rows_of(sample.inputs[i], begin, end, units) : sample.inputs[i]);
    }
    inputs = inputs_of_part(the_call, shapes[0], *rule, std::move(inputs), begin, end, units);
    parts[half] = run(op, inputs, sample.attrs);
  }
  const double share = static_cast<double>(cut) / static_cast<double>(units);
  for (size_t o = 0; o < whole.size(); ++o) {
    const std::string what =
        op.name() + " in " + std::to_string(units) + " units, output " + std::to_string(o);
    expect_close(joined(rule->outputs[o], parts[0][o], parts[1][o], share), whole[o], what);
  }
  return true;
}

std::set<int64_t> units_for(const std::vector<Tensor>& tensors) {
  std::set<int64_t> units;
  for (const Tensor& t : tensors) {
    if (t.rank() == 0) continue;
    for (int64_t d = 2; d <= t.shape()[0]; ++d) {
      if (t.shape()[0] % d == 0) units.insert(d);
    }
  }
  return units;
}

/// How often the op was split.
int check(const OpDef& op, const Sample& sample) {
  if (op.is_stateful()) return 0;
  std::vector<Tensor> all = sample.inputs;
  for (const Tensor& t : run(op, sample.inputs, sample.attrs)) all.push_back(t);
  int splits = 0;
  for (const int64_t units : units_for(all)) {
    for (const int64_t cut : {int64_t{1}, units - 1}) {
      try {
        splits += agrees(op, sample, units, cut);
      } catch (const Error& e) {
        ADD_FAILURE() << op.name() << " in " << units << " units: " << e.what();
      }
    }
  }
  return splits;
}

Tensor truth(const Shape& shape) { return call("greater", {values(shape), Tensor(0.5)}); }
Tensor shape_tensor(std::initializer_list<int64_t> dims) { return Tensor::of(dims); }

/// What the samples of gradients leave out.
const std::multimap<std::string, std::function<Sample()>>& more_samples() {
  static const std::multimap<std::string, std::function<Sample()>> table = {
#include "row_samples.inc"
  };
  return table;
}

}  // namespace

TEST(RowRules, HoldForEveryOpThatHasOne) {
  std::map<std::string, int> splits;
  for_each_gradient_sample(
      [&](const OpDef& op, const Sample& sample) { splits[op.name()] += check(op, sample); });
  for (const auto& [name, sample] : more_samples()) {
    const int found = check(OpRegistry::instance().get(name), sample());
    EXPECT_GT(found, 0) << name << " of more_samples() was not split";
    splits[name] += found;
  }
  for (const std::string_view name : ops_with_row_rules()) {
    EXPECT_GT(splits[std::string(name)], 0) << name << " has a rule that nothing was split by";
  }
}

TEST(RowRules, RefuseWhatNeedsAllRows) {
  const auto refuses = [](const char* name, const Sample& sample) {
    return check(OpRegistry::instance().get(name), sample) == 0;
  };
  EXPECT_TRUE(refuses("softmax", {{values({4, 3})}, {{"axis", 0}}}));
  EXPECT_TRUE(refuses("softmax", {{values({4})}, {}}));
  EXPECT_TRUE(refuses("squeeze", {{values({4, 1, 3})}, {}}));
  EXPECT_TRUE(refuses("cumsum", {{values({4, 3})}, {{"axis", 0}}}));
  EXPECT_TRUE(refuses("cumsum", {{values({4, 3})}, {{"axis", -2}}}));
  EXPECT_TRUE(refuses("transpose", {{values({4, 6})}, {{"perm", Ints{1, 0}}}}));
  EXPECT_TRUE(refuses("reverse", {{values({4, 3})}, {{"axis", Ints{0}}}}));
  EXPECT_TRUE(refuses("variance", {{values({4, 3})}, {{"axis", Ints{0}}}}));
  EXPECT_TRUE(refuses("batch_norm", {{values({4, 2, 2, 3}), values({3}), values({3})}, {}}));
  EXPECT_TRUE(refuses("concat", {{values({4, 3}), values({4, 3})}, {{"axis", 0}}}));
  EXPECT_TRUE(refuses("matmul", {{values({3, 4}), values({5, 3})},
                                 {{"transpose_a", true}, {"transpose_b", true}}}));
  EXPECT_TRUE(refuses("tile", {{values({3, 2}), shape_tensor({2, 2})}, {}}));
}

TEST(RowRules, HalfTypesAreNotAddedUp) {
  const OpDef& op = OpRegistry::instance().get("sum");
  const Tensor x = call("cast", {values({4, 3})}, {{"dtype", DType::float16}});
  EXPECT_EQ(check(op, {{x}, {{"axis", Ints{0}}}}), 0);
  EXPECT_GT(check(op, {{x}, {{"axis", Ints{1}}}}), 0);
}

}  // namespace tidemark::compile
