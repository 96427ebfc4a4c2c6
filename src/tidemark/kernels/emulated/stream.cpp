#include "tidemark/kernels/emulated/stream.h"

#include <tidemark/error.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include "tidemark/kernels/queued_kernel.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::emulated {

namespace {

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

void EmulatedStream::enqueue(std::function<void()> task) {
  check_process();
  std::lock_guard hold(mutex_);
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
    std::function<void()> task = std::move(tasks_.front());
    tasks_.pop_front();
    hold.unlock();
    if (delay_ > 0) std::this_thread::sleep_for(std::chrono::microseconds(delay_));
    std::exception_ptr error;
    try {
      task();
    } catch (...) {
      error = std::current_exception();
    }
    task = nullptr;  // what it held on the host goes before anybody is told
    hold.lock();
    if (error && !error_) error_ = std::move(error);
    ++done_;
    has_advanced_.notify_all();
  }
}

void EmulatedStream::copy_in(void* device, const void* host, size_t bytes) {
  auto staged = std::make_shared<std::vector<char>>(static_cast<const char*>(host),
                                                    static_cast<const char*>(host) + bytes);
  enqueue([=, this] { std::memcpy(alias(device), staged->data(), bytes); });
}

void EmulatedStream::copy_out(void* host, const void* device, size_t bytes) {
  enqueue([=, this] { std::memcpy(host, alias(device), bytes); });
  wait(now());
}

void EmulatedStream::copy(void* to, const void* from, size_t bytes) {
  enqueue([=, this] { std::memmove(alias(to), alias(from), bytes); });
}

void EmulatedStream::run(QueuedKernel&& kernel) {
  auto queued = std::make_shared<QueuedKernel>(std::move(kernel));
  enqueue([queued, this] {
    const auto tensor = [&](const QueuedKernel::Operand& operand) {
      if (operand.host) return operand.host;
      return borrowed_tensor(operand.dtype, operand.shape, alias(operand.data), false, keep_nothing,
                             nullptr);
    };
    std::vector<Tensor> inputs, outputs;
    for (const auto& operand : queued->inputs) inputs.push_back(tensor(operand));
    for (const auto& operand : queued->outputs) outputs.push_back(tensor(operand));
    const OpCall call{*queued->op, inputs, queued->attrs};
    void* workspace = queued->workspace ? alias(queued->workspace) : nullptr;
    QueuedContext context(call, outputs, workspace, *this);
    queued->kernel.run(context);
    if (queued->shapes) {
      for (const Tensor& t : outputs) queued->shapes->push_back(t.shape());
    }
  });
}

Moment EmulatedStream::now() {
  std::lock_guard hold(mutex_);
  return {enqueued_};
}

bool EmulatedStream::is_past(Moment moment) {
  std::lock_guard hold(mutex_);
  return done_ >= moment.number;
}

void EmulatedStream::wait(Moment moment) {
  check_process();
  std::unique_lock hold(mutex_);
  has_advanced_.wait(hold, [&] { return done_ >= moment.number; });
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

}  // namespace tidemark::emulated
