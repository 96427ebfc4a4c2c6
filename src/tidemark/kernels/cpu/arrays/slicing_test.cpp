#include "tidemark/kernels/cpu/arrays/movement_testing.h"

namespace tidemark {
namespace {

using namespace testing;

/// One entry of an index expression, as Python writes it.
struct Entry {
  enum Kind { index, range, ellipsis, new_axis } kind = range;
  std::optional<int64_t> begin, end, stride;
};

/// Python's slice.indices(): the positions it takes of a dimension.
Ints taken(const Entry& e, int64_t size) {
  const int64_t stride = e.stride.value_or(1);
  Ints out;
  if (stride > 0) {
    int64_t i = e.begin.value_or(0), end = e.end.value_or(size);
    if (i < 0) i = std::max<int64_t>(i + size, 0);
    if (end < 0) end += size;
    for (; i < std::min(end, size); i += stride) out.push_back(i);
  } else {
    int64_t i = e.begin.value_or(size - 1), end = e.end.value_or(-size - 1);
    if (i < 0) i += size;
    if (end < 0) end += size;
    for (i = std::min(i, size - 1); i > std::max<int64_t>(end, -1) && i >= 0; i += stride) {
      out.push_back(i);
    }
  }
  return out;
}

struct Call {
  Ints begin, end, strides;
  int64_t begin_mask = 0, end_mask = 0, ellipsis_mask = 0, new_axis_mask = 0, shrink_mask = 0;
};

Call to_call(const std::vector<Entry>& entries) {
  Call c;
  for (size_t i = 0; i < entries.size(); ++i) {
    const Entry& e = entries[i];
    const int64_t bit = int64_t{1} << i;
    if (e.kind == Entry::index) c.shrink_mask |= bit;
    if (e.kind == Entry::ellipsis) c.ellipsis_mask |= bit;
    if (e.kind == Entry::new_axis) c.new_axis_mask |= bit;
    if (e.kind == Entry::range && !e.begin) c.begin_mask |= bit;
    if (e.kind == Entry::range && !e.end) c.end_mask |= bit;
    c.begin.push_back(e.begin.value_or(0));
    c.end.push_back(e.end.value_or(0));
    c.strides.push_back(e.stride.value_or(1));
  }
  return c;
}

Tensor strided_slice(const Tensor& x, const Call& c) {
  return call("strided_slice", {x, vec(c.begin), vec(c.end), vec(c.strides)},
              {{"begin_mask", c.begin_mask},
               {"end_mask", c.end_mask},
               {"ellipsis_mask", c.ellipsis_mask},
               {"new_axis_mask", c.new_axis_mask},
               {"shrink_axis_mask", c.shrink_mask}});
}

/// The model: positions taken along each input dimension, and which output dimensions they make.
struct Model {
  std::vector<Ints> positions;        // per input dimension
  std::vector<int> output_dimension;  // per input dimension; -1: indexed away
  Shape out;
};

Model model_of(const Shape& in, const std::vector<Entry>& entries) {
  Model m;
  size_t used = 0;
  bool has_ellipsis = false;
  for (const Entry& e : entries) {
    used += e.kind == Entry::index || e.kind == Entry::range;
    has_ellipsis |= e.kind == Entry::ellipsis;
  }
  std::vector<Entry> all = entries;
  if (!has_ellipsis) all.push_back({Entry::ellipsis, {}, {}, {}});
  auto take = [&](const Entry& e) {
    const int64_t size = in[static_cast<int>(m.positions.size())];
    if (e.kind == Entry::index) {
      m.positions.push_back({*e.begin < 0 ? *e.begin + size : *e.begin});
      m.output_dimension.push_back(-1);
      return;
    }
    m.positions.push_back(taken(e, size));
    m.output_dimension.push_back(m.out.rank());
    m.out.push_back(static_cast<int64_t>(m.positions.back().size()));
  };
  for (const Entry& e : all) {
    if (e.kind == Entry::new_axis) {
      m.out.push_back(1);
    } else if (e.kind == Entry::ellipsis) {
      for (size_t i = used; i < static_cast<size_t>(in.rank()); ++i) take({});
    } else {
      take(e);
    }
  }
  return m;
}

std::vector<Entry> random_entries(std::mt19937& random, const Shape& in) {
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  std::vector<Entry> entries;
  const auto used = static_cast<int>(pick(0, in.rank()));
  const int64_t ellipsis_at = pick(0, 2 * used + 1);
  // Entries after an ellipsis count from the end, so indices must fit the dimension they reach.
  for (int i = 0; i < used; ++i) {
    if (i == ellipsis_at) entries.push_back({Entry::ellipsis, {}, {}, {}});
    if (pick(0, 5) == 0) entries.push_back({Entry::new_axis, {}, {}, {}});
    const int dim = ellipsis_at <= i ? in.rank() - used + i : i;
    const int64_t size = in[dim];
    Entry e;
    if (size > 0 && pick(0, 3) == 0) {
      e.kind = Entry::index;
      e.begin = pick(-size, size - 1);
    } else {
      if (pick(0, 2)) e.begin = pick(-size - 2, size + 2);
      if (pick(0, 2)) e.end = pick(-size - 2, size + 2);
      if (pick(0, 1)) e.stride = pick(0, 1) ? pick(1, 4) : -pick(1, 4);
    }
    entries.push_back(e);
  }
  return entries;
}

TEST(StridedSlice, AgreesWithPythonSlices) {
  std::mt19937 random(7);
  const DType dtypes[] = {DType::int8, DType::float16, DType::float32, DType::int64,
                          DType::complex128};
  for (int round = 0; round < 4000; ++round) {
    Shape in;
    const auto rank = static_cast<int>(random() % 5);
    for (int i = 0; i < rank; ++i) in.push_back(static_cast<int64_t>(random() % 6));
    const Tensor x = numbered(dtypes[random() % 5], in);
    const std::vector<Entry> entries = random_entries(random, in);
    const Model m = model_of(in, entries);
    const Tensor y = strided_slice(x, to_call(entries));
    expect_moved(y, x, m.out, [&](const Ints& at) {
      Ints from;
      for (size_t d = 0; d < m.positions.size(); ++d) {
        const int o = m.output_dimension[d];
        from.push_back(m.positions[d][o < 0 ? 0 : static_cast<size_t>(at[static_cast<size_t>(o)])]);
      }
      return from;
    });
    if (HasFatalFailure()) FAIL() << "round " << round << " on " << in.to_string();
  }
}

TEST(StridedSlice, IsAViewWhereElementsLieTogether) {
  const Tensor x = iota<float>({4, 5, 6});
  const Tensor row = strided_slice(x, to_call({{Entry::index, 2, {}, {}}}));
  EXPECT_TRUE(shares_elements(row, x));
  EXPECT_EQ(row.shape(), (Shape{5, 6}));
  EXPECT_EQ(row.data<float>()[0], 60.f);
  const Tensor rows =
      strided_slice(x, to_call({{Entry::index, 1, {}, {}}, {Entry::range, 2, 4, {}}}));
  EXPECT_TRUE(shares_elements(rows, x));
  EXPECT_EQ(rows.data<float>()[0], 42.f);
  const Tensor column = strided_slice(x, to_call({{}, {Entry::index, 0, {}, {}}}));
  EXPECT_FALSE(shares_elements(column, x));
}

TEST(StridedSlice, AnEmptySliceKeepsNothingAlive) {
  const Tensor x = iota<float>({4, 5});
  const Tensor none = strided_slice(x, to_call({{Entry::range, 3, 3, {}}}));
  EXPECT_EQ(none.shape(), (Shape{0, 5}));
  EXPECT_FALSE(shares_elements(none, x));
}

TEST(StridedSlice, TakesStridesOfAnySize) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Tensor x = iota<int32_t>({5});
  const Tensor y = strided_slice(x, to_call({{Entry::range, 1, kMost, kMost}}));
  EXPECT_EQ(to_vector<int32_t>(y), std::vector<int32_t>{1});
  const Tensor z = strided_slice(x, to_call({{Entry::range, kMost, -kMost - 1, -kMost - 1}}));
  EXPECT_EQ(to_vector<int32_t>(z), std::vector<int32_t>{4});
}

TEST(StridedSlice, RefusesBadSpecs) {
  const Tensor x = iota<int32_t>({3, 4});
  expect_invalid(
      [&] {
        strided_slice(x, to_call({{Entry::index, 3, {}, {}}}));
      },
      "slice index 3 of dimension 0 out of bounds");
  expect_invalid(
      [&] {
        strided_slice(x, to_call({{Entry::index, -4, {}, {}}}));
      },
      "slice index -4 of dimension 0 out of bounds");
  expect_invalid(
      [&] {
        strided_slice(x, to_call({{}, {}, {}}));
      },
      "Index out of range using input dim 2; input has only 2 dims");
  expect_invalid(
      [&] {
        strided_slice(x, to_call({{Entry::range, 0, 1, 0}}));
      },
      "strides[0] must be non-zero");
  Call two = to_call({{}, {}});
  two.ellipsis_mask = 3;
  expect_invalid([&] { strided_slice(x, two); }, "Multiple ellipses");
  two.ellipsis_mask = std::numeric_limits<int64_t>::min();  // beyond the entries: means nothing
  EXPECT_EQ(strided_slice(x, two).shape(), (Shape{3, 4}));
  Call uneven = to_call({{}});
  uneven.end.push_back(1);
  expect_invalid([&] { strided_slice(x, uneven); }, "1D equal size tensors");
}

TEST(StridedSlice, CopiesTheCharactersOfStrings) {
  Tensor y;
  {
    const Tensor x = strings({"a", "bcd", "", "a long string that fits nowhere", "e", "f"}, {2, 3});
    y = strided_slice(x, to_call({{}, {Entry::range, {}, {}, -2}}));
  }
  EXPECT_EQ(to_strings(y),
            (std::vector<std::string>{"", "a", "f", "a long string that fits nowhere"}));
}

TEST(StridedSliceGrad, PutsTheGradientBack) {
  const Tensor dy = iota<float>({2, 2}, 1.f);
  const Tensor dx =
      call("strided_slice_grad", {vec({3, 5}), vec({2, 4}), vec({0, 0}), vec({-2, -3}), dy},
           {{"end_mask", 3}});
  EXPECT_EQ(to_vector<float>(dx),
            (std::vector<float>{0, 4, 0, 0, 3, 0, 0, 0, 0, 0, 0, 2, 0, 0, 1}));
  expect_invalid(
      [&] {
        call("strided_slice_grad", {vec({3, 5}), vec({0, 0}), vec({1, 1}), vec({1, 1}), dy});
      },
      "the slice has shape [1,1], but 'dy' has shape [2,2]");
}

TEST(TensorStridedSliceUpdate, LeavesTheInputAlone) {
  const Tensor x = iota<int32_t>({4});
  const Tensor y = call("tensor_strided_slice_update",
                        {x, vec({1}), vec({3}), vec({1}), Tensor::of<int32_t>({8, 9})});
  EXPECT_EQ(to_vector<int32_t>(y), (std::vector<int32_t>{0, 8, 9, 3}));
  EXPECT_EQ(to_vector<int32_t>(x), (std::vector<int32_t>{0, 1, 2, 3}));
}

TEST(Slice, TakesABox) {
  const Tensor x = numbered(DType::int16, {4, 5, 6});
  const Tensor y = call("slice", {x, vec({1, 2, 3}), vec({2, -1, 2})});
  expect_moved(y, x, {2, 3, 2}, [](const Ints& at) {
    return Ints{at[0] + 1, at[1] + 2, at[2] + 3};
  });
  EXPECT_TRUE(shares_elements(call("slice", {x, vec({1, 0, 0}), vec({2, 5, 6})}), x));
  EXPECT_EQ(call("slice", {x, vec({4, 0, 0}), vec({0, 5, 6})}).shape(), (Shape{0, 5, 6}));
}

TEST(Slice, RefusesWhatLiesOutside) {
  const Tensor x = iota<float>({3});
  expect_invalid(
      [&] {
        call("slice", {x, vec({1}), vec({3})});
      },
      "Expected size[0] in [0, 2], but got 3");
  expect_invalid(
      [&] {
        call("slice", {x, vec({-1}), vec({1})});
      },
      "Expected begin[0] in [0, 3], but got -1");
  expect_invalid([&] { call("slice", {x, vec({0, 0}), vec({1, 1})}); }, "of size 1");
  expect_invalid([&] { call("slice", {x, vec({0}), vec({-2})}); }, "but got -2");
}

}  // namespace
}  // namespace tidemark
