// A stream of a GPU, and where the host knows it has come to.
//
// Work is numbered as it is enqueued. Events are recorded now and then and when somebody asks: a
// number is past when an event behind it has come, so an answer may be late and is never early.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>

#include "tidemark/base/backend.h"
#include "tidemark/kernels/cuda/faults.h"
#include "tidemark/kernels/cuda/recent_work.h"
#include "tidemark/kernels/cuda/staging.h"
#include "tidemark/kernels/cuda/timings.h"
#include "tidemark/kernels/cuda/tools.h"
#include "tidemark/kernels/queued_kernel.h"

namespace tidemark::cuda {

class CudaStream final : public Stream {
 public:
  /// `name`: of its staging memory, for the memory report. Throws what the driver refuses.
  CudaStream(const Context& context, Tools& tools, const char* name);
  ~CudaStream() override;

  void copy_in(void* device, const void* host, size_t bytes) override;
  void copy_out(void* host, const void* device, size_t bytes) override;
  void copy(void* to, const void* from, size_t bytes) override;
  /// Enqueues what the kernel asks for. Throws what the driver refuses at once; what fails while it
  /// runs comes with a wait.
  void run(QueuedKernel&& kernel) override;
  std::shared_ptr<const RecordedWork> record(std::span<const QueuedKernel> kernels) override;
  void run(const RecordedWork& work, std::span<const QueuedKernel> changed) override;
  Moment now() override;
  bool is_past(Moment moment) override;
  void wait(Moment moment) override;
  void follow(Moment moment) override;
  void tell_times() override;

  // For kernels that run() calls.
  /// One function over blocks of threads.
  void launch(const std::shared_ptr<const LoadedCode>& code, int64_t blocks, int threads,
              void* arguments);
  void fill_zeros(void* device, size_t bytes);
  void copy_here(void* to, const void* from, size_t bytes);
  /// From the host, whose bytes may change as soon as this returns. Cannot be recorded.
  void put(void* to, const void* host, size_t bytes);
  /// What kernels find wrong comes with a wait.
  Faults& faults() { return faults_; }
  Handle handle() const { return stream_; }
  const Context& context() const { return context_; }
  Tools& tools() { return tools_; }

 private:
  class ChangingScope;
  using Lock = std::unique_lock<std::mutex>;
  struct Mark {
    uint64_t number;  // of the last work before it
    std::shared_ptr<const Event> event;
  };
  /// Counts work that was enqueued.
  void has_enqueued(const Lock& hold);
  std::shared_ptr<const Event> record(const Lock& hold);
  /// Enqueues what `copy` calls the driver for, from or to a slot that then ends with it.
  template <class Copy>
  void copy_by(Staging::Slot& slot, const char* call, Copy copy);
  /// An event at or behind the number; null: the stream is past it.
  Mark mark_behind(const Lock& hold, uint64_t number);
  void look(const Lock& hold);
  void compute(const QueuedKernel& queued);
  /// Calls `wait`, and where it throws what work failed with names what may have been it.
  template <class Wait>
  void await(Wait wait);

  const Context& context_;
  Tools& tools_;
  Handle stream_ = 0;
  EventPool events_;
  Staging staging_;
  Faults faults_;
  std::mutex mutex_;
  Launches* recorder_ = nullptr;         // null: not recording
  const Recording* changing_ = nullptr;  // whose launches get other arguments; null: of none
  size_t next_change_ = 0;
  RecentWork recent_;
  Timings timings_;
  /// Read without the lock by who must not wait.
  std::atomic<uint64_t> enqueued_ = 0, done_ = 0;
  std::deque<Mark> marks_;  // that have not come, in order
  Tensor memory_;           // stands for the GPU's memory in tensors of kernels
};

}  // namespace tidemark::cuda
