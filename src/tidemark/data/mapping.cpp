// Elements computed from elements.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "tidemark/data/dataset.h"
#include "tidemark/data/held.h"
#include "tidemark/memory/context.h"

namespace tidemark::data {

namespace {

bool is_true(const Element& result, const char* what) {
  if (result.size() != 1 || result[0].num_elements() != 1 || result[0].dtype() != DType::bool_) {
    fail("[", what, "] the predicate must return one scalar of dtype bool");
  }
  return result[0].item<bool>();
}

class Mapped final : public Dataset {
 public:
  Mapped(DatasetRef of, Function function)
      : Dataset("map"), of_(std::move(of)), function_(std::move(function)) {}
  int64_t cardinality() const override { return of_->cardinality(); }
  std::unique_ptr<Iterator> start() const override {
    class It final : public Iterator {
     public:
      It(std::unique_ptr<Iterator> from, Function function)
          : from_(std::move(from)), function_(std::move(function)) {}
      bool take_next(Element& out) override {
        Element one;
        if (!from_->next(one)) return false;
        out = function_(std::move(one));
        return true;
      }
      int64_t leave_out(int64_t count) override { return from_->skip(count); }

     private:
      std::unique_ptr<Iterator> from_;
      Function function_;
    };
    return std::make_unique<It>(of_->iterate(), function_);
  }

 private:
  DatasetRef of_;
  Function function_;
};

/// Several elements computed at the same time, given in order.
class InParallel final : public Iterator {
 public:
  InParallel(std::unique_ptr<Iterator> from, Function function, size_t parallel)
      : from_(std::move(from)), function_(std::move(function)), most_(2 * parallel) {
    for (size_t i = 0; i < parallel; ++i) threads_.emplace_back([this] { work(); });
  }
  ~InParallel() override {
    {
      const std::lock_guard hold(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
  }

  bool take_next(Element& out) override {
    std::unique_lock hold(mutex_);
    changed_.wait(hold, [&] {
      return (!slots_.empty() && slots_.front()->is_done) || (is_drained_ && slots_.empty());
    });
    if (slots_.empty()) {
      if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
      return false;
    }
    const std::shared_ptr<Slot> slot = std::move(slots_.front());
    slots_.pop_front();
    hold.unlock();
    changed_.notify_all();
    if (slot->error) std::rethrow_exception(slot->error);
    out = slot->held->take();
    return true;
  }

 private:
  struct Slot {
    Element element;
    std::optional<Held> held;
    std::exception_ptr error;
    bool is_done = false;
  };

  void work() {
    memory::thread_context.site = site_;
    memory::thread_context.op = "map";
    while (true) {
      std::unique_lock hold(mutex_);
      changed_.wait(hold, [&] { return is_stopping_ || is_drained_ || slots_.size() < most_; });
      if (is_stopping_ || is_drained_) return;
      auto slot = std::make_shared<Slot>();
      // The source is asked by one thread at a time, so that elements keep their order.
      try {
        if (!from_->next(slot->element)) is_drained_ = true;
      } catch (...) {
        error_ = std::current_exception();
        is_drained_ = true;
      }
      if (is_drained_) {
        hold.unlock();
        changed_.notify_all();
        return;
      }
      slots_.push_back(slot);
      hold.unlock();
      try {
        slot->held.emplace(store_, function_(std::move(slot->element)));
      } catch (...) {
        slot->error = std::current_exception();
      }
      hold.lock();
      slot->is_done = true;
      hold.unlock();
      changed_.notify_all();
    }
  }

  std::unique_ptr<Iterator> from_;
  Function function_;
  size_t most_;
  memory::Site* site_ = memory::thread_context.site;
  Store store_{memory::Holder::dataset};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Slot>> slots_;
  std::exception_ptr error_;
  bool is_drained_ = false, is_stopping_ = false;
  std::vector<std::thread> threads_;
};

class MappedInParallel final : public Dataset {
 public:
  MappedInParallel(DatasetRef of, Function function, int64_t parallel)
      : Dataset("map"), of_(std::move(of)), function_(std::move(function)), parallel_(parallel) {}
  int64_t cardinality() const override { return of_->cardinality(); }
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<InParallel>(of_->iterate(), function_, static_cast<size_t>(parallel_));
  }

 private:
  DatasetRef of_;
  Function function_;
  int64_t parallel_;
};

class Filtered final : public Dataset {
 public:
  Filtered(DatasetRef of, Function predicate, bool stops)
      : Dataset("filter"), of_(std::move(of)), predicate_(std::move(predicate)), stops_(stops) {}
  int64_t cardinality() const override {
    const int64_t all = of_->cardinality();
    return all == 0 ? 0 : kUnknown;
  }
  std::unique_ptr<Iterator> start() const override {
    class It final : public Iterator {
     public:
      It(std::unique_ptr<Iterator> from, Function predicate, bool stops)
          : from_(std::move(from)), predicate_(std::move(predicate)), stops_(stops) {}
      bool take_next(Element& out) override {
        while (from_ && from_->next(out)) {
          if (is_true(predicate_(Element(out)), stops_ ? "take_while" : "filter")) return true;
          if (stops_) from_.reset();
        }
        return false;
      }

     private:
      std::unique_ptr<Iterator> from_;
      Function predicate_;
      bool stops_;
    };
    return std::make_unique<It>(of_->iterate(), predicate_, stops_);
  }

 private:
  DatasetRef of_;
  Function predicate_;
  bool stops_;
};

class Interleaved final : public Dataset {
 public:
  Interleaved(DatasetRef of, ToDataset function, int64_t cycle, int64_t block)
      : Dataset("interleave"),
        of_(std::move(of)),
        function_(std::move(function)),
        cycle_(cycle),
        block_(block) {
    if (cycle < 1) fail("[interleave] cycle_length must be positive; given was ", cycle);
    if (block < 1) fail("[interleave] block_length must be positive; given was ", block);
  }
  int64_t cardinality() const override { return of_->cardinality() == 0 ? 0 : kUnknown; }
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<It>(*this, of_->iterate());
  }

 private:
  class It final : public Iterator {
   public:
    It(const Interleaved& of, std::unique_ptr<Iterator> from)
        : function_(of.function_),
          block_(of.block_),
          from_(std::move(from)),
          open_(static_cast<size_t>(of.cycle_)) {}
    bool take_next(Element& out) override {
      while (true) {
        if (!open_[at_]) open_[at_] = next_source();
        if (open_[at_]) {
          if (open_[at_]->next(out)) {
            if (++given_ == block_) advance();
            return true;
          }
          open_[at_].reset();  // the next source takes this place when its turn comes
        }
        if (is_over()) return false;
        advance();
      }
    }

   private:
    std::unique_ptr<Iterator> next_source() {
      Element one;
      if (!from_) return {};
      if (!from_->next(one)) {
        from_.reset();
        return {};
      }
      return function_(std::move(one))->iterate();
    }
    void advance() {
      at_ = (at_ + 1) % open_.size();
      given_ = 0;
    }
    bool is_over() const {
      return !from_ && std::none_of(open_.begin(), open_.end(),
                                    [](const auto& it) { return static_cast<bool>(it); });
    }
    ToDataset function_;
    int64_t block_;
    std::unique_ptr<Iterator> from_;
    std::vector<std::unique_ptr<Iterator>> open_;
    size_t at_ = 0;
    int64_t given_ = 0;
  };

  DatasetRef of_;
  ToDataset function_;
  int64_t cycle_, block_;
};

}  // namespace

DatasetRef map(DatasetRef of, Function function, int64_t parallel) {
  if (parallel <= 1) return std::make_shared<Mapped>(std::move(of), std::move(function));
  return std::make_shared<MappedInParallel>(std::move(of), std::move(function), parallel);
}
DatasetRef filter(DatasetRef of, Function predicate) {
  return std::make_shared<Filtered>(std::move(of), std::move(predicate), false);
}
DatasetRef take_while(DatasetRef of, Function predicate) {
  return std::make_shared<Filtered>(std::move(of), std::move(predicate), true);
}
DatasetRef interleave(DatasetRef of, ToDataset function, int64_t cycle, int64_t block) {
  return std::make_shared<Interleaved>(std::move(of), std::move(function), cycle, block);
}

}  // namespace tidemark::data
