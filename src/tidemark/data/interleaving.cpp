// The elements of many datasets as those of one: in turn, by name, by chance.
#include <algorithm>
#include <mutex>

#include "tidemark/data/ahead.h"
#include "tidemark/data/dataset.h"
#include "tidemark/data/state.h"

namespace tidemark::data {

namespace {

class Interleaved final : public Dataset {
 public:
  Interleaved(DatasetRef of, ToDataset function, int64_t cycle, int64_t block, bool parallel)
      : Dataset("interleave"),
        of_(std::move(of)),
        function_(std::move(function)),
        cycle_(cycle),
        block_(block),
        parallel_(parallel) {
    if (cycle < 1) fail("[interleave] cycle_length must be positive; given was ", cycle);
    if (block < 1) fail("[interleave] block_length must be positive; given was ", block);
  }
  int64_t cardinality() const override { return of_->cardinality() == 0 ? 0 : kUnknown; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<InterleavedIterator>(*this, of_->iterate());
  }

  class InterleavedIterator final : public Iterator {
   public:
    InterleavedIterator(const Interleaved& of, std::unique_ptr<Iterator> from)
        : function_(of.function_),
          block_(of.block_),
          parallel_(of.parallel_),
          from_(std::move(from)),
          open_(static_cast<size_t>(of.cycle_)) {}

   private:
    struct Open {
      Element input;  // what its dataset was made of
      std::unique_ptr<Iterator> rows;
    };

    bool take_next(Element& out) override {
      while (true) {
        if (!open_[at_].rows) open_next();
        if (open_[at_].rows) {
          if (open_[at_].rows->next(out)) {
            if (++given_ == block_) advance();
            return true;
          }
          open_[at_] = {};  // the next source takes this place when its turn comes
        }
        if (is_over()) return false;
        advance();
      }
    }

    void open_next() {
      Element one;
      if (!from_) return;
      if (!from_->next(one)) {
        from_.reset();
        return;
      }
      std::unique_ptr<Iterator> rows = begin(one);
      open_[at_] = {std::move(one), std::move(rows)};
    }
    std::unique_ptr<Iterator> begin(const Element& input) {
      std::unique_ptr<Iterator> rows = function_(Element(input))->iterate();
      if (!parallel_) return rows;
      return made_ahead(std::move(rows), static_cast<size_t>(2 * block_));
    }
    void advance() {
      at_ = (at_ + 1) % open_.size();
      given_ = 0;
    }
    bool is_over() const {
      return !from_ && std::none_of(open_.begin(), open_.end(),
                                    [](const Open& one) { return one.rows != nullptr; });
    }

    void save_state(StateWriter& to) override {
      save_if(to, from_.get());
      to.number(static_cast<int64_t>(at_));
      to.number(given_);
      for (const Open& one : open_) {
        to.number(one.rows != nullptr);
        if (!one.rows) continue;
        to.element(one.input);
        one.rows->save(to);
      }
    }
    void restore_state(StateReader& from) override {
      from_ = restore_if(from, [&] { return std::move(from_); });
      at_ = static_cast<size_t>(from.count(static_cast<int64_t>(open_.size()) - 1));
      given_ = from.number();
      for (Open& one : open_) {
        one.rows = restore_if(from, [&] {
          one.input = from.element();
          return begin(one.input);
        });
      }
    }

    ToDataset function_;
    int64_t block_;
    bool parallel_;
    std::unique_ptr<Iterator> from_;
    std::vector<Open> open_;
    size_t at_ = 0;
    int64_t given_ = 0;
  };

  DatasetRef of_;
  ToDataset function_;
  int64_t cycle_, block_;
  bool parallel_;
};

/// Which dataset the next element comes from. -1: there is no next.
class Selector {
 public:
  virtual ~Selector() = default;
  virtual int64_t next() = 0;
  virtual void save(StateWriter& to) = 0;
  virtual void restore(StateReader& from) = 0;
};

class Named final : public Selector {
 public:
  explicit Named(std::unique_ptr<Iterator> from) : from_(std::move(from)) {}
  int64_t next() override {
    Element one;
    if (!from_->next(one)) return -1;
    if (one.size() != 1 || one[0].dtype() != DType::int64 || one[0].num_elements() != 1) {
      fail("[choose_from_datasets] the choices must be scalars of dtype int64");
    }
    const int64_t number = one[0].item<int64_t>();
    if (number < 0) fail("Selector index out of range: ", number);
    return number;
  }
  void save(StateWriter& to) override { from_->save(to); }
  void restore(StateReader& from) override { from_->restore(from); }

 private:
  std::unique_ptr<Iterator> from_;
};

class Drawn final : public Selector {
 public:
  Drawn(std::vector<double> weights, Seeds seeds) : weights_(std::move(weights)), draws_(seeds) {
    for (const double w : weights_) all_ += w;
  }
  int64_t next() override {
    double left = draws_.unit() * all_;
    int64_t last = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] <= 0) continue;
      last = static_cast<int64_t>(i);
      if (left < weights_[i]) return last;
      left -= weights_[i];
    }
    return last;
  }
  void save(StateWriter& to) override { save_draws(to, draws_); }
  void restore(StateReader& from) override { draws_ = restore_draws(from); }

 private:
  std::vector<double> weights_;
  double all_ = 0;
  Draws draws_;
};

using MakeSelector = std::function<std::unique_ptr<Selector>()>;

class Chosen final : public Dataset {
 public:
  /// `is_finite`: the selector may come to its end.
  Chosen(const char* name, MakeSelector selector, bool is_finite, std::vector<DatasetRef> from,
         bool stops)
      : Dataset(name),
        selector_(std::move(selector)),
        is_finite_(is_finite),
        from_(std::move(from)),
        stops_(stops) {
    if (from_.empty()) fail("[", name, "] at least one dataset is needed");
  }
  int64_t cardinality() const override {
    if (is_finite_) return kUnknown;
    int64_t all = 0;
    for (const DatasetRef& d : from_) {
      const int64_t count = d->cardinality();
      if (count == kInfinite && !stops_) return kInfinite;
      if (count < 0 || stops_) all = kUnknown;
      if (all >= 0) all += count;
    }
    return all;
  }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<ChosenIterator>(selector_(), from_, stops_);
  }

  class ChosenIterator final : public Iterator {
   public:
    ChosenIterator(std::unique_ptr<Selector> selector, const std::vector<DatasetRef>& from,
                   bool stops)
        : selector_(std::move(selector)), stops_(stops) {
      for (const DatasetRef& d : from) open_.push_back(d->iterate());
    }

   private:
    bool take_next(Element& out) override {
      while (
          std::any_of(open_.begin(), open_.end(), [](const auto& it) { return it != nullptr; })) {
        const int64_t number = selector_->next();
        if (number < 0) break;
        if (number >= static_cast<int64_t>(open_.size())) {
          fail("Selector index out of range: ", number, " >= ", open_.size());
        }
        std::unique_ptr<Iterator>& from = open_[static_cast<size_t>(number)];
        if (from && from->next(out)) return true;
        from.reset();
        if (stops_) break;
      }
      for (auto& from : open_) from.reset();
      return false;
    }
    void save_state(StateWriter& to) override {
      selector_->save(to);
      for (const auto& from : open_) save_if(to, from.get());
    }
    void restore_state(StateReader& from) override {
      selector_->restore(from);
      for (auto& one : open_) one = restore_if(from, [&] { return std::move(one); });
    }

    std::unique_ptr<Selector> selector_;
    std::vector<std::unique_ptr<Iterator>> open_;
    bool stops_;
  };

  MakeSelector selector_;
  bool is_finite_;
  std::vector<DatasetRef> from_;
  bool stops_;
};

/// Seeds of its own for each pass, where it should be another one each time.
class PassSeeds {
 public:
  PassSeeds(Seeds seeds, bool again) : draws_(seeds), again_(again) {}
  Seeds next() {
    if (!again_) return draws_.seeds();
    const std::lock_guard hold(mutex_);
    const int64_t first = draws_.next();
    return {first, draws_.next()};
  }

 private:
  std::mutex mutex_;
  Draws draws_;
  bool again_;
};

}  // namespace

DatasetRef interleave(DatasetRef of, ToDataset function, int64_t cycle, int64_t block,
                      bool parallel) {
  return std::make_shared<Interleaved>(std::move(of), std::move(function), cycle, block, parallel);
}

DatasetRef choose(DatasetRef selector, std::vector<DatasetRef> from, bool stops) {
  return std::make_shared<Chosen>(
      "choose_from_datasets",
      [selector]() -> std::unique_ptr<Selector> {
        return std::make_unique<Named>(selector->iterate());
      },
      true, std::move(from), stops);
}

DatasetRef sample(std::vector<DatasetRef> from, std::vector<double> weights, Seeds seeds,
                  bool again, bool stops) {
  if (weights.size() != from.size()) {
    fail("[sample_from_datasets] ", from.size(), " datasets and ", weights.size(), " weights");
  }
  const auto passes = std::make_shared<PassSeeds>(seeds, again);
  return std::make_shared<Chosen>(
      "sample_from_datasets",
      [weights = std::move(weights), passes]() -> std::unique_ptr<Selector> {
        return std::make_unique<Drawn>(weights, passes->next());
      },
      false, std::move(from), stops);
}

}  // namespace tidemark::data
