#include "tidemark/data/dataset.h"

#include <gtest/gtest.h>
#include <tidemark/memory.h>

#include "tidemark/data/held.h"
#include "tidemark/data/nested.h"
#include "tidemark/data/state.h"

namespace tidemark::data {
namespace {

std::vector<int64_t> rest_of(Iterator& it) {
  std::vector<int64_t> out;
  for (Element one; it.next(one); one.clear()) out.push_back(one.at(0).item<int64_t>());
  return out;
}
std::vector<int64_t> values(const DatasetRef& dataset) { return rest_of(*dataset->iterate()); }
DatasetRef numbers(int64_t count) { return range(0, count, 1, DType::int64); }
Element negated(Element&& one) { return {Tensor(-one.at(0).item<int64_t>())}; }

TEST(Datasets, ShuffleAsTensorFlowDoes) {
  // tf.data.Dataset.range(10).shuffle(5, seed=3), two passes.
  const DatasetRef mixed = shuffle(numbers(10), 5, {87654321, 3}, true);
  EXPECT_EQ(values(mixed), (std::vector<int64_t>{4, 1, 0, 2, 7, 8, 6, 3, 5, 9}));
  EXPECT_EQ(values(mixed), (std::vector<int64_t>{3, 4, 2, 6, 5, 9, 0, 8, 1, 7}));
}

TEST(Datasets, BuffersAreListedUntilTheIteratorGoes) {
  const auto kib = [](Element&&) -> Element {
    return {Tensor::uninitialized(DType::uint8, Shape{1024})};
  };
  const DatasetRef mixed = shuffle(map(numbers(1000), kib, 1), 50, {1, 2}, true);
  auto it = mixed->iterate();
  Element one;
  ASSERT_TRUE(it->next(one));
  const auto use = buffers_in_use();
  ASSERT_EQ(use.size(), 1u);
  EXPECT_EQ(use[0].holder, "dataset shuffle buffer");
  EXPECT_EQ(use[0].elements, 49);
  EXPECT_GE(use[0].bytes, 49 * 1024);
  it.reset();
  EXPECT_TRUE(buffers_in_use().empty());
}

TEST(Datasets, RowsOfALargeTensorStayItsOwn) {
  const Tensor rows = Tensor::uninitialized(DType::float32, Shape{100, 100});
  auto it = shuffle(slices({rows}), 10, {1, 2}, true)->iterate();
  Element one;
  ASSERT_TRUE(it->next(one));
  EXPECT_EQ(rows.impl()->buffer->holder, memory::Holder::value);
  EXPECT_EQ(buffers_in_use().at(0).bytes, 0);
}

/// Row i is (i, i + 1), a tensor that others have, too.
DatasetRef pairs(int64_t count) {
  std::vector<int64_t> all;
  for (int64_t i = 0; i < count; ++i) all.insert(all.end(), {i, i + 1});
  return slices({Tensor::of(std::span<const int64_t>(all), {count, 2})});
}
std::vector<std::vector<int64_t>> batches_of(Iterator& it) {
  std::vector<std::vector<int64_t>> out;
  for (Element one; it.next(one); one.clear()) out.push_back(one.at(0).to_ints());
  return out;
}

TEST(Datasets, RowsAreDrawnAsElementsAre) {
  const auto same = [](Element&& e) { return std::move(e); };
  for (const int64_t buffer : {1, 7, 50}) {
    for (const bool drops : {false, true}) {
      const auto of = [&](DatasetRef rows) {
        return batch(shuffle(std::move(rows), buffer, {5, 6}, true), 4, drops)->iterate();
      };
      EXPECT_EQ(batches_of(*of(pairs(23))), batches_of(*of(map(pairs(23), same, 1)))) << buffer;
    }
  }
}

TEST(Datasets, ShuffledRowsGoOnWhereTheyWereSaved) {
  const auto begin = [] { return batch(shuffle(pairs(23), 9, {5, 6}, true), 4, false)->iterate(); };
  auto it = begin(), other = begin();
  Element one;
  ASSERT_TRUE(it->next(one));
  StateWriter state;
  it->save(state);
  StateReader from(state.bytes());
  other->restore(from);
  EXPECT_TRUE(from.is_at_end());
  EXPECT_EQ(batches_of(*other), batches_of(*it));
  for (size_t size = 0; size < state.bytes().size(); ++size) {
    StateReader damaged(std::string_view(state.bytes()).substr(0, size));
    EXPECT_THROW(begin()->restore(damaged), Error) << size;
  }
  auto few = batch(shuffle(pairs(3), 9, {5, 6}, true), 4, false)->iterate();
  StateReader of_more(state.bytes());
  EXPECT_THROW(few->restore(of_more), Error);
}

TEST(Datasets, AShuffledTensorIsHeldOnce) {
  const DatasetRef rows = pairs(20000);
  const int64_t before = memory::stats().live;
  auto it = shuffle(rows, 20000, {1, 2}, true)->iterate();
  Element one;
  ASSERT_TRUE(it->next(one));
  EXPECT_LT(memory::stats().live - before, 4096);
  EXPECT_EQ(buffers_in_use().at(0).elements, 19999);
}

/// Each time anew: a shuffled dataset gives every pass another order.
std::vector<DatasetRef> some_pipelines() {
  const auto below = [](Element&& e) { return numbers(e.at(0).item<int64_t>()); };
  return {
      repeat(shuffle(numbers(7), 4, {5, 6}, true), 3),
      map(numbers(20), negated, 3),
      prefetch(numbers(20), 4),
      cache(shuffle(numbers(9), 9, {1, 1}, true)),
      interleave(numbers(6), below, 2, 2, true),
      sample({numbers(9), numbers(5)}, {0.3, 0.7}, {3, 4}, false, false),
  };
}

TEST(Datasets, IteratorsGoOnWhereTheyWereSaved) {
  for (int taken = 0; taken < 12; taken += 3) {
    const auto first = some_pipelines(), second = some_pipelines();
    for (size_t i = 0; i < first.size(); ++i) {
      auto it = first[i]->iterate();
      it->skip(taken);
      StateWriter state;
      it->save(state);
      auto other = second[i]->iterate();
      StateReader from(state.bytes());
      other->restore(from);
      EXPECT_TRUE(from.is_at_end());
      EXPECT_EQ(rest_of(*other), rest_of(*it)) << first[i]->name() << " after " << taken;
    }
  }
}

TEST(Datasets, DamagedStatesAreRefused) {
  auto it = shuffle(numbers(9), 5, {1, 2}, true)->iterate();
  it->skip(2);
  StateWriter state;
  it->save(state);
  for (size_t size = 0; size < state.bytes().size(); ++size) {
    auto other = shuffle(numbers(9), 5, {1, 2}, true)->iterate();
    StateReader from(std::string_view(state.bytes()).substr(0, size));
    EXPECT_THROW(other->restore(from), Error) << size;
  }
  StateReader from(state.bytes());
  EXPECT_THROW(batch(numbers(9), 2, false)->iterate()->restore(from), Error);
}

TEST(Datasets, TensorsStandForDatasets) {
  Tensor number = as_tensor(numbers(3));
  EXPECT_EQ(values(dataset_of(number)), (std::vector<int64_t>{0, 1, 2}));
  const Tensor copy(number.item<int64_t>());
  EXPECT_EQ(values(dataset_of(copy)).size(), 3u);
  number = {};
  EXPECT_THROW(dataset_of(copy), InvalidArgumentError);
  EXPECT_THROW(dataset_of(Tensor(3.f)), InvalidArgumentError);
}

TEST(Datasets, WindowsOverlap) {
  const DatasetRef windows = window(numbers(5), {3, 1, 1, true}, {1});
  const auto rows = [](Element&& e) { return dataset_of(e.at(0)); };
  EXPECT_EQ(values(interleave(windows, rows, 1, 1)),
            (std::vector<int64_t>{0, 1, 2, 1, 2, 3, 2, 3, 4}));
  EXPECT_EQ(windows->cardinality(), 3);
}

TEST(Datasets, ThreadsEndWithTheirIterators) {
  for (int round = 0; round < 50; ++round) {
    auto it = prefetch(map(numbers(1 << 20), negated, 2), 3)->iterate();
    Element one;
    ASSERT_TRUE(it->next(one));
  }
  EXPECT_TRUE(buffers_in_use().empty());
}

}  // namespace
}  // namespace tidemark::data
