#include "tidemark/kernels/cuda/stream.h"

#include <algorithm>
#include <cstring>

#include "tidemark/base/interrupt.h"
#include "tidemark/base/thread_pool.h"
#include "tidemark/kernels/cuda/step.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::cuda {

namespace {

/// Work between two events: so long may a page that could go back have to stay.
constexpr uint64_t kWorkPerMark = 64;

/// Bytes that go to the GPU without a slot: beside a launch the driver's own copy is nothing.
constexpr size_t kSmallCopy = 4 << 10;

/// Parts of a copy to the host that are under way at a time.
constexpr size_t kMostComing = 4;

/// The least that one thread copies.
constexpr int64_t kCopiedByThread = 512 << 10;

/// As a whole, whoever wants to stop it.
void copy_by_threads(char* to, const char* from, size_t bytes) {
  const UninterruptedScope whole;
  parallel_for(static_cast<int64_t>(bytes), kCopiedByThread, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

Address address_of(const void* device) { return reinterpret_cast<Address>(device); }

void keep_nothing(void*) {}

}  // namespace

/// For its time, launches of this thread's give those of a recording other arguments.
class CudaStream::ChangingScope {
 public:
  ChangingScope(CudaStream& stream, const Recording& recording) : stream_(stream) {
    stream_.changing_ = &recording;
    stream_.next_change_ = 0;
  }
  ~ChangingScope() { stream_.changing_ = nullptr; }
  ChangingScope(const ChangingScope&) = delete;

 private:
  CudaStream& stream_;
};

CudaStream::CudaStream(const Context& context, Tools& tools, const char* name)
    : context_(context),
      tools_(tools),
      events_(context),
      staging_(context, name),
      faults_(context),
      timings_(context) {
  const Context::Scope scope(context_);
  context_.check(context_.driver().create_stream(&stream_), "cuStreamCreate");
}

CudaStream::~CudaStream() {
  marks_.clear();
  if (context_.driver().push_context(context_.handle()) != kDone) return;
  context_.driver().destroy_stream(stream_);
  context_.driver().pop_context();
}

std::shared_ptr<const Event> CudaStream::record(const Lock& hold) {
  look(hold);
  if (!marks_.empty() && marks_.back().number == enqueued_) return marks_.back().event;
  marks_.push_back({enqueued_, std::make_shared<const Event>(events_, stream_)});
  return marks_.back().event;
}

void CudaStream::has_enqueued(const Lock& hold) {
  if (++enqueued_ % kWorkPerMark == 0) record(hold);
}

/// Forgets marks that have come.
void CudaStream::look(const Lock&) {
  while (!marks_.empty() && marks_.front().event->has_come()) {
    done_ = marks_.front().number;
    marks_.pop_front();
  }
}

CudaStream::Mark CudaStream::mark_behind(const Lock& hold, uint64_t number) {
  look(hold);
  if (done_ >= number) return {number, nullptr};
  const auto known = std::find_if(marks_.begin(), marks_.end(),
                                  [&](const Mark& mark) { return mark.number >= number; });
  if (known != marks_.end()) return *known;
  record(hold);
  return marks_.back();
}

template <class Copy>
void CudaStream::copy_by(Staging::Slot& slot, const char* call, Copy copy) {
  Lock hold(mutex_);
  context_.check(copy(), call);
  slot.begins();
  has_enqueued(hold);
  slot.ends_with(record(hold));
}

template <class Wait>
void CudaStream::await(Wait wait) {
  try {
    wait();
  } catch (const InternalError& error) {
    RecentWork::All recent;
    {
      const Lock hold(mutex_);
      recent = recent_.all();
    }
    fail<InternalError>(error.what(), words_for(recent, done_));
  }
}

void CudaStream::copy_in(void* device, const void* host, size_t bytes) {
  context_.check_process();
  const Context::Scope scope(context_);
  const auto* from = static_cast<const char*>(host);
  if (bytes <= kSmallCopy) {
    // The driver has copied what is not pinned when it returns.
    char unpinned[kSmallCopy];
    std::memcpy(unpinned, from, bytes);
    Lock hold(mutex_);
    context_.check(context_.driver().copy_in(address_of(device), unpinned, bytes, stream_),
                   "cuMemcpyHtoDAsync");
    return has_enqueued(hold);
  }
  // While the GPU reads one slot the next ones are filled.
  for (size_t at = 0; at < bytes; at += Staging::kSlotBytes) {
    const size_t part = std::min(bytes - at, Staging::kSlotBytes);
    Staging::Slot slot = staging_.take();
    copy_by_threads(slot.memory(), from + at, part);
    copy_by(slot, "cuMemcpyHtoDAsync", [&] {
      return context_.driver().copy_in(address_of(device) + at, slot.memory(), part, stream_);
    });
  }
}

void CudaStream::copy_out(void* host, const void* device, size_t bytes) {
  context_.check_process();
  const Context::Scope scope(context_);
  struct Part {
    Staging::Slot slot;
    size_t at, bytes;
  };
  std::deque<Part> coming;
  const auto put_first_in_place = [&] {
    const Part& part = coming.front();
    await([&] { part.slot.await(); });
    copy_by_threads(static_cast<char*>(host) + part.at, part.slot.memory(), part.bytes);
    coming.pop_front();
  };
  // While some parts come the ones before them are put in place. Who has slots waits for no other:
  // two copies might wait for each other.
  for (size_t at = 0; at < bytes; at += Staging::kSlotBytes) {
    Staging::Slot slot = coming.empty() ? staging_.take() : staging_.take_if_free();
    while (!slot) {
      put_first_in_place();
      slot = coming.empty() ? staging_.take() : staging_.take_if_free();
    }
    const size_t part = std::min(bytes - at, Staging::kSlotBytes);
    copy_by(slot, "cuMemcpyDtoHAsync", [&] {
      return context_.driver().copy_out(slot.memory(), address_of(device) + at, part, stream_);
    });
    coming.push_back({std::move(slot), at, part});
    if (coming.size() > kMostComing) put_first_in_place();
  }
  while (!coming.empty()) put_first_in_place();
  faults_.check();
}

void CudaStream::copy(void* to, const void* from, size_t bytes) {
  context_.check_process();
  const Context::Scope scope(context_);
  Lock hold(mutex_);
  copy_here(to, from, bytes);
  has_enqueued(hold);
}

void CudaStream::copy_here(void* to, const void* from, size_t bytes) {
  context_.check(context_.driver().copy(address_of(to), address_of(from), bytes, stream_),
                 "cuMemcpyDtoDAsync");
}

void CudaStream::run(QueuedKernel&& kernel) {
  context_.check_process();
  const Context::Scope scope(context_);
  const auto place = kernel.place ? kernel.place : place_of_work();
  const char* const name = name_of_work(kernel);
  const bool is_timed = is_observed();
  Lock hold(mutex_);
  recent_.add(enqueued_ + 1, name, place);
  if (is_timed) timings_.begin(stream_);
  compute(kernel);
  if (is_timed) timings_.end(stream_, {{kernel.device, name, place.get()}, place});
  has_enqueued(hold);
  hold.unlock();
  if (is_timed) tell_times();
}

void CudaStream::tell_times() {
  const Context::Scope scope(context_);
  Lock hold(mutex_);
  const std::vector<TimedWork> finished = timings_.take_finished();
  hold.unlock();
  for (const TimedWork& one : finished) {
    for_each_observer([&](Observer& observer) { observer.device_worked(one.work); });
  }
}

std::shared_ptr<const RecordedWork> CudaStream::record(std::span<const QueuedKernel> kernels) {
  context_.check_process();
  const Context::Scope scope(context_);
  const Lock hold(mutex_);
  const Driver& driver = context_.driver();
  if (!tools_.recordings.has_room() || driver.begin_recording(stream_) != kDone) return nullptr;
  Launches launches;
  if (!kernels.empty()) launches.first_place = kernels[0].place;
  recorder_ = &launches;
  bool is_whole = true;
  try {
    for (const QueuedKernel& kernel : kernels) {
      launches.may_change = kernel.changes;
      compute(kernel);
    }
  } catch (const Error&) {
    is_whole = false;  // done one by one, it says what is wrong
  }
  recorder_ = nullptr;
  Handle recording = 0;
  size_t pieces = 0;
  if (driver.end_recording(stream_, &recording, &pieces) != kDone) return nullptr;
  auto work = tools_.recordings.add(recording, pieces, std::move(launches));
  return is_whole ? work : nullptr;
}

void CudaStream::run(const RecordedWork& work, std::span<const QueuedKernel> changed) {
  context_.check_process();
  const Context::Scope scope(context_);
  const Lock hold(mutex_);
  const auto& recording = static_cast<const Recording&>(work);
  if (!changed.empty()) {
    const ChangingScope changing(*this, recording);
    for (const QueuedKernel& kernel : changed) compute(kernel);
  }
  recent_.add(enqueued_ + 1, "recorded steps", recording.launches().first_place);
  context_.check(context_.driver().play(recording.handle(), stream_), "cuGraphLaunch");
  has_enqueued(hold);
}

void CudaStream::compute(const QueuedKernel& queued) {
  const auto tensor = [&](const QueuedKernel::Operand& operand) {
    if (operand.host) return operand.host;
    if (!memory_) {
      memory_ = borrowed_tensor(DType::uint8, {1}, operand.data, false, keep_nothing, nullptr);
    }
    return view_of(memory_, operand.data, operand.dtype, operand.shape);
  };
  std::vector<Tensor> inputs, outputs;
  inputs.reserve(queued.inputs.size());
  outputs.reserve(queued.outputs.size());
  for (const auto& operand : queued.inputs) inputs.push_back(tensor(operand));
  for (const auto& operand : queued.outputs) outputs.push_back(tensor(operand));
  if (queued.step) {
    const auto* step = dynamic_cast<const CudaStep*>(queued.step.get());
    if (!step) fail<InternalError>("[", queued.step->name(), "] is no step of a GPU");
    return step->enqueue(*this, inputs, outputs, queued.workspace);
  }
  const OpCall call{*queued.op, inputs, queued.attrs};
  QueuedContext context(call, outputs, queued.workspace, *this);
  queued.kernel.run(context);
}

void CudaStream::launch(const std::shared_ptr<const LoadedCode>& code, int64_t blocks, int threads,
                        void* arguments) {
  const Driver& driver = context_.driver();
  const auto of_blocks = static_cast<uint32_t>(blocks), of_threads = static_cast<uint32_t>(threads);
  if (changing_) {
    const Launches::Change& known = changing_->launches().changes.at(next_change_++);
    return context_.check(driver.change_launch(changing_->handle(), known.piece, known.function,
                                               of_blocks, of_threads, arguments),
                          "cuGraphExecKernelNodeSetParams");
  }
  context_.check(driver.launch(code->function(), of_blocks, of_threads, stream_, arguments),
                 "cuLaunchKernel");
  if (!recorder_) return;
  recorder_->code.push_back(code);
  if (!recorder_->may_change) return;
  Launches::Change change{0, code->function()};
  context_.check(driver.last_recorded(stream_, &change.piece), "cuStreamGetCaptureInfo");
  recorder_->changes.push_back(change);
}

void CudaStream::fill_zeros(void* device, size_t bytes) {
  context_.check(context_.driver().fill_zeros(address_of(device), bytes, stream_),
                 "cuMemsetD8Async");
}

void CudaStream::put(void* to, const void* host, size_t bytes) {
  if (recorder_) fail<InternalError>("what comes from the host cannot be recorded");
  context_.check(context_.driver().copy_in(address_of(to), host, bytes, stream_),
                 "cuMemcpyHtoDAsync");
}

Moment CudaStream::now() { return {this, enqueued_}; }

bool CudaStream::is_past(Moment moment) {
  if (done_ >= moment.number) return true;
  const Context::Scope scope(context_);
  const Lock hold(mutex_);
  return !mark_behind(hold, moment.number).event;
}

void CudaStream::wait(Moment moment) {
  context_.check_process();
  if (done_ >= moment.number) return faults_.check();
  const Context::Scope scope(context_);
  Lock hold(mutex_);
  const Mark mark = mark_behind(hold, moment.number);
  hold.unlock();
  if (!mark.event) return faults_.check();
  await([&] { mark.event->await(); });
  hold.lock();
  look(hold);
  hold.unlock();
  faults_.check();
}

void CudaStream::follow(Moment moment) {
  auto* other = static_cast<CudaStream*>(moment.stream);
  if (!other || other == this || other->done_ >= moment.number) return;
  const Context::Scope scope(context_);
  Mark mark;
  {
    const Lock theirs(other->mutex_);
    mark = other->mark_behind(theirs, moment.number);
  }
  if (!mark.event) return;
  const Lock hold(mutex_);
  context_.check(context_.driver().follow(stream_, mark.event->handle()), "cuStreamWaitEvent");
}

}  // namespace tidemark::cuda
