// Dataset: elements made one after the other, each a list of tensors.
//
//   DatasetRef rows = data::slices({images, labels});                 // views: nothing is copied
//   DatasetRef batches = data::batch(data::shuffle(rows, 1000, seed), 32, false);
//   for (auto it = batches->iterate(); it->next(element);) train(element);
//
// A dataset says how elements are made and holds no more than its sources; an iterator holds what
// is under way (a shuffle buffer, elements made ahead) and releases it when it goes. Buffers are
// counted under holders of their own (`dataset shuffle buffer`, …; see held.h).
#pragma once

#include <tidemark/tensor.h>

#include <functional>
#include <memory>
#include <vector>

namespace tidemark::memory {
struct Site;
}

namespace tidemark::data {

using Element = std::vector<Tensor>;

inline constexpr int64_t kInfinite = -1;
inline constexpr int64_t kUnknown = -2;

class Dataset;
using DatasetRef = std::shared_ptr<const Dataset>;

/// One thread at a time. What a step allocates is listed under the line that made its dataset.
class TIDEMARK_API Iterator {
 public:
  virtual ~Iterator() = default;
  /// False: there are no more elements. What is thrown leaves the iterator where it was or at its
  /// end, never in between.
  bool next(Element& out);
  /// Up to `count` elements as one, stacked along a new first dimension, where that costs nothing;
  /// -1: it would cost something, and nothing was taken.
  int64_t next_block(int64_t count, Element& out);
  /// Leaves out up to `count` elements; how many.
  int64_t skip(int64_t count);

 protected:
  virtual bool take_next(Element& out) = 0;
  virtual int64_t take_block(int64_t count, Element& out);
  virtual int64_t leave_out(int64_t count);

 private:
  friend class Dataset;
  DatasetRef of_;
};

class TIDEMARK_API Dataset : public std::enable_shared_from_this<Dataset> {
 public:
  /// `name`: what its steps are called in memory reports; static storage.
  explicit Dataset(const char* name);
  virtual ~Dataset();
  Dataset(const Dataset&) = delete;
  Dataset& operator=(const Dataset&) = delete;

  std::unique_ptr<Iterator> iterate() const;
  /// The number of elements, kInfinite or kUnknown.
  virtual int64_t cardinality() const = 0;

  const char* name() const { return name_; }
  /// The line that made it; null: not known.
  memory::Site* site() const { return site_; }

 protected:
  virtual std::unique_ptr<Iterator> start() const = 0;

 private:
  const char* name_;
  memory::Site* site_;
};

/// Computes elements: may be called by several threads at once.
using Function = std::function<Element(Element&&)>;

// --- where elements come from -----------------------------------------------------------------
TIDEMARK_API DatasetRef single(Element element);
/// Row i of each tensor; all have the same number of rows.
TIDEMARK_API DatasetRef slices(Element tensors);
TIDEMARK_API DatasetRef range(int64_t start, int64_t stop, int64_t step, DType dtype);
/// Iterators that somebody else makes.
TIDEMARK_API DatasetRef generated(std::function<std::unique_ptr<Iterator>()> make, int64_t count,
                                  const char* name = "from_generator");
/// Lines of text files, without their ends; `buffer` bytes are read at once.
TIDEMARK_API DatasetRef text_lines(std::vector<std::string> files, int64_t buffer = 256 << 10);
/// Records of TFRecord files, their checksums checked.
TIDEMARK_API DatasetRef tf_records(std::vector<std::string> files);

// --- what is made of them ---------------------------------------------------------------------
/// `parallel`: how many are computed at the same time, in order.
TIDEMARK_API DatasetRef map(DatasetRef of, Function function, int64_t parallel);
/// Elements whose only result is true.
TIDEMARK_API DatasetRef filter(DatasetRef of, Function predicate);
/// The elements until the first whose only result is not true.
TIDEMARK_API DatasetRef take_while(DatasetRef of, Function predicate);
using ToDataset = std::function<DatasetRef(Element&&)>;
/// The elements of the datasets of all elements, `cycle` of them in turn, `block` elements each.
TIDEMARK_API DatasetRef interleave(DatasetRef of, ToDataset function, int64_t cycle, int64_t block);
TIDEMARK_API DatasetRef batch(DatasetRef of, int64_t size, bool drop_remainder);
/// Components are padded to `sizes` (-1: to the longest of the batch) with `values`.
TIDEMARK_API DatasetRef padded_batch(DatasetRef of, int64_t size, bool drop_remainder,
                                     std::vector<Shape> sizes, Element values);
TIDEMARK_API DatasetRef unbatch(DatasetRef of);
/// Draws from a buffer of `buffer` elements. `again`: another order each time it is iterated.
TIDEMARK_API DatasetRef shuffle(DatasetRef of, int64_t buffer, uint64_t seed, bool again);
/// count < 0: without end.
TIDEMARK_API DatasetRef repeat(DatasetRef of, int64_t count);
TIDEMARK_API DatasetRef take(DatasetRef of, int64_t count);
TIDEMARK_API DatasetRef skip(DatasetRef of, int64_t count);
/// Elements `index`, `index + every`, …
TIDEMARK_API DatasetRef shard(DatasetRef of, int64_t every, int64_t index);
TIDEMARK_API DatasetRef concatenate(DatasetRef first, DatasetRef second);
TIDEMARK_API DatasetRef zip(std::vector<DatasetRef> all);
/// Keeps the elements of the first whole pass in memory.
TIDEMARK_API DatasetRef cache(DatasetRef of);
/// Makes up to `count` elements ahead on a thread of its own.
TIDEMARK_API DatasetRef prefetch(DatasetRef of, int64_t count);

/// What the iterators that are alive keep, one entry a buffer of theirs.
struct BufferUse {
  std::string holder;  // "dataset shuffle buffer"
  std::string place;   // of the line that made the dataset: "train.py:12 in main"
  int64_t elements;
  int64_t bytes;  // of tensors that nobody else refers to
};
TIDEMARK_API std::vector<BufferUse> buffers_in_use();

/// The elements as one, stacked along a new first dimension. Throws where their shapes differ.
TIDEMARK_API Element stacked(std::span<const Element> elements);

}  // namespace tidemark::data
