// Several datasets as one, and elements kept or made ahead.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>

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
    class It final : public Iterator {
     public:
      It(std::unique_ptr<Iterator> first, DatasetRef second)
          : now_(std::move(first)), then_(std::move(second)) {}
      bool take_next(Element& out) override {
        if (now_->next(out)) return true;
        if (!then_) return false;
        now_ = std::exchange(then_, {})->iterate();
        return now_->next(out);
      }

     private:
      std::unique_ptr<Iterator> now_;
      DatasetRef then_;
    };
    return std::make_unique<It>(first_->iterate(), second_);
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
    class It final : public Iterator {
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
      std::vector<std::unique_ptr<Iterator>> all;
    };
    auto it = std::make_unique<It>();
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
  explicit Cached(DatasetRef of)
      : Dataset("cache"), of_(std::move(of)), kept_(std::make_shared<Kept>()) {}
  int64_t cardinality() const override { return of_->cardinality(); }
  std::unique_ptr<Iterator> start() const override { return std::make_unique<It>(of_, kept_); }

 private:
  class It final : public Iterator {
   public:
    It(DatasetRef of, std::shared_ptr<Kept> kept) : kept_(std::move(kept)) {
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
        return true;
      }
      if (from_) keep();
      return false;
    }

   private:
    void keep() {
      from_.reset();
      const std::lock_guard hold(kept_->mutex);
      if (kept_->is_whole) return;
      kept_->elements = std::move(mine_);
      kept_->is_whole = true;
    }
    std::shared_ptr<Kept> kept_;
    std::unique_ptr<Iterator> from_;
    std::vector<Held> mine_;
    size_t at_ = 0;
    bool reads_ = false;
  };

  DatasetRef of_;
  std::shared_ptr<Kept> kept_;
};

/// Elements made by a thread of its own, in order, up to a number of them ahead.
class Ahead final : public Iterator {
 public:
  Ahead(std::unique_ptr<Iterator> from, size_t most)
      : from_(std::move(from)), most_(most), thread_([this] { work(); }) {}
  ~Ahead() override {
    {
      const std::lock_guard hold(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }

  bool take_next(Element& out) override {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] { return !ready_.empty() || is_done_; });
    if (ready_.empty()) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return false;
    }
    out = ready_.front().take();
    ready_.pop_front();
    hold.unlock();
    changed_.notify_all();
    return true;
  }

 private:
  void work() {
    std::exception_ptr error;
    try {
      while (step()) {
      }
    } catch (...) {
      error = std::current_exception();
    }
    {
      const std::lock_guard hold(mutex_);
      is_done_ = true;
      error_ = error;
    }
    changed_.notify_all();
  }

  bool step() {
    {
      std::unique_lock hold(mutex_);
      changed_.wait(hold, [&] { return ready_.size() < most_ || is_stopping_; });
      if (is_stopping_) return false;
    }
    Element one;
    if (!from_->next(one)) return false;
    {
      const std::lock_guard hold(mutex_);
      if (is_stopping_) return false;
      ready_.emplace_back(store_, std::move(one));
    }
    changed_.notify_all();
    return true;
  }

  std::unique_ptr<Iterator> from_;
  size_t most_;
  std::mutex mutex_;
  std::condition_variable changed_;
  Store store_{memory::Holder::dataset_prefetch};
  std::deque<Held> ready_;
  std::exception_ptr error_;
  bool is_done_ = false, is_stopping_ = false;
  std::thread thread_;
};

class Prefetched final : public Dataset {
 public:
  Prefetched(DatasetRef of, int64_t count)
      : Dataset("prefetch"), of_(std::move(of)), count_(count) {}
  int64_t cardinality() const override { return of_->cardinality(); }
  std::unique_ptr<Iterator> start() const override {
    auto from = of_->iterate();
    if (count_ == 0) return from;
    return std::make_unique<Ahead>(std::move(from), static_cast<size_t>(count_ < 0 ? 2 : count_));
  }

 private:
  DatasetRef of_;
  int64_t count_;
};

}  // namespace

DatasetRef concatenate(DatasetRef first, DatasetRef second) {
  return std::make_shared<Concatenated>(std::move(first), std::move(second));
}
DatasetRef zip(std::vector<DatasetRef> all) { return std::make_shared<Zipped>(std::move(all)); }
DatasetRef cache(DatasetRef of) { return std::make_shared<Cached>(std::move(of)); }
DatasetRef prefetch(DatasetRef of, int64_t count) {
  return std::make_shared<Prefetched>(std::move(of), count);
}

}  // namespace tidemark::data
