// Elements computed from elements.
#include <algorithm>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "tidemark/data/dataset.h"
#include "tidemark/data/held.h"
#include "tidemark/data/threaded.h"
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

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<MappedIterator>(of_->iterate(), function_);
  }

  class MappedIterator final : public Iterator {
   public:
    MappedIterator(std::unique_ptr<Iterator> from, Function function)
        : from_(std::move(from)), function_(std::move(function)) {}

   private:
    bool take_next(Element& out) override {
      Element one;
      if (!from_->next(one)) return false;
      out = function_(std::move(one));
      return true;
    }
    int64_t leave_out(int64_t count) override { return from_->skip(count); }
    void save_state(StateWriter& to) override { from_->save(to); }
    void restore_state(StateReader& from) override { from_->restore(from); }

    std::unique_ptr<Iterator> from_;
    Function function_;
  };

  DatasetRef of_;
  Function function_;
};

thread_local bool is_order_open = false;  // while iterators are started inside of `in_any_order`

/// Several elements computed at the same time, given in order or as they are ready. An error takes
/// the place of an element: what comes after it can still be asked for.
class InParallel final {
 public:
  InParallel(std::unique_ptr<Iterator> from, Function function, size_t parallel, bool in_order)
      : from_(std::move(from)),
        function_(std::move(function)),
        parallel_(parallel),
        in_order_(in_order) {
    begin();
  }
  ~InParallel() {
    is_given_up_ = true;
    stop();
  }
  InParallel(const InParallel&) = delete;

  bool take_next(Element& out) {
    if (threads_.empty()) begin();  // there were none before
    std::unique_lock hold(mutex_);
    auto ready = slots_.end();
    wait_stoppably(changed_, hold, [&] {
      ready = next_ready();
      return ready != slots_.end() || (is_drained_ && slots_.empty());
    });
    if (slots_.empty()) return false;
    const std::shared_ptr<Slot> slot = std::move(*ready);
    slots_.erase(ready);
    hold.unlock();
    changed_.notify_all();
    if (slot->error) std::rethrow_exception(slot->error);
    out = slot->held->take();
    return true;
  }

  /// The threads end at once afterwards and begin anew, whether it was saved or not.
  void save_state(StateWriter& to) {
    stop();
    std::exception_ptr failed;
    try {
      save_stopped(to);
    } catch (...) {
      failed = std::current_exception();
    }
    begin();
    if (failed) std::rethrow_exception(failed);
  }
  void restore_state(StateReader& from) {
    is_given_up_ = true;
    stop();
    slots_.clear();
    for (int64_t left = from.count(kMostSaved); left > 0; --left) {
      auto slot = std::make_shared<Slot>();
      slot->held.emplace(store_, from.element());
      slot->is_done = true;
      slots_.push_back(std::move(slot));
    }
    is_drained_ = from.count(1);
    from_->restore(from);
    begin();
  }

 private:
  struct Slot {
    Element element;  // what it is computed of
    std::optional<Held> held;
    std::exception_ptr error;
    bool is_done = false;
  };

  std::deque<std::shared_ptr<Slot>>::iterator next_ready() {
    const auto is_done = [](const std::shared_ptr<Slot>& slot) { return slot->is_done; };
    if (!in_order_) return std::find_if(slots_.begin(), slots_.end(), is_done);
    return !slots_.empty() && is_done(slots_.front()) ? slots_.begin() : slots_.end();
  }

  /// With one thread, and as many more as the system has.
  void begin() {
    is_stopping_ = is_given_up_ = false;
    threads_.push_back(start_thread("a pipeline", [this] { work(); }));
    try {
      while (threads_.size() < parallel_) {
        threads_.push_back(start_thread("a pipeline", [this] { work(); }));
      }
    } catch (const ResourceExhaustedError&) {
    }
  }
  /// Waits for what is being computed.
  void stop() {
    {
      const std::lock_guard hold(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& t : threads_) t.join();
    threads_.clear();
  }

  void work() {
    const InterruptScope scope(interrupt_);
    memory::thread_context.site = site_;
    memory::thread_context.op = "map";
    while (const std::shared_ptr<Slot> slot = ask()) {
      if (!slot->error) {
        try {
          slot->held.emplace(store_, function_(std::move(slot->element)));
        } catch (...) {
          slot->error = std::current_exception();
        }
      }
      {
        const std::lock_guard hold(mutex_);
        slot->is_done = true;
      }
      changed_.notify_all();
    }
    changed_.notify_all();
  }

  /// The next element's slot, in order: the source is asked by one thread at a time. Null: enough.
  std::shared_ptr<Slot> ask() {
    const std::lock_guard asking(source_mutex_);
    {
      std::unique_lock hold(mutex_);
      changed_.wait(hold,
                    [&] { return is_stopping_ || is_drained_ || slots_.size() < 2 * parallel_; });
      if (is_stopping_ || is_drained_) return nullptr;
    }
    auto slot = std::make_shared<Slot>();
    bool is_at_end = false;
    try {
      is_at_end = !from_->next(slot->element);
    } catch (...) {
      slot->error = std::current_exception();
    }
    const std::lock_guard hold(mutex_);
    is_drained_ = is_at_end;
    if (is_at_end) return nullptr;
    slots_.push_back(slot);
    return slot;
  }

  void save_stopped(StateWriter& to) {
    to.number(static_cast<int64_t>(slots_.size()));
    for (const auto& slot : slots_) {
      if (slot->error) std::rethrow_exception(slot->error);
      to.element(slot->held->element());
    }
    to.number(is_drained_);
    from_->save(to);
  }

  std::unique_ptr<Iterator> from_;
  Function function_;
  size_t parallel_;
  bool in_order_;
  memory::Site* site_ = memory::thread_context.site;
  Store store_{memory::Holder::dataset};
  std::mutex source_mutex_;  // is taken before `mutex_`
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Slot>> slots_;
  bool is_drained_ = false, is_stopping_ = false;
  std::atomic<bool> is_given_up_{false};  // nobody will ask for what is being computed
  const Interrupt interrupt_ = cancelled_by(is_given_up_);
  std::vector<std::thread> threads_;
};

class MappedInParallel final : public Dataset {
 public:
  MappedInParallel(DatasetRef of, Function function, int64_t parallel, Order order)
      : Dataset("map"),
        of_(std::move(of)),
        function_(std::move(function)),
        parallel_(parallel),
        order_(order) {}
  int64_t cardinality() const override { return of_->cardinality(); }

 private:
  std::unique_ptr<Iterator> start() const override {
    const bool in_order = order_ == Order::usual ? !is_order_open : order_ == Order::kept;
    return std::make_unique<OfThisProcess<InParallel>>(std::make_unique<InParallel>(
        of_->iterate(), function_, static_cast<size_t>(parallel_), in_order));
  }

  DatasetRef of_;
  Function function_;
  int64_t parallel_;
  Order order_;
};

class InAnyOrder final : public Dataset {
 public:
  explicit InAnyOrder(DatasetRef of) : Dataset("options"), of_(std::move(of)) {}
  int64_t cardinality() const override { return of_->cardinality(); }

 private:
  struct Open {
    bool before = std::exchange(is_order_open, true);
    ~Open() { is_order_open = before; }
  };

  std::unique_ptr<Iterator> start() const override {
    const Open open;
    return of_->iterate();
  }

  DatasetRef of_;
};

class Filtered final : public Dataset {
 public:
  Filtered(DatasetRef of, Function predicate, bool stops)
      : Dataset("filter"), of_(std::move(of)), predicate_(std::move(predicate)), stops_(stops) {}
  int64_t cardinality() const override { return of_->cardinality() == 0 ? 0 : kUnknown; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<FilteredIterator>(of_->iterate(), predicate_, stops_);
  }

  class FilteredIterator final : public Iterator {
   public:
    FilteredIterator(std::unique_ptr<Iterator> from, Function predicate, bool stops)
        : from_(std::move(from)), predicate_(std::move(predicate)), stops_(stops) {}

   private:
    bool take_next(Element& out) override {
      while (from_ && from_->next(out)) {
        if (is_true(predicate_(Element(out)), stops_ ? "take_while" : "filter")) return true;
        if (stops_) from_.reset();
      }
      return false;
    }
    void save_state(StateWriter& to) override { save_if(to, from_.get()); }
    void restore_state(StateReader& from) override {
      from_ = restore_if(from, [&] { return std::move(from_); });
    }

    std::unique_ptr<Iterator> from_;
    Function predicate_;
    bool stops_;
  };

  DatasetRef of_;
  Function predicate_;
  bool stops_;
};

/// What computes to an error is left out.
class ErrorIgnoring final : public Dataset {
 public:
  ErrorIgnoring(DatasetRef of, std::function<void(const std::exception_ptr&)> note)
      : Dataset("ignore_errors"), of_(std::move(of)), note_(std::move(note)) {}
  int64_t cardinality() const override { return of_->cardinality() == 0 ? 0 : kUnknown; }

 private:
  std::unique_ptr<Iterator> start() const override {
    return std::make_unique<ErrorIgnoringIterator>(of_->iterate(), note_);
  }

  class ErrorIgnoringIterator final : public Iterator {
   public:
    ErrorIgnoringIterator(std::unique_ptr<Iterator> from,
                          std::function<void(const std::exception_ptr&)> note)
        : from_(std::move(from)), note_(std::move(note)) {}

   private:
    bool take_next(Element& out) override {
      while (true) {
        try {
          return from_->next(out);
        } catch (const std::exception&) {  // what is none, such as Ctrl-C, stops the iteration
          if (note_) note_(std::current_exception());
        }
      }
    }
    void save_state(StateWriter& to) override { from_->save(to); }
    void restore_state(StateReader& from) override { from_->restore(from); }

    std::unique_ptr<Iterator> from_;
    std::function<void(const std::exception_ptr&)> note_;
  };

  DatasetRef of_;
  std::function<void(const std::exception_ptr&)> note_;
};

}  // namespace

DatasetRef map(DatasetRef of, Function function, int64_t parallel, Order order) {
  function = on_host(std::move(function));
  if (parallel <= 1) return std::make_shared<Mapped>(std::move(of), std::move(function));
  return std::make_shared<MappedInParallel>(std::move(of), std::move(function), parallel, order);
}
DatasetRef in_any_order(DatasetRef of) { return std::make_shared<InAnyOrder>(std::move(of)); }
DatasetRef filter(DatasetRef of, Function predicate) {
  return std::make_shared<Filtered>(std::move(of), on_host(std::move(predicate)), false);
}
DatasetRef take_while(DatasetRef of, Function predicate) {
  return std::make_shared<Filtered>(std::move(of), on_host(std::move(predicate)), true);
}
DatasetRef ignore_errors(DatasetRef of, std::function<void(const std::exception_ptr&)> note) {
  return std::make_shared<ErrorIgnoring>(std::move(of), std::move(note));
}

}  // namespace tidemark::data
