// Which elements, how often, in which order.
#include <algorithm>

#include "tidemark/data/dataset.h"
#include "tidemark/data/state.h"

namespace tidemark::data {

namespace {

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
    class RepeatedIterator final : public Iterator {
     public:
      RepeatedIterator(DatasetRef of, int64_t count) : of_(std::move(of)), left_(count) {}
      bool take_next(Element& out) override {
        while (true) {
          if (!now_ && !begin()) return false;
          if (now_->next(out)) {
            gave_ = true;
            return true;
          }
          now_.reset();
          if (!gave_ && left_ < 0) return false;  // nothing, without end
        }
      }
      bool begin() {
        if (left_ == 0) return false;
        if (left_ > 0) --left_;
        now_ = of_->iterate();
        gave_ = false;
        return true;
      }
      /// Between two passes the next one begins, so that its order is saved, too.
      void save_state(StateWriter& to) override {
        if (!now_) begin();
        to.number(left_);
        to.number(gave_);
        save_if(to, now_.get());
      }
      void restore_state(StateReader& from) override {
        left_ = from.number();
        gave_ = from.count(1);
        now_ = restore_if(from, [&] { return of_->iterate(); });
      }

     private:
      DatasetRef of_;
      int64_t left_;
      std::unique_ptr<Iterator> now_;
      bool gave_ = false;
    };
    return std::make_unique<RepeatedIterator>(of_, count_);
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
    class TakenIterator final : public Iterator {
     public:
      TakenIterator(std::unique_ptr<Iterator> from, int64_t count)
          : from_(std::move(from)), left_(count) {}
      bool take_next(Element& out) override {
        if (left_ == 0 || !from_ || !from_->next(out)) {
          from_.reset();
          return false;
        }
        if (left_ > 0) --left_;
        return true;
      }
      int64_t leave_out(int64_t count) override {
        if (!from_) return 0;
        const int64_t taken = from_->skip(left_ < 0 ? count : std::min(count, left_));
        if (left_ > 0) left_ -= taken;
        return taken;
      }
      void save_state(StateWriter& to) override {
        to.number(left_);
        save_if(to, from_.get());
      }
      void restore_state(StateReader& from) override {
        left_ = from.number();
        from_ = restore_if(from, [&] { return std::move(from_); });
      }

     private:
      std::unique_ptr<Iterator> from_;
      int64_t left_;
    };
    return std::make_unique<TakenIterator>(of_->iterate(), count_);
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
    class SkippedIterator final : public Iterator {
     public:
      SkippedIterator(std::unique_ptr<Iterator> from, int64_t count)
          : from_(std::move(from)), count_(count) {}
      bool take_next(Element& out) override {
        if (count_ > 0) from_->skip(std::exchange(count_, 0));
        return from_->next(out);
      }
      int64_t take_block(int64_t count, Element& out) override {
        if (count_ > 0) from_->skip(std::exchange(count_, 0));
        return from_->next_block(count, out);
      }
      void save_state(StateWriter& to) override {
        to.number(count_);
        from_->save(to);
      }
      void restore_state(StateReader& from) override {
        count_ = from.number();
        from_->restore(from);
      }

     private:
      std::unique_ptr<Iterator> from_;
      int64_t count_;
    };
    return std::make_unique<SkippedIterator>(std::move(from), count_);
  }

 private:
  static std::unique_ptr<Iterator> taken_none(std::unique_ptr<Iterator>) {
    class EmptyIterator final : public Iterator {
      bool take_next(Element&) override { return false; }
      void save_state(StateWriter&) override {}
      void restore_state(StateReader&) override {}
    };
    return std::make_unique<EmptyIterator>();
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
    class ShardedIterator final : public Iterator {
     public:
      ShardedIterator(std::unique_ptr<Iterator> from, int64_t every, int64_t index)
          : from_(std::move(from)), every_(every), ahead_(index) {}
      bool take_next(Element& out) override {
        from_->skip(std::exchange(ahead_, every_ - 1));
        return from_->next(out);
      }
      void save_state(StateWriter& to) override {
        to.number(ahead_);
        from_->save(to);
      }
      void restore_state(StateReader& from) override {
        ahead_ = from.number();
        from_->restore(from);
      }

     private:
      std::unique_ptr<Iterator> from_;
      int64_t every_, ahead_;
    };
    return std::make_unique<ShardedIterator>(of_->iterate(), every_, index_);
  }

 private:
  DatasetRef of_;
  int64_t every_, index_;
};

}  // namespace

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
