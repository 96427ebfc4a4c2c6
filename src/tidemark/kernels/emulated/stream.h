// The queue of the emulated device: one thread that does what it is given in order, as late as it
// was told to.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "tidemark/base/backend.h"

namespace tidemark::emulated {

class EmulatedStream final : public Stream {
 public:
  /// `delta`: from an address of the device to where the worker finds it.
  EmulatedStream(std::ptrdiff_t delta, int64_t delay_microseconds);

  void copy_in(void* device, const void* host, size_t bytes) override;
  void copy_out(void* host, const void* device, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;
  void run(QueuedKernel&& kernel) override;
  Moment now() override;
  bool is_past(Moment moment) override;
  void wait(Moment moment) override;

 private:
  void check_process() const;
  void enqueue(std::function<void()> task);
  void work();
  char* alias(const void* device) const {
    return static_cast<char*>(const_cast<void*>(device)) + delta_;
  }

  const std::ptrdiff_t delta_;
  const int64_t delay_;
  const int process_;  // whose thread works
  std::mutex mutex_;
  std::condition_variable has_work_, has_advanced_;
  std::deque<std::function<void()>> tasks_;
  uint64_t enqueued_ = 0, done_ = 0;
  std::exception_ptr error_;  // of the first task that failed since the last wait
  bool has_worker_ = false;
};

}  // namespace tidemark::emulated
