// Which elements, how often, in which order.
#include <algorithm>
#include <mutex>

#include "tidemark/data/dataset.h"
#include "tidemark/data/held.h"

namespace tidemark::data {

namespace {

/// A generator of its own for each shuffle: SplitMix64.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// Below `bound`, without bias.
  uint64_t below(uint64_t bound) {
    const uint64_t limit = ~uint64_t{0} - ~uint64_t{0} % bound;
    uint64_t drawn = next();
    while (drawn >= limit) drawn = next();
    return drawn % bound;
  }

 private:
  uint64_t state_;
};

class Shuffled final : public Dataset {
 public:
  Shuffled(DatasetRef of, int64_t buffer, uint64_t seed, bool again)
      : Dataset("shuffle"), of_(std::move(of)), buffer_(buffer), seed_(seed), again_(again) {
    if (buffer <= 0) fail("[shuffle] buffer_size must be positive; given was ", buffer);
  }
  int64_t cardinality() const override { return of_->cardinality(); }
  std::unique_ptr<Iterator> start() const override {
    uint64_t seed = seed_;
    if (again_) {
      const std::lock_guard hold(mutex_);
      seed += rounds_++ * 0x9e3779b97f4a7c15u;
    }
    return std::make_unique<It>(of_->iterate(), buffer_, seed);
  }

 private:
  class It final : public Iterator {
   public:
    It(std::unique_ptr<Iterator> from, int64_t buffer, uint64_t seed)
        : from_(std::move(from)), most_(static_cast<size_t>(buffer)), random_(seed) {}
    bool take_next(Element& out) override {
      Element one;
      while (!is_drained_ && held_.size() < most_) {
        if (!from_->next(one)) {
          is_drained_ = true;
          break;
        }
        held_.emplace_back(store_, std::move(one));
        one.clear();
      }
      if (held_.empty()) return false;
      std::swap(held_[random_.below(held_.size())], held_.back());
      out = held_.back().take();
      held_.pop_back();
      return true;
    }

   private:
    std::unique_ptr<Iterator> from_;
    size_t most_;
    Random random_;
    Store store_{memory::Holder::dataset_shuffle};
    std::vector<Held> held_;
    bool is_drained_ = false;
  };

  DatasetRef of_;
  int64_t buffer_;
  uint64_t seed_;
  bool again_;
  mutable std::mutex mutex_;
  mutable uint64_t rounds_ = 0;
};

class Repeated final : public Dataset {
 public:
  Repeated(DatasetRef of, int64_t count) : Dataset("repeat"), of_(std::move(of)), count_(count) {}
  int64_t cardinality() const override {
    const int64_t each = of_->cardinality();
    if (count_ == 0 || each == 0) return 0;
    if (count_ < 0) return kInfinite;
    return each < 0 ? each : each * count_;
  }
  std::unique_ptr<Iterator> start() const override {
    class It final : public Iterator {
     public:
      It(DatasetRef of, int64_t count) : of_(std::move(of)), left_(count) {}
      bool take_next(Element& out) override {
        while (true) {
          if (!now_) {
            if (left_ == 0) return false;
            if (left_ > 0) --left_;
            now_ = of_->iterate();
            gave_ = false;
          }
          if (now_->next(out)) {
            gave_ = true;
            return true;
          }
          now_.reset();
          if (!gave_ && left_ < 0) return false;  // nothing, without end
        }
      }

     private:
      DatasetRef of_;
      int64_t left_;
      std::unique_ptr<Iterator> now_;
      bool gave_ = false;
    };
    return std::make_unique<It>(of_, count_);
  }

 private:
  DatasetRef of_;
  int64_t count_;
};

class Taken final : public Dataset {
 public:
  Taken(DatasetRef of, int64_t count) : Dataset("take"), of_(std::move(of)), count_(count) {}
  int64_t cardinality() const override {
    const int64_t all = of_->cardinality();
    if (count_ < 0 || all == kUnknown) return all;
    return all == kInfinite ? count_ : std::min(all, count_);
  }
  std::unique_ptr<Iterator> start() const override {
    class It final : public Iterator {
     public:
      It(std::unique_ptr<Iterator> from, int64_t count) : from_(std::move(from)), left_(count) {}
      bool take_next(Element& out) override {
        if (left_ == 0 || !from_ || !from_->next(out)) {
          from_.reset();
          return false;
        }
        if (left_ > 0) --left_;
        return true;
      }

     private:
      std::unique_ptr<Iterator> from_;
      int64_t left_;
    };
    return std::make_unique<It>(of_->iterate(), count_);
  }

 private:
  DatasetRef of_;
  int64_t count_;
};

class Skipped final : public Dataset {
 public:
  Skipped(DatasetRef of, int64_t count) : Dataset("skip"), of_(std::move(of)), count_(count) {}
  int64_t cardinality() const override {
    const int64_t all = of_->cardinality();
    if (count_ < 0) return 0;
    return all < 0 ? all : std::max<int64_t>(0, all - count_);
  }
  std::unique_ptr<Iterator> start() const override {
    auto from = of_->iterate();
    if (count_ < 0) return taken_none(std::move(from));
    class It final : public Iterator {
     public:
      It(std::unique_ptr<Iterator> from, int64_t count) : from_(std::move(from)), count_(count) {}
      bool take_next(Element& out) override {
        if (count_ > 0) from_->skip(std::exchange(count_, 0));
        return from_->next(out);
      }
      int64_t take_block(int64_t count, Element& out) override {
        if (count_ > 0) from_->skip(std::exchange(count_, 0));
        return from_->next_block(count, out);
      }

     private:
      std::unique_ptr<Iterator> from_;
      int64_t count_;
    };
    return std::make_unique<It>(std::move(from), count_);
  }

 private:
  static std::unique_ptr<Iterator> taken_none(std::unique_ptr<Iterator>) {
    class None final : public Iterator {
      bool take_next(Element&) override { return false; }
    };
    return std::make_unique<None>();
  }
  DatasetRef of_;
  int64_t count_;
};

class Sharded final : public Dataset {
 public:
  Sharded(DatasetRef of, int64_t every, int64_t index)
      : Dataset("shard"), of_(std::move(of)), every_(every), index_(index) {
    if (every < 1 || index < 0 || index >= every) {
      fail("[shard] index must be in [0, num_shards); given were ", index, " and ", every);
    }
  }
  int64_t cardinality() const override {
    const int64_t all = of_->cardinality();
    return all < 0 ? all : std::max<int64_t>(0, (all - index_ + every_ - 1) / every_);
  }
  std::unique_ptr<Iterator> start() const override {
    class It final : public Iterator {
     public:
      It(std::unique_ptr<Iterator> from, int64_t every, int64_t index)
          : from_(std::move(from)), every_(every), ahead_(index) {}
      bool take_next(Element& out) override {
        from_->skip(std::exchange(ahead_, every_ - 1));
        return from_->next(out);
      }

     private:
      std::unique_ptr<Iterator> from_;
      int64_t every_, ahead_;
    };
    return std::make_unique<It>(of_->iterate(), every_, index_);
  }

 private:
  DatasetRef of_;
  int64_t every_, index_;
};

}  // namespace

DatasetRef shuffle(DatasetRef of, int64_t buffer, uint64_t seed, bool again) {
  return std::make_shared<Shuffled>(std::move(of), buffer, seed, again);
}
DatasetRef repeat(DatasetRef of, int64_t count) {
  return std::make_shared<Repeated>(std::move(of), count);
}
DatasetRef take(DatasetRef of, int64_t count) {
  return std::make_shared<Taken>(std::move(of), count);
}
DatasetRef skip(DatasetRef of, int64_t count) {
  return std::make_shared<Skipped>(std::move(of), count);
}
DatasetRef shard(DatasetRef of, int64_t every, int64_t index) {
  return std::make_shared<Sharded>(std::move(of), every, index);
}

}  // namespace tidemark::data
