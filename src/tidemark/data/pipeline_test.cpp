#include <gtest/gtest.h>
#include <tidemark/call.h>
#include <tidemark/create.h>
#include <tidemark/data.h>
#include <tidemark/function.h>
#include <tidemark/memory.h>
#include <tidemark/ops.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tidemark/data/dataset.h"
#include "tidemark/data/file.h"

namespace tidemark::data {
namespace {

std::vector<int64_t> values(const Pipeline& pipeline) {
  std::vector<int64_t> out;
  for (const Element& one : pipeline) out.push_back(one.at(0).item<int64_t>());
  return out;
}
using Numbers = std::vector<int64_t>;

/// A folder that goes with the test.
struct Folder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("pipeline_test_" + std::to_string(getpid()));
  Folder() { std::filesystem::create_directories(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::ofstream(path / name) << text;
    return path / name;
  }
};

TEST(Pipelines, ARangeForGivesBatches) {
  const Tensor x = arange(10).reshaped({5, 2}), y = arange(5);
  std::vector<Shape> shapes;
  int32_t sum_of_labels = 0;
  for (auto batch : from_tensors({x, y}).shuffle(5).batch(2).repeat(3)) {
    shapes.push_back(batch[0].shape());
    sum_of_labels += sum(batch[1]).item<int32_t>();
  }
  ASSERT_EQ(shapes.size(), 9u);
  EXPECT_EQ(shapes[0], (Shape{2, 2}));
  EXPECT_EQ(shapes[2], (Shape{1, 2}));
  EXPECT_EQ(sum_of_labels, 30);
}

TEST(Pipelines, ALambdaIsAStep) {
  const auto numbers = from_range(4);
  EXPECT_EQ(values(numbers.map([](const Tensor& x) { return x * int64_t{2}; })),
            (Numbers{0, 2, 4, 6}));
  EXPECT_EQ(
      values(numbers.map([](const Element& all) { return all[0] + int64_t{1}; }, {.parallel = 2})),
      (Numbers{1, 2, 3, 4}));
  const auto pairs = numbers.map([](const Tensor& x) { return std::pair(x, x * x); });
  EXPECT_EQ(values(pairs.map([](const Tensor& x, const Tensor& y) { return y - x; })),
            (Numbers{0, 0, 2, 6}));
  EXPECT_EQ(values(pairs.filter(
                [](const Tensor&, const Tensor& y) { return greater(y, Tensor(int64_t{1})); })),
            (Numbers{2, 3}));
  EXPECT_EQ(values(numbers.map(function([](Tensor x) { return x - int64_t{1}; }))),
            (Numbers{-1, 0, 1, 2}));
}

TEST(Pipelines, StepsCompose) {
  EXPECT_EQ(values(from_range(10).skip(2).take(6).shard(2, 1)), (Numbers{3, 5, 7}));
  EXPECT_EQ(values(from_range(2).concatenate(from_range(3))), (Numbers{0, 1, 0, 1, 2}));
  EXPECT_EQ(values(from_range(4).batch(2).unbatch().prefetch(2).cache()), (Numbers{0, 1, 2, 3}));
  EXPECT_EQ(from_range(10).batch(4, {.drop_remainder = true}).cardinality(), 2);
  EXPECT_EQ(from_range(3).repeat().cardinality(), -1);
  const auto inner = [](const Tensor& x) {
    return from_range(2).map([x](const Tensor& y) { return x * int64_t{10} + y; });
  };
  EXPECT_EQ(values(from_range(2).interleave(inner)), (Numbers{0, 10, 1, 11}));
  for (const Element& both : zip({from_range(3), from_range(2)})) EXPECT_EQ(both.size(), 2u);
}

TEST(Pipelines, ASeedGivesTheSameOrder) {
  // tf.data.Dataset.range(10).shuffle(5, seed=3).
  EXPECT_EQ(values(from_range(10).shuffle(5, {.seed = 3})),
            (Numbers{4, 1, 0, 2, 7, 8, 6, 3, 5, 9}));
}

TEST(Pipelines, RowsArePadded) {
  const auto ragged = from_range(3).map(
      [](const Tensor& n) { return range(Tensor(int64_t{0}), n + int64_t{1}, int64_t{1}); });
  for (const Element& all : ragged.padded_batch(3, {{Shape{-1}, Tensor(int64_t{-7})}})) {
    EXPECT_EQ(all[0].to_ints(), (Ints{0, -7, -7, 0, 1, -7, 0, 1, 2}));
  }
}

TEST(Pipelines, FilesAreRead) {
  const Folder folder;
  const std::string csv = folder.write("a.csv", "name,x,n\n\"b, c\",1.5,3\nd,-2,4\n");
  std::vector<std::string> names;
  float total = 0;
  for (const Element& row : from_csv({csv}, {DType::string, DType::float32, DType::int32})) {
    names.emplace_back(row[0].string_at(0));
    total += row[1].item<float>() * float(row[2].item<int32_t>());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"b, c", "d"}));
  EXPECT_EQ(total, 1.5f * 3 - 8);
  int lines = 0;
  for (const Element& one : from_text_lines({csv})) lines += one[0].string_at(0).size() > 1;
  EXPECT_EQ(lines, 3);
  for (const Element& one : from_files((folder.path / "*.csv").string()))
    EXPECT_EQ(one[0].string_at(0), csv);
  EXPECT_THROW(from_files((folder.path / "*.png").string()), NotFoundError);
}

TEST(Pipelines, TFRecordsAreRead) {
  const Folder folder;
  const std::string path = folder.path / "a.tfrecord";
  RecordWriter writer(path);
  writer.add("one");
  writer.add("three");
  writer.finish();
  std::vector<std::string> found;
  for (const Element& one : from_tfrecords({path})) found.emplace_back(one[0].string_at(0));
  EXPECT_EQ(found, (std::vector<std::string>{"one", "three"}));
}

TEST(Pipelines, APassIsSavedAndRestored) {
  const auto counting = from_generator([] {
    return [i = int64_t{0}]() mutable -> std::optional<Element> {
      if (i == 20) return std::nullopt;
      return Element{Tensor(i++)};
    };
  });
  const Pipeline pipeline = counting.shuffle(5, {.seed = 1}).batch(3);
  Pass pass = pipeline.pass();
  Element one;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(pass.next(one));
  const std::string saved = pass.save();
  std::vector<Ints> rest, again;
  while (pass.next(one)) rest.push_back(one[0].to_ints());
  Pass other = pipeline.pass();
  other.restore(saved);
  while (other.next(one)) again.push_back(one[0].to_ints());
  EXPECT_EQ(rest.size(), 4u);
  EXPECT_EQ(rest, again);
  EXPECT_ANY_THROW(other.restore("damaged"));
}

TEST(Pipelines, BadInputIsATypedError) {
  EXPECT_THROW(from_range(3).batch(0), InvalidArgumentError);
  EXPECT_THROW(from_range(3).shard(2, 2), InvalidArgumentError);
  EXPECT_THROW(values(from_range(3).map([](const Tensor& a, const Tensor& b) { return a + b; })),
               InvalidArgumentError);
  EXPECT_THROW(from_csv({}, {DType::int32}), InvalidArgumentError);
  EXPECT_ANY_THROW(values(from_text_lines({"/nowhere/at/all"})));
}

/// The most bytes that buffers of pipelines held at an element.
int64_t most_held(const Pipeline& pipeline) {
  int64_t most = 0;
  for (const Element& one : pipeline) {
    (void)one;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));  // what is made ahead comes
    for (const BufferUse& use : buffers_in_use()) most = std::max(most, use.bytes);
  }
  return most;
}

TEST(Pipelines, WhatTheyHoldIsBoundedInBytes) {
  const auto made =
      from_range(40).map([](const Tensor& i) { return zeros({1024}) + cast(i, DType::float32); });
  constexpr int64_t kBudget = 20 * 1024;  // of elements of 4 KiB
  EXPECT_GT(most_held(made.shuffle(30)), kBudget);
  EXPECT_LE(most_held(made.shuffle(30, {.memory_budget = kBudget})), kBudget);
  EXPECT_GT(most_held(made.prefetch(30)), kBudget);
  EXPECT_LE(most_held(made.prefetch(30, {.memory_budget = kBudget})), kBudget);
  std::vector<float> firsts;
  for (const Element& one : made.shuffle(30, {.seed = 3, .memory_budget = kBudget})) {
    firsts.push_back(one[0].data<float>()[0]);
  }
  std::ranges::sort(firsts);
  ASSERT_EQ(firsts.size(), 40u);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(firsts[i], static_cast<float>(i));
  // An element that is larger than the budget goes through alone.
  EXPECT_EQ(values(from_range(3)
                       .map([](const Tensor& i) { return i * 2; })
                       .prefetch(2, {.memory_budget = 1})),
            (Numbers{0, 2, 4}));
  EXPECT_THROW(most_held(made.cache({.memory_budget = kBudget})), ResourceExhaustedError);
  EXPECT_EQ(most_held(made.take(2).cache({.memory_budget = kBudget})) > 0, true);
  EXPECT_THROW(made.cache({.memory_budget = -1}), InvalidArgumentError);
}

TEST(Pipelines, WhatAPassKeepsGoesWithIt) {
  const Tensor rows = zeros({64, 1024});
  const auto once = [&] {
    const auto pipeline = from_tensors({rows})
                              .map([](const Tensor& x) { return x + 1.f; }, {.parallel = 2})
                              .shuffle(16)
                              .batch(8)
                              .prefetch(2);
    for (const Element& batch : pipeline.take(3)) ASSERT_EQ(batch[0].dim(0), 8);
  };
  once();
  const int64_t before = memory::stats().live;
  for (int i = 0; i < 20; ++i) once();
  EXPECT_EQ(memory::stats().live, before);
}

}  // namespace
}  // namespace tidemark::data
