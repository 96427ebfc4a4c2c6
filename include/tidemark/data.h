// Pipelines of elements: the C++ side of tf.data, over the same steps.
//
//   auto train = td::data::from_tensors({images, labels}).shuffle(10'000).batch(128).prefetch(2);
//   for (auto batch : train) step(batch[0], batch[1]);
//
//   auto lines = td::data::from_text_lines({"a.txt", "b.txt"})
//                    .map([](const td::Tensor& line) { return td::strings::length(line); });
//
//   auto few = train.shuffle(10'000, {.memory_budget = td::MiB(64)});     // bounded in bytes, too
//
// An element is a list of tensors. A pipeline says how elements are made and is a handle: copies
// share it. What an iteration keeps (a shuffle buffer, elements made ahead) is counted under the
// line that made the step, and goes with the iteration.
#pragma once

#include <tidemark/attr.h>
#include <tidemark/bytes.h>
#include <tidemark/call_with.h>
#include <tidemark/tensor.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tidemark::data {

class Dataset;
class Iterator;
class Pipeline;

using Element = std::vector<Tensor>;
/// Computes elements: may be called by several threads at once.
using Function = std::function<Element(Element&&)>;

struct MapOptions {
  int64_t parallel = 1;  // how many elements are computed at the same time, in order
};
struct InterleaveOptions {
  int64_t cycle = 16;  // how many of the pipelines give elements in turn
  int64_t block = 1;   // how many elements each
  bool parallel = false;
};
struct ShuffleOptions {
  std::optional<int64_t> seed = std::nullopt;  // none: the process's generator
  bool reshuffle_each_iteration = true;
  int64_t memory_budget = 0;  // bytes; fewer elements are held where they would take more. 0: any
};
struct PrefetchOptions {
  int64_t memory_budget = 0;  // bytes; fewer elements are made ahead where they would take more
};
struct CacheOptions {
  int64_t memory_budget = 0;  // bytes; elements that take more are a ResourceExhaustedError
};
struct BatchOptions {
  bool drop_remainder = false;
};
/// To which sizes a tensor of the element is padded (-1: those of the longest) and with what.
struct Padding {
  Shape shape;
  Tensor value;
};

/// One pass over a pipeline. One thread at a time.
class TIDEMARK_API Pass {
 public:
  /// False: there are no more.
  bool next(Element& element);
  /// Where it stands, with all it keeps, as bytes.
  std::string save() const;
  /// Goes on where a pass over an equal pipeline stood. Throws what is damaged as DataLossError or
  /// InvalidArgumentError; the pass is useless then.
  void restore(const std::string& saved);

 private:
  friend class Pipeline;
  explicit Pass(std::shared_ptr<Iterator> iterator) : iterator_(std::move(iterator)) {}
  std::shared_ptr<Iterator> iterator_;
};

class TIDEMARK_API Pipeline {
 public:
  explicit Pipeline(std::shared_ptr<const Dataset> dataset) : dataset_(std::move(dataset)) {}

  // --- one element after the other ------------------------------------------------------------
  struct End {};
  class TIDEMARK_API Elements {
   public:
    explicit Elements(Pass pass) : pass_(std::move(pass)) { ++*this; }
    Element& operator*() { return element_; }
    /// The element goes before the next is made.
    Elements& operator++();
    bool operator==(End) const { return is_at_end_; }

   private:
    Pass pass_;
    Element element_;
    bool is_at_end_ = false;
  };
  Elements begin() const { return Elements(pass()); }
  End end() const { return {}; }
  Pass pass() const;
  const std::shared_ptr<const Dataset>& dataset() const { return dataset_; }
  /// The number of elements; -1: without end, -2: not known.
  int64_t cardinality() const;

  // --- steps ------------------------------------------------------------------------------------
  /// What `function` makes of each element: a function of its tensors, or of the whole, that
  /// returns a tensor, or several. It runs as it is; one made by td::function is traced.
  template <class F>
  [[gnu::noinline]] Pipeline map(F function, MapOptions options = {}) const {
    return mapped(step(std::move(function)), options, __builtin_return_address(0));
  }
  /// Those for which `predicate` gives true.
  template <class F>
  [[gnu::noinline]] Pipeline filter(F predicate) const {
    return filtered(step(std::move(predicate)), __builtin_return_address(0));
  }
  /// The elements of the pipelines that `function` makes of each element.
  template <class F>
  [[gnu::noinline]] Pipeline interleave(F function, InterleaveOptions options = {}) const {
    return interleaved(
        [function = std::move(function)](Element&& element) mutable {
          return tidemark::detail::call_with(function, element);
        },
        options, __builtin_return_address(0));
  }
  /// Draws from a buffer of so many elements. Rows of tensors stay where they are, and take
  /// nothing.
  Pipeline shuffle(int64_t buffer, ShuffleOptions options = {}) const;
  Pipeline batch(int64_t size, BatchOptions options = {}) const;
  /// One padding for each tensor of the element.
  Pipeline padded_batch(int64_t size, std::vector<Padding> paddings,
                        BatchOptions options = {}) const;
  Pipeline unbatch() const;
  /// A negative number: without end.
  Pipeline repeat(int64_t count = -1) const;
  Pipeline take(int64_t count) const;
  Pipeline skip(int64_t count) const;
  /// Elements `index`, `index + every`, …
  Pipeline shard(int64_t every, int64_t index) const;
  Pipeline concatenate(const Pipeline& other) const;
  /// Keeps the elements of the first whole pass, in memory or in a file.
  Pipeline cache(CacheOptions options = {}) const;
  Pipeline cache(const std::string& file) const;
  /// Makes up to so many elements ahead on a thread of its own.
  Pipeline prefetch(int64_t count, PrefetchOptions options = {}) const;

 private:
  template <class F>
  static Function step(F function) {
    return [function = std::move(function)](Element&& element) mutable {
      return tidemark::detail::as_tensors(tidemark::detail::call_with(function, element));
    };
  }
  Pipeline mapped(Function function, MapOptions options, const void* caller) const;
  Pipeline filtered(Function predicate, const void* caller) const;
  Pipeline interleaved(std::function<Pipeline(Element&&)> function, InterleaveOptions options,
                       const void* caller) const;

  std::shared_ptr<const Dataset> dataset_;
};

/// Row i of each tensor, as views: all have the same number of rows.
TIDEMARK_API Pipeline from_tensors(const Element& tensors);
/// TensorFlow's name for it.
TIDEMARK_API Pipeline from_tensor_slices(const Element& tensors);
/// 0, 1, … up to but without `stop`, as int64.
TIDEMARK_API Pipeline from_range(int64_t stop);
/// The names of the files that match a pattern (`data/*.png`), sorted. Throws NotFoundError where
/// there are none.
TIDEMARK_API Pipeline from_files(const std::string& pattern);
/// Lines of text files, without their ends.
TIDEMARK_API Pipeline from_text_lines(const std::vector<std::string>& files);
/// Records of TFRecord files, their checksums checked.
TIDEMARK_API Pipeline from_tfrecords(const std::vector<std::string>& files);

struct CsvOptions {
  bool header = true;  // the first line of each file is left out
  std::string delimiter = ",";
};
/// Rows of CSV files: a scalar for each column, of the dtype given (DType::string: as it stands).
TIDEMARK_API Pipeline from_csv(const std::vector<std::string>& files,
                               const std::vector<DType>& columns, const CsvOptions& options = {});

struct ImageFolderOptions {
  Ints size = {256, 256};  // height, width
  int64_t channels = 3;
  std::string method = "bilinear";  // how pictures are made larger or smaller
  int64_t parallel = 1;             // how many are read at the same time, in order
};
/// Pictures (PNG, JPEG, BMP, GIF) of a folder that has a folder for each class, as Keras's
/// image_dataset_from_directory reads them: (float32 [height, width, channels] of 0 to 255, int32
/// class), in the order of classes and names. Throws NotFoundError where there are none.
TIDEMARK_API Pipeline from_image_folder(const std::string& folder,
                                        const ImageFolderOptions& options = {});
/// The classes of such a folder, in their order.
TIDEMARK_API std::vector<std::string> image_classes(const std::string& folder);

/// Gives the next element, or nothing at the end.
using Generator = std::function<std::optional<Element>()>;
/// What a generator gives; `make` makes one for each pass. A pass that is restored makes as many
/// elements again as it had given.
TIDEMARK_API Pipeline from_generator(std::function<Generator()> make);
/// An element of each at once, as one; it ends with the shortest.
TIDEMARK_API Pipeline zip(const std::vector<Pipeline>& all);

}  // namespace tidemark::data
