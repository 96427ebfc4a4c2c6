// Several datasets as one, and elements kept or made ahead.
#include <tidemark/bytes.h>

#include <mutex>

#include "tidemark/data/ahead.h"
#include "tidemark/data/dataset.h"
#include "tidemark/data/held.h"

namespace tidemark::data {

namespace {

class Concatenated final : public Dataset {
 public:
  Concatenated(DatasetRef first, DatasetRef second)
      : Dataset("concatenate"), first_(std::move(first)), second_(std::move(second)) {}
  int64_t cardinality() const override {
    const int64_t a = first_->cardinality(), b = second_->cardinality();
    if (a == kInfinite || b == kInfinite) return kInfinite;
    return a < 0 || b < 0 ? kUnknown : a + b;
  }
  std::unique_ptr<Iterator> start() const override {
    class ConcatenatedIterator final : public Iterator {
     public:
      ConcatenatedIterator(std::unique_ptr<Iterator> first, DatasetRef second)
          : now_(std::move(first)), then_(std::move(second)) {}
      bool take_next(Element& out) override {
        if (now_->next(out)) return true;
        if (!then_) return false;
        now_ = std::exchange(then_, {})->iterate();
        return now_->next(out);
      }
      void save_state(StateWriter& to) override {
        to.number(then_ != nullptr);
        now_->save(to);
      }
      void restore_state(StateReader& from) override {
        const bool is_first = from.count(1);
        if (!is_first && then_) now_ = std::exchange(then_, {})->iterate();
        now_->restore(from);
      }

     private:
      std::unique_ptr<Iterator> now_;
      DatasetRef then_;
    };
    return std::make_unique<ConcatenatedIterator>(first_->iterate(), second_);
  }

 private:
  DatasetRef first_, second_;
};

class Zipped final : public Dataset {
 public:
  explicit Zipped(std::vector<DatasetRef> all) : Dataset("zip"), all_(std::move(all)) {
    if (all_.empty()) fail("[zip] at least one dataset is needed");
  }
  int64_t cardinality() const override {
    int64_t least = kInfinite;
    for (const DatasetRef& d : all_) {
      const int64_t count = d->cardinality();
      if (count == kUnknown) return kUnknown;
      if (count >= 0 && (least < 0 || count < least)) least = count;
    }
    return least;
  }
  std::unique_ptr<Iterator> start() const override {
    class ZippedIterator final : public Iterator {
     public:
      bool take_next(Element& out) override {
        Element joined, one;
        for (const auto& from : all) {
          if (!from->next(one)) return false;
          joined.insert(joined.end(), std::make_move_iterator(one.begin()),
                        std::make_move_iterator(one.end()));
          one.clear();
        }
        out = std::move(joined);
        return true;
      }
      void save_state(StateWriter& to) override {
        for (const auto& from : all) from->save(to);
      }
      void restore_state(StateReader& from) override {
        for (const auto& one : all) one->restore(from);
      }
      std::vector<std::unique_ptr<Iterator>> all;
    };
    auto it = std::make_unique<ZippedIterator>();
    for (const DatasetRef& d : all_) it->all.push_back(d->iterate());
    return it;
  }

 private:
  std::vector<DatasetRef> all_;
};

/// What a whole pass gave, shared by the iterators of one dataset.
struct Kept {
  std::mutex mutex;
  Store store{memory::Holder::dataset_cache};
  std::vector<Held> elements;
  bool is_whole = false;
};

class Cached final : public Dataset {
 public:
  Cached(DatasetRef of, int64_t most_bytes)
      : Dataset("cache"),
        of_(std::move(of)),
        kept_(std::make_shared<Kept>()),
        most_bytes_(most_bytes) {}
  int64_t cardinality() const override { return of_->cardinality(); }
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<CachedIterator>(of_, kept_, most_bytes_);
  }

 private:
  class CachedIterator final : public Iterator {
   public:
    CachedIterator(const DatasetRef& of, std::shared_ptr<Kept> kept, int64_t most_bytes)
        : source_(of), kept_(std::move(kept)), most_bytes_(most_bytes) {
      const std::lock_guard hold(kept_->mutex);
      reads_ = kept_->is_whole;
      if (!reads_) from_ = of->iterate();
    }
    bool take_next(Element& out) override {
      if (reads_) {
        const std::lock_guard hold(kept_->mutex);
        if (at_ >= kept_->elements.size()) return false;
        out = kept_->elements[at_++].element();
        return true;
      }
      if (from_ && from_->next(out)) {
        mine_.emplace_back(kept_->store, out, true);
        check_bytes();
        return true;
      }
      if (from_) keep();
      return false;
    }

   private:
    void check_bytes() {
      const int64_t bytes = kept_->store.bytes();
      if (most_bytes_ <= 0 || bytes <= most_bytes_) return;
      mine_.clear();
      from_.reset();
      fail<ResourceExhaustedError>("[cache] the elements take more than the ",
                                   format_bytes(most_bytes_),
                                   " of its memory_budget: ", format_bytes(bytes),
                                   " so far. Raise it, or keep them in a file: cache(\"name\")");
    }
    void keep() {
      from_.reset();
      const std::lock_guard hold(kept_->mutex);
      if (kept_->is_whole) return;
      kept_->elements = std::move(mine_);
      kept_->is_whole = true;
    }
    /// The elements are saved with it: another process has none.
    void save_state(StateWriter& to) override {
      const std::lock_guard hold(kept_->mutex);
      to.number(reads_);
      to.number(static_cast<int64_t>(at_));
      save_all(to, reads_ ? kept_->elements : mine_);
      save_if(to, from_.get());
    }
    void restore_state(StateReader& from) override {
      reads_ = from.count(1);
      at_ = static_cast<size_t>(from.count(kMostSaved));
      std::vector<Held> elements;
      restore_all(from, kept_->store, elements);
      from_ = restore_if(from, [&] { return source_->iterate(); });
      mine_.clear();
      if (!reads_) {
        mine_ = std::move(elements);
        return;
      }
      const std::lock_guard hold(kept_->mutex);
      if (!kept_->is_whole) kept_->elements = std::move(elements);
      kept_->is_whole = true;
    }

    DatasetRef source_;
    std::shared_ptr<Kept> kept_;
    int64_t most_bytes_;
    std::unique_ptr<Iterator> from_;
    std::vector<Held> mine_;
    size_t at_ = 0;
    bool reads_ = false;
  };

  DatasetRef of_;
  std::shared_ptr<Kept> kept_;
  int64_t most_bytes_;
};

class Prefetched final : public Dataset {
 public:
  Prefetched(DatasetRef of, int64_t count, int64_t most_bytes)
      : Dataset("prefetch"), of_(std::move(of)), count_(count), most_bytes_(most_bytes) {}
  int64_t cardinality() const override { return of_->cardinality(); }
  std::unique_ptr<Iterator> start() const override {
    auto from = of_->iterate();
    if (count_ == 0) return from;
    return made_ahead(std::move(from), static_cast<size_t>(count_ < 0 ? 2 : count_), most_bytes_);
  }

 private:
  DatasetRef of_;
  int64_t count_, most_bytes_;
};

}  // namespace

DatasetRef concatenate(DatasetRef first, DatasetRef second) {
  return std::make_shared<Concatenated>(std::move(first), std::move(second));
}
DatasetRef zip(std::vector<DatasetRef> all) { return std::make_shared<Zipped>(std::move(all)); }
DatasetRef cache(DatasetRef of, int64_t most_bytes) {
  return std::make_shared<Cached>(std::move(of), most_bytes);
}
DatasetRef prefetch(DatasetRef of, int64_t count, int64_t most_bytes) {
  return std::make_shared<Prefetched>(std::move(of), count, most_bytes);
}

}  // namespace tidemark::data
