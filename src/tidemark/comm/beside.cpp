#include "tidemark/comm/beside.h"

#include "tidemark/base/threads.h"

namespace tidemark::comm {

Beside::~Beside() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

bool Beside::is_here() const {
  const std::lock_guard lock(mutex_);
  return thread_.get_id() == std::this_thread::get_id();
}

uint64_t Beside::start(std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  if (!thread_.joinable()) {
    thread_ = start_thread("a group of workers", [this] { this->work(); });
  }
  waiting_.push_back(std::move(work));
  changed_.notify_all();
  return ++begun_;
}

void Beside::work() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return stops_ || !waiting_.empty(); });
    if (waiting_.empty()) return;
    const std::function<void()> next = std::move(waiting_.front());
    waiting_.pop_front();
    if (!failure_) {
      lock.unlock();
      std::exception_ptr failure;
      try {
        next();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      failure_ = failure;
    }
    ++done_;
    changed_.notify_all();
  }
}

void Beside::wait(std::unique_lock<std::mutex>& lock, uint64_t ticket) {
  wait_stoppably(changed_, lock, [&] { return done_ >= ticket; });
}

void Beside::finish(uint64_t ticket) {
  std::unique_lock lock(mutex_);
  wait(lock, ticket);
  if (failure_) std::rethrow_exception(failure_);
}

void Beside::settle() {
  std::unique_lock lock(mutex_);
  if (begun_ == done_ || thread_.get_id() == std::this_thread::get_id()) return;
  wait(lock, begun_);
}

}  // namespace tidemark::comm
