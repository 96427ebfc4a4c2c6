// <tidemark/data.h> over the steps of dataset.h.

#include <tidemark/data.h>
#include <tidemark/handler.h>
#include <tidemark/ops.h>

#include <glob.h>

#include "tidemark/base/random_state.h"
#include "tidemark/data/dataset.h"
#include "tidemark/data/state.h"
#include "tidemark/memory/context.h"

namespace tidemark::data {

namespace {

/// A dataset knows the line that made it.
template <class Make>
Pipeline made(const void* caller, Make make) {
  const memory::ScopedSite here(memory::site_of_address(caller));
  return Pipeline(make());
}

#define TIDEMARK_CALLER __builtin_return_address(0)

/// Pipelines compute now, also while a graph is being built around them.
Function computing_now(Function function) {
  return on_host([function = std::move(function)](Element&& element) {
    const NoHandlers now;
    return function(std::move(element));
  });
}

Seeds seeds_of(const std::optional<int64_t>& seed) {
  constexpr int64_t kOfPrograms = 87654321;  // TensorFlow's, where the program has none
  if (seed) return {kOfPrograms, *seed};
  const RandomStream drawn = random_state::reserve(std::nullopt, 1);
  return {static_cast<int64_t>(drawn.key), static_cast<int64_t>(drawn.counter_low)};
}

void check_positive(std::string_view step, std::string_view what, int64_t value) {
  if (value > 0) return;
  fail<InvalidArgumentError>("[", step, "] `", what, "` must be positive. Received: ", value);
}

void check_budget(std::string_view step, int64_t bytes) {
  if (bytes >= 0) return;
  fail<InvalidArgumentError>("[", step,
                             "] `memory_budget` must not be negative. Received: ", bytes);
}

}  // namespace

bool Pass::next(Element& element) { return iterator_->next(element); }

std::string Pass::save() const {
  StateWriter to;
  iterator_->save(to);
  return to.bytes();
}

void Pass::restore(const std::string& saved) {
  StateReader from(saved);
  iterator_->restore(from);
}

Pipeline::Elements& Pipeline::Elements::operator++() {
  element_.clear();
  is_at_end_ = !pass_.next(element_);
  return *this;
}

Pass Pipeline::pass() const { return Pass(dataset_->iterate()); }
int64_t Pipeline::cardinality() const { return dataset_->cardinality(); }

Pipeline Pipeline::mapped(Function function, MapOptions options, const void* caller) const {
  check_positive("map", "parallel", options.parallel);
  return made(caller, [&] {
    return data::map(dataset_, computing_now(std::move(function)), options.parallel);
  });
}

Pipeline Pipeline::filtered(Function predicate, const void* caller) const {
  return made(caller, [&] { return data::filter(dataset_, computing_now(std::move(predicate))); });
}

Pipeline Pipeline::interleaved(std::function<Pipeline(Element&&)> function,
                               InterleaveOptions options, const void* caller) const {
  check_positive("interleave", "cycle", options.cycle);
  check_positive("interleave", "block", options.block);
  return made(caller, [&] {
    return data::interleave(
        dataset_,
        [function = std::move(function)](Element&& element) {
          const NoHandlers now;
          return function(std::move(element)).dataset_;
        },
        options.cycle, options.block, options.parallel);
  });
}

Pipeline Pipeline::shuffle(int64_t buffer, ShuffleOptions options) const {
  check_positive("shuffle", "buffer", buffer);
  check_budget("shuffle", options.memory_budget);
  return made(TIDEMARK_CALLER, [&] {
    return data::shuffle(dataset_, buffer, seeds_of(options.seed), options.reshuffle_each_iteration,
                         options.memory_budget);
  });
}

Pipeline Pipeline::batch(int64_t size, BatchOptions options) const {
  check_positive("batch", "size", size);
  return made(TIDEMARK_CALLER, [&] { return data::batch(dataset_, size, options.drop_remainder); });
}

Pipeline Pipeline::padded_batch(int64_t size, std::vector<Padding> paddings,
                                BatchOptions options) const {
  check_positive("padded_batch", "size", size);
  std::vector<Shape> shapes;
  Element values;
  for (Padding& one : paddings) {
    shapes.push_back(std::move(one.shape));
    values.push_back(std::move(one.value));
  }
  return made(TIDEMARK_CALLER, [&] {
    return data::padded_batch(dataset_, size, options.drop_remainder, std::move(shapes),
                              std::move(values));
  });
}

Pipeline Pipeline::unbatch() const {
  return made(TIDEMARK_CALLER, [&] { return data::unbatch(dataset_); });
}

Pipeline Pipeline::repeat(int64_t count) const {
  return made(TIDEMARK_CALLER, [&] { return data::repeat(dataset_, count); });
}

Pipeline Pipeline::take(int64_t count) const {
  return made(TIDEMARK_CALLER, [&] { return data::take(dataset_, count); });
}

Pipeline Pipeline::skip(int64_t count) const {
  return made(TIDEMARK_CALLER, [&] { return data::skip(dataset_, count); });
}

Pipeline Pipeline::shard(int64_t every, int64_t index) const {
  check_positive("shard", "every", every);
  if (index < 0 || index >= every) {
    fail<InvalidArgumentError>("[shard] `index` is in [0, ", every, "). Received: ", index);
  }
  return made(TIDEMARK_CALLER, [&] { return data::shard(dataset_, every, index); });
}

Pipeline Pipeline::concatenate(const Pipeline& other) const {
  return made(TIDEMARK_CALLER, [&] { return data::concatenate(dataset_, other.dataset_); });
}

Pipeline Pipeline::cache(CacheOptions options) const {
  check_budget("cache", options.memory_budget);
  return made(TIDEMARK_CALLER, [&] { return data::cache(dataset_, options.memory_budget); });
}

Pipeline Pipeline::cache(const std::string& file) const {
  return made(TIDEMARK_CALLER, [&] { return data::cache_in_file(dataset_, file); });
}

Pipeline Pipeline::prefetch(int64_t count, PrefetchOptions options) const {
  check_positive("prefetch", "count", count);
  check_budget("prefetch", options.memory_budget);
  return made(TIDEMARK_CALLER,
              [&] { return data::prefetch(dataset_, count, options.memory_budget); });
}

Pipeline zip(const std::vector<Pipeline>& all) {
  return made(TIDEMARK_CALLER, [&] {
    std::vector<DatasetRef> datasets;
    for (const Pipeline& one : all) datasets.push_back(one.dataset());
    return zip(std::move(datasets));
  });
}

Pipeline from_tensors(const Element& tensors) {
  return made(TIDEMARK_CALLER, [&] { return slices(tensors); });
}

Pipeline from_tensor_slices(const Element& tensors) {
  return made(TIDEMARK_CALLER, [&] { return slices(tensors); });
}

Pipeline from_range(int64_t stop) {
  return made(TIDEMARK_CALLER, [&] { return range(0, stop, 1, DType::int64); });
}

Pipeline from_text_lines(const std::vector<std::string>& files) {
  return made(TIDEMARK_CALLER, [&] { return text_lines(files); });
}

Pipeline from_tfrecords(const std::vector<std::string>& files) {
  return made(TIDEMARK_CALLER, [&] { return tf_records(files); });
}

Pipeline from_files(const std::string& pattern) {
  glob_t found{};
  const int failed = glob(pattern.c_str(), 0, nullptr, &found);
  std::vector<std::string_view> names;
  for (size_t i = 0; failed == 0 && i < found.gl_pathc; ++i) names.emplace_back(found.gl_pathv[i]);
  const Tensor all = Tensor::of_strings(names, {static_cast<int64_t>(names.size())});
  globfree(&found);
  if (all.num_elements() == 0) {
    fail<NotFoundError>("[from_files] no file matches \"", pattern, "\"");
  }
  return made(TIDEMARK_CALLER, [&] { return slices({all}); });
}

namespace {

Function reading_csv(std::vector<DType> columns, std::string delimiter) {
  return [columns = std::move(columns), delimiter = std::move(delimiter)](Element&& line) {
    const auto count = static_cast<int64_t>(columns.size());
    const Element fields = unstack(split_csv(line.at(0), count, delimiter), count);
    Element out;
    for (size_t i = 0; i < columns.size(); ++i) {
      out.push_back(columns[i] == DType::string ? fields[i]
                                                : string_to_number(fields[i], columns[i]));
    }
    return out;
  };
}

}  // namespace

Pipeline from_csv(const std::vector<std::string>& files, const std::vector<DType>& columns,
                  const CsvOptions& options) {
  if (files.empty() || columns.empty()) {
    fail<InvalidArgumentError>("[from_csv] give at least one file and the dtypes of its columns");
  }
  return made(TIDEMARK_CALLER, [&] {
    DatasetRef lines;
    for (const std::string& file : files) {
      const DatasetRef rows = skip(text_lines({file}), options.header ? 1 : 0);
      lines = lines ? concatenate(lines, rows) : rows;
    }
    return map(lines, computing_now(reading_csv(columns, options.delimiter)), 1);
  });
}

namespace {

/// What a generator of the user's gives.
class GeneratedElements final : public Iterator {
 public:
  explicit GeneratedElements(const std::function<Generator()>& make)
      : make_(make), generator_(make()) {}

 protected:
  bool take_next(Element& out) override {
    if (!generator_) return false;
    const NoHandlers now;
    std::optional<Element> made = generator_();
    if (!made) {
      generator_ = nullptr;
      return false;
    }
    ++given_;
    out = std::move(*made);
    bring_to_host(out);
    return true;
  }
  void save_state(StateWriter& to) override {
    to.number(given_);
    to.number(generator_ == nullptr);
  }
  void restore_state(StateReader& from) override {
    const int64_t given = from.count(kMostSaved);
    const bool is_at_end = from.count(1) != 0;
    generator_ = make_();
    given_ = 0;
    Element ignored;
    while (given_ < given && take_next(ignored)) ignored.clear();
    if (is_at_end) generator_ = nullptr;
  }

 private:
  std::function<Generator()> make_;
  Generator generator_;
  int64_t given_ = 0;
};

}  // namespace

Pipeline from_generator(std::function<Generator()> make) {
  return made(TIDEMARK_CALLER, [&] {
    return generated([make = std::move(make)] { return std::make_unique<GeneratedElements>(make); },
                     kUnknown);
  });
}

}  // namespace tidemark::data
