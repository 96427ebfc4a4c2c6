#include "tidemark/data/ahead.h"

#include <deque>
#include <exception>

#include "tidemark/data/held.h"
#include "tidemark/data/threaded.h"

namespace tidemark::data {

namespace {

/// An error takes the place of an element: what comes after it can still be asked for.
class Ahead final {
 public:
  Ahead(std::unique_ptr<Iterator> from, size_t most, int64_t most_bytes)
      : from_(std::move(from)), most_(most), most_bytes_(most_bytes) {
    begin();
  }
  ~Ahead() { stop(); }
  Ahead(const Ahead&) = delete;

  bool take_next(Element& out) {
    if (!thread_.joinable()) begin();  // there was none before
    std::unique_lock hold(mutex_);
    wait_stoppably(changed_, hold, [&] { return !ready_.empty() || is_done_; });
    if (ready_.empty()) return false;
    Ready next = std::move(ready_.front());
    ready_.pop_front();
    if (!next.error) out = next.held.take();  // no longer ours when the maker looks
    hold.unlock();
    changed_.notify_all();
    if (next.error) std::rethrow_exception(next.error);
    return true;
  }

  /// Nothing is under way while the source is ours: all that it gave is among the ready ones.
  void save_state(StateWriter& to) {
    const std::lock_guard asking(source_mutex_);
    const std::lock_guard hold(mutex_);
    to.number(static_cast<int64_t>(ready_.size()));
    for (const Ready& one : ready_) {
      if (one.error) std::rethrow_exception(one.error);
      to.element(one.held.element());
    }
    to.number(is_at_end_);
    from_->save(to);
  }

  void restore_state(StateReader& from) {
    stop();
    ready_.clear();
    for (int64_t left = from.count(kMostSaved); left > 0; --left) {
      ready_.push_back({Held(store_, from.element()), nullptr});
    }
    is_at_end_ = from.count(1);
    from_->restore(from);
    begin();
  }

 private:
  struct Ready {
    Held held;
    std::exception_ptr error;
  };

  void work() {
    const InterruptScope scope(interrupt_);
    while (step()) changed_.notify_all();
    {
      const std::lock_guard hold(mutex_);
      is_done_ = true;
    }
    changed_.notify_all();
  }

  bool has_room() const { return ready_.size() < most_ && store_.has_room(most_bytes_); }

  bool step() {
    {
      std::unique_lock hold(mutex_);
      changed_.wait(hold, [&] { return has_room() || is_stopping_; });
      if (is_stopping_) return false;
    }
    const std::lock_guard asking(source_mutex_);
    Element one;
    std::exception_ptr error;
    try {
      is_at_end_ = is_at_end_ || !from_->next(one);
    } catch (...) {
      error = std::current_exception();
    }
    if (is_at_end_) return false;
    const std::lock_guard hold(mutex_);
    if (is_stopping_) return false;
    ready_.push_back({Held(store_, std::move(one)), error});
    return true;
  }

  void begin() {
    is_done_ = is_stopping_ = false;
    thread_ = start_thread("a pipeline", [this] { work(); });
  }
  /// What is being made is given up.
  void stop() {
    {
      const std::lock_guard hold(mutex_);
      is_stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::unique_ptr<Iterator> from_;
  size_t most_;
  int64_t most_bytes_;
  std::mutex source_mutex_;  // is taken before `mutex_`
  bool is_at_end_ = false;   // with the source
  std::mutex mutex_;
  std::condition_variable changed_;
  Store store_{memory::Holder::dataset_prefetch};
  std::deque<Ready> ready_;
  bool is_done_ = false;
  std::atomic<bool> is_stopping_{false};  // changed with the mutex held
  const Interrupt interrupt_ = cancelled_by(is_stopping_);
  std::thread thread_;
};

}  // namespace

std::unique_ptr<Iterator> made_ahead(std::unique_ptr<Iterator> from, size_t most,
                                     int64_t most_bytes) {
  return std::make_unique<OfThisProcess<Ahead>>(
      std::make_unique<Ahead>(std::move(from), most, most_bytes));
}

}  // namespace tidemark::data
