// A queue of the emulated device: one thread that does what it is given in order, as late as it
// was told to.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>

#include "tidemark/base/backend.h"
#include "tidemark/kernels/queued_kernel.h"

namespace tidemark::emulated {

class EmulatedStream final : public Stream {
 public:
  /// `delta`: from an address of the device to where the worker finds it.
  EmulatedStream(std::ptrdiff_t delta, int64_t delay_microseconds);

  void copy_in(void* device, const void* host, size_t bytes) override;
  void copy_out(void* host, const void* device, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;
  void run(QueuedKernel&& kernel) override;
  std::shared_ptr<const RecordedWork> record(std::span<const QueuedKernel> kernels) override;
  void run(const RecordedWork& work, std::span<const QueuedKernel> changed) override;
  Moment now() override;
  bool is_past(Moment moment) override;
  void wait(Moment moment) override;
  void follow(Moment moment) override;

 private:
  struct Task {
    std::function<void()> run;
    bool is_work = true;  // which takes as long as it was told to
    std::shared_ptr<const memory::Site> place = nullptr;
  };
  void check_process() const;
  void enqueue(Task task);
  /// Errors are left to whoever waits on the host.
  void block_until(uint64_t number);
  void compute(const QueuedKernel& queued);
  static void tell_time(const QueuedKernel& kernel, const memory::Site* place, uint64_t began);
  void work();
  char* alias(const void* device) const {
    return static_cast<char*>(const_cast<void*>(device)) + delta_;
  }

  const std::ptrdiff_t delta_;
  const int64_t delay_;
  const int process_;  // whose thread works
  std::mutex mutex_;
  std::condition_variable has_work_, has_advanced_;
  std::deque<Task> tasks_;
  /// Changed under the lock. Read without it by who must not wait, as in a process that was forked
  /// while the worker held it.
  std::atomic<uint64_t> enqueued_ = 0, done_ = 0;
  FailedWork failed_;  // the first since the last wait
  bool has_worker_ = false;
  Tensor memory_;  // the worker's: stands for the device's memory in tensors of kernels
};

}  // namespace tidemark::emulated
