// Elements in random order.
#include <algorithm>
#include <cstring>
#include <deque>
#include <mutex>

#include "tidemark/data/dataset.h"
#include "tidemark/data/held.h"
#include "tidemark/data/rows.h"
#include "tidemark/data/state.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::data {

namespace {

/// One at a place goes, and the first takes its place: the order that TensorFlow has for the same
/// draws.
template <class One>
One taken(std::deque<One>& all, size_t place) {
  One out = std::move(all[place]);
  if (place != 0) all[place] = std::move(all.front());
  all.pop_front();
  return out;
}

/// Elements of an iterator, held until they are drawn.
class ElementPool {
 public:
  explicit ElementPool(const Dataset& of) : from_(of.iterate()) {}
  size_t size() const { return held_.size(); }
  bool has_room(int64_t most_bytes) const { return store_.has_room(most_bytes); }
  /// False: there are no more.
  bool add() {
    Element one;
    if (!from_->next(one)) return false;
    held_.emplace_back(store_, std::move(one));
    return true;
  }
  void take(size_t place, Element& out) { out = taken(held_, place).take(); }

  void save_source(StateWriter& to) { from_->save(to); }
  void restore_source(StateReader& from) { from_->restore(from); }
  void save_held(StateWriter& to) { save_all(to, held_); }
  void restore_held(StateReader& from) { restore_all(from, store_, held_); }

 private:
  std::unique_ptr<Iterator> from_;
  Store store_{memory::Holder::dataset_shuffle};
  std::deque<Held> held_;
};

/// Rows of tensors that are there anyway: their numbers are all there is to hold.
class RowPool {
 public:
  explicit RowPool(const Dataset& of) : tensors_(*of.rows()) {}
  ~RowPool() { store_.add(-static_cast<int64_t>(held_.size()), 0); }
  size_t size() const { return held_.size(); }
  bool has_room(int64_t /*most_bytes: numbers of rows are not counted*/) const { return true; }
  bool add() {
    if (next_ >= rows()) return false;
    held_.push_back(next_++);
    store_.add(1, 0);
    return true;
  }
  void take(size_t place, Element& out) {
    const int64_t number = take_number(place);
    out.clear();
    for (const Tensor& t : tensors_) out.push_back(row_of(t, number));
  }

  /// How many have not been drawn.
  int64_t left() const { return static_cast<int64_t>(held_.size()) + rows() - next_; }
  bool can_be_copied() const {
    return std::ranges::all_of(tensors_, [](const Tensor& t) {
      return t.dtype() != DType::string && t.device().is_cpu();
    });
  }
  /// Tensors of so many rows, to be written.
  Element blocks(int64_t count) const {
    Element out;
    for (const Tensor& t : tensors_) {
      Shape shape = t.shape();
      shape[0] = count;
      out.push_back(new_tensor(t.dtype(), shape));
    }
    return out;
  }
  void take_into(Element& blocks, int64_t row, size_t place) {
    const int64_t number = take_number(place);
    for (size_t i = 0; i < tensors_.size(); ++i) {
      const size_t bytes = tensors_[i].nbytes() / static_cast<size_t>(rows());
      const auto* from = static_cast<const char*>(tensors_[i].raw_data());
      auto* to = static_cast<char*>(blocks[i].mutable_raw_data());
      if (bytes == 0) continue;
      std::memcpy(to + static_cast<size_t>(row) * bytes, from + static_cast<size_t>(number) * bytes,
                  bytes);
    }
  }

  void save_source(StateWriter& to) { to.number(next_); }
  void restore_source(StateReader& from) { next_ = from.count(rows()); }
  void save_held(StateWriter& to) {
    const std::vector<int64_t> numbers(held_.begin(), held_.end());
    to.tensor(Tensor::of(std::span<const int64_t>(numbers), {static_cast<int64_t>(size())}));
  }
  void restore_held(StateReader& from) {
    const Tensor numbers = from.tensor();
    if (numbers.dtype() != DType::int64) StateReader::damaged("the numbers of rows");
    store_.add(-static_cast<int64_t>(held_.size()), 0);
    held_.clear();
    for (const int64_t number : numbers.values<int64_t>()) {
      if (number < 0 || number >= next_) StateReader::damaged("the number of a row");
      held_.push_back(number);
      store_.add(1, 0);
    }
  }

 private:
  int64_t rows() const { return tensors_[0].dim(0); }
  int64_t take_number(size_t place) {
    store_.add(-1, 0);
    return taken(held_, place);
  }

  Element tensors_;
  Store store_{memory::Holder::dataset_shuffle};
  std::deque<int64_t> held_;
  int64_t next_ = 0;
};

class Shuffled final : public Dataset {
 public:
  Shuffled(DatasetRef of, int64_t buffer, Seeds seeds, bool again, int64_t most_bytes)
      : Dataset("shuffle"),
        of_(std::move(of)),
        buffer_(buffer),
        most_bytes_(most_bytes),
        again_(again),
        seeds_(std::make_shared<Shared>(seeds)) {
    if (buffer <= 0 && buffer != kUnknown) {
      fail("buffer_size must be greater than zero or UNKNOWN_CARDINALITY; given was ", buffer);
    }
  }
  int64_t cardinality() const override { return of_->cardinality(); }

 private:
  /// Where each pass gets its seeds from.
  struct Shared {
    explicit Shared(Seeds seeds) : draws(seeds) {}
    Seeds next(bool again) {
      const std::lock_guard hold(mutex);
      if (!again) return draws.seeds();
      const int64_t first = draws.next();
      return {first, draws.next()};
    }
    std::mutex mutex;
    Draws draws;
  };

  std::unique_ptr<Iterator> start() const override {
    if (of_->rows() && of_->cardinality() > 0 && !(*of_->rows())[0].is_symbolic()) {
      return std::make_unique<ShuffledIterator<RowPool>>(*this);
    }
    return std::make_unique<ShuffledIterator<ElementPool>>(*this);
  }

  template <class Pool>
  class ShuffledIterator final : public Iterator {
   public:
    explicit ShuffledIterator(const Shuffled& of)
        : pool_(*of.of_),
          most_(of.buffer_ == kUnknown ? ~size_t{0} : static_cast<size_t>(of.buffer_)),
          most_bytes_(of.most_bytes_),
          draws_(of.seeds_->next(of.again_)),
          shared_(of.seeds_) {}

   private:
    /// False: there are no more.
    bool fill() {
      while (!is_drained_ && pool_.size() < most_ && pool_.has_room(most_bytes_)) {
        is_drained_ = !pool_.add();
      }
      return pool_.size() > 0;
    }
    size_t drawn() { return draws_.next() % pool_.size(); }

    bool take_next(Element& out) override {
      if (!fill()) return false;
      pool_.take(drawn(), out);
      return true;
    }
    /// Rows are copied to where a batch has them, and never become elements.
    int64_t take_block(int64_t count, Element& out) override {
      if constexpr (std::same_as<Pool, RowPool>) {
        if (!pool_.can_be_copied()) return -1;
        const int64_t rows = std::min(count, pool_.left());
        out = pool_.blocks(rows);
        for (int64_t row = 0; row < rows && fill(); ++row) pool_.take_into(out, row, drawn());
        return rows;
      }
      return -1;
    }

    void save_state(StateWriter& to) override {
      pool_.save_source(to);
      to.number(is_drained_);
      save_draws(to, draws_);
      {
        const std::lock_guard hold(shared_->mutex);
        save_draws(to, shared_->draws);
      }
      pool_.save_held(to);
    }
    void restore_state(StateReader& from) override {
      pool_.restore_source(from);
      is_drained_ = from.count(1);
      draws_ = restore_draws(from);
      {
        const std::lock_guard hold(shared_->mutex);
        shared_->draws = restore_draws(from);
      }
      pool_.restore_held(from);
    }

    Pool pool_;
    size_t most_;
    int64_t most_bytes_;
    Draws draws_;
    std::shared_ptr<Shared> shared_;
    bool is_drained_ = false;
  };

  DatasetRef of_;
  int64_t buffer_, most_bytes_;
  bool again_;
  std::shared_ptr<Shared> seeds_;
};

}  // namespace

DatasetRef shuffle(DatasetRef of, int64_t buffer, Seeds seeds, bool again, int64_t most_bytes) {
  return std::make_shared<Shuffled>(std::move(of), buffer, seeds, again, most_bytes);
}

}  // namespace tidemark::data
