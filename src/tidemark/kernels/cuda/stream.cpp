#include "tidemark/kernels/cuda/stream.h"

#include <algorithm>
#include <cstring>

#include "tidemark/kernels/cuda/step.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::cuda {

namespace {

/// Work between two events: so long may a page that could go back have to stay.
constexpr uint64_t kWorkPerMark = 64;

Address address_of(const void* device) { return reinterpret_cast<Address>(device); }

void keep_nothing(void*) {}

}  // namespace

CudaStream::CudaStream(const Context& context, Tools& tools, const char* name)
    : context_(context), tools_(tools), staging_(context, name) {
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
  marks_.push_back({enqueued_, std::make_shared<const Event>(context_, stream_)});
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

void CudaStream::copy_in(void* device, const void* host, size_t bytes) {
  context_.check_process();
  const Context::Scope scope(context_);
  for (size_t at = 0; at < bytes; at += Staging::kSlotBytes) {
    const size_t part = std::min(bytes - at, Staging::kSlotBytes);
    Staging::Slot slot = staging_.take();
    std::memcpy(slot.memory(), static_cast<const char*>(host) + at, part);
    Lock hold(mutex_);
    context_.check(context_.driver().copy_in(address_of(device) + at, slot.memory(), part, stream_),
                   "cuMemcpyHtoDAsync");
    has_enqueued(hold);
    slot.give_back(record(hold));
  }
}

void CudaStream::copy_out(void* host, const void* device, size_t bytes) {
  context_.check_process();
  const Context::Scope scope(context_);
  struct Part {
    Staging::Slot slot;
    std::shared_ptr<const Event> there;
    size_t at = 0, bytes = 0;
  };
  const auto finish = [&](const Part& part) {
    part.there->await();
    std::memcpy(static_cast<char*>(host) + part.at, part.slot.memory(), part.bytes);
  };
  // While one part comes the one before it is put in place.
  Part before;
  for (size_t at = 0; at < bytes; at += Staging::kSlotBytes) {
    Part part{staging_.take(), nullptr, at, std::min(bytes - at, Staging::kSlotBytes)};
    {
      Lock hold(mutex_);
      context_.check(context_.driver().copy_out(part.slot.memory(), address_of(device) + at,
                                                part.bytes, stream_),
                     "cuMemcpyDtoHAsync");
      has_enqueued(hold);
      part.there = record(hold);
    }
    if (before.there) finish(before);
    before = std::move(part);
  }
  if (before.there) finish(before);
}

void CudaStream::copy(void* to, const void* from, size_t bytes) {
  context_.check_process();
  const Context::Scope scope(context_);
  Lock hold(mutex_);
  context_.check(context_.driver().copy(address_of(to), address_of(from), bytes, stream_),
                 "cuMemcpyDtoDAsync");
  has_enqueued(hold);
}

void CudaStream::run(QueuedKernel&& kernel) {
  context_.check_process();
  const Context::Scope scope(context_);
  Lock hold(mutex_);
  compute(kernel);
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

void CudaStream::launch(Handle function, int64_t blocks, int threads, void* arguments) {
  context_.check(context_.driver().launch(function, static_cast<uint32_t>(blocks),
                                          static_cast<uint32_t>(threads), stream_, arguments),
                 "cuLaunchKernel");
}

void CudaStream::fill_zeros(void* device, size_t bytes) {
  context_.check(context_.driver().fill_zeros(address_of(device), bytes, stream_),
                 "cuMemsetD8Async");
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
  if (done_ >= moment.number) return;
  const Context::Scope scope(context_);
  Lock hold(mutex_);
  const Mark mark = mark_behind(hold, moment.number);
  if (!mark.event) return;
  hold.unlock();
  mark.event->await();
  hold.lock();
  look(hold);
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
