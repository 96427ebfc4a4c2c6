#include "tidemark/kernels/emulated/stream.h"

#include <tidemark/error.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "tidemark/base/attached.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::emulated {

namespace {

/// As with the launches of a GPU, a host that runs ahead waits in the end: queues are bounded.
constexpr size_t kMostWaiting = 1024;

void keep_nothing(void*) {}

}  // namespace

EmulatedStream::EmulatedStream(std::ptrdiff_t delta, int64_t delay_microseconds)
    : delta_(delta), delay_(delay_microseconds), process_(getpid()) {}

void EmulatedStream::check_process() const {
  if (getpid() == process_) return;
  fail<FailedPreconditionError>(
      "an emulated device was opened before this process was forked, and its queue stayed behind: "
      "start the process with \"spawn\", or use the device after the fork only");
}

void EmulatedStream::enqueue(Task task) {
  check_process();
  std::unique_lock hold(mutex_);
  has_advanced_.wait(hold, [&] { return tasks_.size() < kMostWaiting; });
  tasks_.push_back(std::move(task));
  ++enqueued_;
  if (!std::exchange(has_worker_, true)) {
    // It waits for work until the process ends, and nobody waits for it then.
    std::thread([this] { work(); }).detach();
  }
  has_work_.notify_one();
}

void EmulatedStream::work() {
  std::unique_lock hold(mutex_);
  for (;;) {
    has_work_.wait(hold, [&] { return !tasks_.empty(); });
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    hold.unlock();
    if (delay_ > 0 && task.is_work) std::this_thread::sleep_for(std::chrono::microseconds(delay_));
    std::exception_ptr error;
    try {
      task.run();
    } catch (...) {
      error = std::current_exception();
    }
    task.run = nullptr;  // what it held on the host goes before anybody is told
    hold.lock();
    if (error && !failed_.error) failed_ = {std::move(error), std::move(task.place)};
    ++done_;
    has_advanced_.notify_all();
  }
}

void EmulatedStream::copy_in(void* device, const void* host, size_t bytes) {
  auto staged = std::make_shared<std::vector<char>>(static_cast<const char*>(host),
                                                    static_cast<const char*>(host) + bytes);
  enqueue({[=, this] { std::memcpy(alias(device), staged->data(), bytes); }});
}

void EmulatedStream::copy_out(void* host, const void* device, size_t bytes) {
  enqueue({[=, this] { std::memcpy(host, alias(device), bytes); }});
  wait(now());
}

void EmulatedStream::copy(void* to, const void* from, size_t bytes) {
  enqueue({[=, this] { std::memmove(alias(to), alias(from), bytes); }});
}

void EmulatedStream::run(QueuedKernel&& kernel) {
  auto queued = std::make_shared<QueuedKernel>(std::move(kernel));
  auto place = queued->place ? queued->place : place_of_work();
  enqueue({[queued, place, this] {
             const uint64_t began = is_observed() ? observers_time() : 0;
             compute(*queued);
             if (began != 0) tell_time(*queued, place.get(), began);
           },
           true, place});
}

void EmulatedStream::tell_time(const QueuedKernel& kernel, const memory::Site* place,
                               uint64_t began) {
  const DeviceWork work{kernel.device, name_of_work(kernel), place, began,
                        observers_time() - began};
  for_each_observer([&](Observer& observer) { observer.device_worked(work); });
}

namespace {

struct Recording final : RecordedWork {
  std::vector<QueuedKernel> kernels;
};

}  // namespace

std::shared_ptr<const RecordedWork> EmulatedStream::record(std::span<const QueuedKernel> kernels) {
  auto work = std::make_shared<Recording>();
  work->kernels.assign(kernels.begin(), kernels.end());
  return work;
}

void EmulatedStream::run(const RecordedWork& work, std::span<const QueuedKernel> changed) {
  auto now = changed.begin();
  for (const QueuedKernel& kernel : static_cast<const Recording&>(work).kernels) {
    run(QueuedKernel(kernel.changes ? *now++ : kernel));
  }
}

void EmulatedStream::compute(const QueuedKernel& queued) {
  const auto tensor = [&](const QueuedKernel::Operand& operand) {
    if (operand.host) return operand.host;
    char* data = alias(operand.data);
    // One buffer for all: what is counted as allocated on the host is not this worker's.
    if (!memory_) {
      memory_ = borrowed_tensor(DType::uint8, {1}, data, false, keep_nothing, nullptr);
    }
    return view_of(memory_, data, operand.dtype, operand.shape);
  };
  std::vector<Tensor> inputs, outputs;
  for (const auto& operand : queued.inputs) inputs.push_back(tensor(operand));
  for (const auto& operand : queued.outputs) outputs.push_back(tensor(operand));
  void* workspace = queued.workspace ? alias(queued.workspace) : nullptr;
  if (queued.step) return queued.step->compute(inputs, outputs, workspace);
  const OpCall call{*queued.op, inputs, queued.attrs};
  QueuedContext context(call, outputs, workspace, *this);
  queued.kernel.run(context);
  if (queued.shapes) {
    for (const Tensor& t : outputs) queued.shapes->push_back(t.shape());
  }
}

Moment EmulatedStream::now() { return {this, enqueued_}; }

bool EmulatedStream::is_past(Moment moment) { return done_ >= moment.number; }

void EmulatedStream::wait(Moment moment) {
  check_process();
  std::unique_lock hold(mutex_);
  has_advanced_.wait(hold, [&] { return done_ >= moment.number; });
  const FailedWork failed = std::exchange(failed_, {});
  hold.unlock();  // telling the line may take the front end's lock
  if (failed.error) failed.rethrow();
}

void EmulatedStream::block_until(uint64_t number) {
  std::unique_lock hold(mutex_);
  has_advanced_.wait(hold, [&] { return done_ >= number; });
}

void EmulatedStream::follow(Moment moment) {
  auto* other = static_cast<EmulatedStream*>(moment.stream);
  if (!other || other == this || other->is_past(moment)) return;
  enqueue({[other, moment] { other->block_until(moment.number); }, false});
}

}  // namespace tidemark::emulated
