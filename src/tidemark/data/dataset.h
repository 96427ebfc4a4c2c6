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

#include <tidemark/data.h>

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tidemark/data/draws.h"

namespace tidemark::memory {
struct Site;
}

namespace tidemark::data {

inline constexpr int64_t kInfinite = -1;
inline constexpr int64_t kUnknown = -2;

class Dataset;
class StateReader;
class StateWriter;
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
  /// Writes where it stands, with all it keeps.
  void save(StateWriter& to);
  /// Goes on where an iterator over an equal pipeline stood. What is thrown leaves it useless.
  void restore(StateReader& from);

 protected:
  virtual bool take_next(Element& out) = 0;
  virtual int64_t take_block(int64_t count, Element& out);
  virtual int64_t leave_out(int64_t count);
  virtual void save_state(StateWriter& to) = 0;
  virtual void restore_state(StateReader& from) = 0;

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
  /// Tensors whose rows are the elements, one after the other; null: they are made otherwise.
  virtual const Element* rows() const { return nullptr; }

  const char* name() const { return name_; }
  /// The line that made it; null: not known.
  memory::Site* site() const { return site_; }

 protected:
  virtual std::unique_ptr<Iterator> start() const = 0;

 private:
  const char* name_;
  memory::Site* site_;
};

/// Elements of pipelines lie on the host: what a function computes elsewhere is copied there.
void bring_to_host(Element& element);
Function on_host(Function function);

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
/// Pieces of `record` bytes; `header` and `footer` bytes of each file are left out.
TIDEMARK_API DatasetRef fixed_records(std::vector<std::string> files, int64_t record,
                                      int64_t header, int64_t footer);
/// Numbers of 32 bits, as int64, without end. `again`: others each time it is iterated.
TIDEMARK_API DatasetRef random_numbers(Seeds seeds, bool again);
/// Elements that `write_elements` wrote.
TIDEMARK_API DatasetRef elements_in_file(std::string file, int64_t count);

// --- what is made of them ---------------------------------------------------------------------
/// `parallel`: how many are computed at the same time, in order.
/// Whether what is computed at the same time is given in order: always, as soon as it is ready, or
/// in order unless `in_any_order` is around it.
enum class Order { usual, kept, any };
TIDEMARK_API DatasetRef map(DatasetRef of, Function function, int64_t parallel,
                            Order order = Order::usual);
/// Steps inside that compute in parallel give elements as they are ready, unless they say
/// otherwise.
TIDEMARK_API DatasetRef in_any_order(DatasetRef of);
/// Elements whose only result is true.
TIDEMARK_API DatasetRef filter(DatasetRef of, Function predicate);
/// The elements until the first whose only result is not true.
TIDEMARK_API DatasetRef take_while(DatasetRef of, Function predicate);
/// What computes to an error is left out; `note` is told of it.
TIDEMARK_API DatasetRef ignore_errors(DatasetRef of,
                                      std::function<void(const std::exception_ptr&)> note);
using ToDataset = std::function<DatasetRef(Element&&)>;
/// The elements of the datasets of all elements, `cycle` of them in turn, `block` elements each.
/// `parallel`: each of them is read ahead by a thread of its own; the order is the same.
TIDEMARK_API DatasetRef interleave(DatasetRef of, ToDataset function, int64_t cycle, int64_t block,
                                   bool parallel = false);
TIDEMARK_API DatasetRef batch(DatasetRef of, int64_t size, bool drop_remainder);
/// Components are padded to `sizes` (-1: to the longest of the batch) with `values`.
TIDEMARK_API DatasetRef padded_batch(DatasetRef of, int64_t size, bool drop_remainder,
                                     std::vector<Shape> sizes, Element values);
TIDEMARK_API DatasetRef unbatch(DatasetRef of);
/// Draws from a buffer of `buffer` elements, of `most_bytes` (0: any) together. `again`: another
/// order each time it is iterated.
TIDEMARK_API DatasetRef shuffle(DatasetRef of, int64_t buffer, Seeds seeds, bool again,
                                int64_t most_bytes = 0);
/// count < 0: without end.
TIDEMARK_API DatasetRef repeat(DatasetRef of, int64_t count);
TIDEMARK_API DatasetRef take(DatasetRef of, int64_t count);
TIDEMARK_API DatasetRef skip(DatasetRef of, int64_t count);
/// Elements `index`, `index + every`, …
TIDEMARK_API DatasetRef shard(DatasetRef of, int64_t every, int64_t index);
TIDEMARK_API DatasetRef concatenate(DatasetRef first, DatasetRef second);
TIDEMARK_API DatasetRef zip(std::vector<DatasetRef> all);
/// Keeps the elements of the first whole pass in memory; throws ResourceExhaustedError where they
/// take more than `most_bytes` (0: any).
TIDEMARK_API DatasetRef cache(DatasetRef of, int64_t most_bytes = 0);
/// Keeps them in a file, which is there as a whole or not at all; where it is, nothing is computed.
TIDEMARK_API DatasetRef cache_in_file(DatasetRef of, std::string file);
/// Writes all elements to a file, as a whole or not at all; how many.
TIDEMARK_API int64_t write_elements(const Dataset& of, const std::string& file);
/// Element after element from the dataset that the selector's element, an int64, names. One that is
/// at its end is passed over, or ends it all where `stops`.
TIDEMARK_API DatasetRef choose(DatasetRef selector, std::vector<DatasetRef> from, bool stops);
/// The same with datasets drawn by their weights. `again`: other draws each time it is iterated.
TIDEMARK_API DatasetRef sample(std::vector<DatasetRef> from, std::vector<double> weights,
                               Seeds seeds, bool again, bool stops);
/// The elements, of which there are said to be `count`: any other number is an error.
TIDEMARK_API DatasetRef counted(DatasetRef of, int64_t count);

struct WindowSizes {
  int64_t size, shift, stride;
  bool drop_remainder;
  /// From the first element of a window to its last.
  int64_t reach() const { return (size - 1) * stride + 1; }
};
/// Elements of datasets (see nested.h): one for each leaf, of as many tensors as `leaves` says.
TIDEMARK_API DatasetRef window(DatasetRef of, WindowSizes sizes, std::vector<int64_t> leaves);
/// `function`: (state, element) → (state, output); the outputs.
TIDEMARK_API DatasetRef scan(DatasetRef of, Element initial, Function function);
/// Each different element once.
TIDEMARK_API DatasetRef unique(DatasetRef of);
struct GroupFunctions {
  Function key;      // element → int64
  Function size;     // key → int64
  ToDataset reduce;  // key, dataset of a group's elements (see nested.h) → dataset
};
/// The elements of what is made of each group when it has as many elements as it should have, in
/// the end of what is left, by key.
TIDEMARK_API DatasetRef group_by_window(DatasetRef of, GroupFunctions functions);
/// The elements in memory of a device; strings stay on the host. Steps that compute bring them
/// back.
TIDEMARK_API DatasetRef on_device(DatasetRef of, Device device);
/// Makes up to `count` elements, of `most_bytes` (0: any) together, ahead on a thread of its own.
TIDEMARK_API DatasetRef prefetch(DatasetRef of, int64_t count, int64_t most_bytes = 0);

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
