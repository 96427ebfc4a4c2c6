#include "tidemark/exec/executable.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "tidemark/base/backend.h"
#include "tidemark/base/interrupt.h"
#include "tidemark/exec/eager.h"
#include "tidemark/exec/failed_step.h"
#include "tidemark/exec/idle_code.h"
#include "tidemark/exec/long_work.h"
#include "tidemark/exec/observed_op.h"
#include "tidemark/exec/step_site.h"
#include "tidemark/graph/call_special.h"
#include "tidemark/graph/variable_updates.h"
#include "tidemark/kernels/queued_kernel.h"
#include "tidemark/memory/context.h"
#include "tidemark/memory/poison.h"
#include "tidemark/tensor/headers.h"
#include "tidemark/tensor/storage.h"

namespace tidemark::exec {

/// The arenas of one run on devices other than the CPU. When a run ends, work that it enqueued may
/// still need them: whoever takes them next enqueues behind it.
class Executable::DeviceArenas {
 public:
  explicit DeviceArenas(const Executable& executable) {
    for (const auto& need : executable.device_needs_) {
      leases_.push_back(std::make_unique<ArenaLease>(*need, executable.is_bounded_));
    }
  }
  /// Numbered from 1: 0 is the host's.
  const ArenaLease& number(uint8_t arena) const { return *leases_[arena - 1u]; }
  size_t count() const { return leases_.size(); }

 private:
  std::vector<std::unique_ptr<ArenaLease>> leases_;
};

/// The handles of one run. Those on the arena are made once and point into the block of the last
/// run until the next one starts; they count no references to it.
struct Executable::Frame {
  std::vector<Tensor> slots;
  std::vector<detail::TensorImpl*> operands;  // of the step that runs: the slots keep them
  std::vector<Tensor> special_inputs;         // of the step that runs; empty otherwise
  uint64_t arena = 0;
  std::vector<uint64_t> device_arenas;

  explicit Frame(const Executable& executable)
      : slots(executable.num_slots_),
        operands(executable.most_inputs_),
        special_inputs(executable.most_inputs_),
        device_arenas(executable.device_needs_.size()) {
    for (const InArena& value : executable.in_arena_) {
      detail::TensorImpl* impl = detail::new_header();
      impl->dtype = value.dtype;
      impl->shape = value.shape;
      impl->num_elements = value.shape.num_elements();
      impl->device = value.device;
      slots[value.slot] = Tensor::adopt(impl);
    }
  }

  void point_into(const Executable& executable, const ArenaLease& lease) {
    if (arena == lease.id()) return;
    point_into(executable, 0, lease);
    arena = lease.id();
  }

  void point_into(const Executable& executable, const DeviceArenas& arenas) {
    for (uint8_t i = 1; i <= arenas.count(); ++i) {
      const ArenaLease& lease = arenas.number(i);
      if (device_arenas[i - 1u] == lease.id()) continue;
      point_into(executable, i, lease);
      device_arenas[i - 1u] = lease.id();
    }
  }

  void point_into(const Executable& executable, uint8_t number, const ArenaLease& lease) {
    for (const InArena& value : executable.in_arena_) {
      if (value.arena != number) continue;
      detail::TensorImpl* impl = slots[value.slot].impl();
      impl->data = impl->num_elements > 0 ? lease.data() + value.offset : nullptr;
      impl->buffer = lease.buffer();
    }
  }

  void drop(const Executable& executable) {
    for (const InArena& value : executable.in_arena_) slots[value.slot].impl()->buffer = nullptr;
  }
};

/// One run: the frame and the arena it has for the time being.
class Executable::Run {
 public:
  Run(const Executable& executable, std::span<Tensor> outputs)
      : executable_(executable),
        outputs_(outputs),
        lease_(executable.need_.bytes(), executable.is_bounded_),
        device_arenas_(executable.device_needs_.empty()
                           ? nullptr
                           : std::make_unique<DeviceArenas>(executable)),
        frame_(executable.take_frame()),
        slots_(frame_->slots.data()) {
    frame_->point_into(executable, lease_);
    if (device_arenas_) [[unlikely]]
      frame_->point_into(executable, *device_arenas_);
    if (!executable.lifetimes_.empty()) memory::poison::hide(lease_.data(), arena_bytes());
  }
  ~Run() {
    if (!executable_.lifetimes_.empty()) memory::poison::show(lease_.data(), arena_bytes());
    // Whatever a failed run left; after a good one they are empty.
    size_t next = 0;
    for (uint32_t slot = 0; slot < executable_.num_slots_; ++slot) {
      if (next < executable_.in_arena_.size() && executable_.in_arena_[next].slot == slot) {
        ++next;
      } else if (slots_[slot]) {
        slots_[slot] = Tensor();
      }
    }
    executable_.give_back(std::move(frame_));
  }
  Run(const Run&) = delete;

  Tensor* slots() { return slots_; }

  void step(const Step& step) {
    if (!executable_.lifetimes_.empty()) [[unlikely]]
      return watched_step(step);
    plain_step(step);
  }

  /// Whether the steps are done as one; otherwise each by itself.
  bool may_run_whole(const Stretch& stretch) const {
    return executable_.lifetimes_.empty() && !is_observed() && !stretch.recordings->is_hopeless();
  }
  /// What the host does for the steps, in their order, and then what the device does: as it was
  /// recorded, if it was. `now`: the step that is at work.
  void whole(const Stretch& stretch, const Step*& now) {
    Addresses key;
    for (uint8_t i = 1; i <= device_arenas_->count(); ++i) {
      key.push_back(device_arenas_->number(i).data());
    }
    std::vector<Tensor> on_host;  // what changing kernels read there, in order
    // What dies on the way is there until its readers are enqueued: not before then does the
    // stream's order keep them apart from who is given the memory next.
    std::vector<Tensor> dead;
    auto place = stretch.places.begin();
    size_t kernel = 0;
    for (uint32_t i = stretch.first; i < stretch.first + stretch.count; ++i) {
      now = &executable_.steps_[i];
      if (now->kind == Kind::queued) {
        make_outputs_of(*now);
      } else {
        perform(*now);
      }
      if (kernel < stretch.steps.size() && stretch.steps[kernel] == i) {
        for (; place != stretch.places.end() && place->kernel == kernel; ++place) {
          if (place->is_in_key) note_place(stretch, *place, *now, key, on_host);
        }
        ++kernel;
      }
      for (uint32_t k = 0; k < now->num_dead; ++k) {
        dead.push_back(std::move(slots_[executable_.dead_[now->first_dead + k]]));
      }
    }
    enqueue_whole(stretch, key, on_host, now);
  }

  const Tensor& operand(int32_t ref) const {
    return ref >= 0 ? slots_[ref] : executable_.constants_[static_cast<size_t>(~ref)];
  }

 private:
  size_t arena_bytes() const { return static_cast<size_t>(executable_.need_.bytes()); }

  /// What the step reads after its time, or writes where nothing is to be, shows in its results.
  void watched_step(const Step& step) {
    const Lifetimes& mine =
        executable_.lifetimes_[static_cast<size_t>(&step - executable_.steps_.data())];
    for (const Bytes& bytes : mine.born) {
      memory::poison::show(lease_.data() + bytes.offset, static_cast<size_t>(bytes.count));
    }
    plain_step(step);
    for (const Bytes& bytes : mine.dead) {
      memory::poison::bury(lease_.data() + bytes.offset, static_cast<size_t>(bytes.count),
                           is_floating(bytes.dtype));
    }
  }

  void plain_step(const Step& step) {
    perform(step);
    for (uint32_t k = 0; k < step.num_dead; ++k) {
      slots_[executable_.dead_[step.first_dead + k]] = Tensor();
    }
  }

  void perform(const Step& step) {
    switch (step.kind) {
      case Kind::kernel:
        compute(step);
        break;
      case Kind::queued:
        enqueue(step);
        break;
      case Kind::computing: {
        const StepSite site(step.site);
        const OpName name(step.name);
        const ObservedOp observed(step.name);
        make_outputs(step);
        const LongWork scope(step.is_long);
        step.special->compute(operands_of(step), outputs_of(step), workspace_of(step));
        break;
      }
      case Kind::view: {
        const StepSite site(step.site);
        make_outputs(step);
        break;
      }
      case Kind::eager: {
        const StepSite site(step.site);
        run_placed(step, [&] {
          run_eager({*step.op, operands_of(step), step.attrs, step.dying}, outputs_of(step));
        });
        break;
      }
      case Kind::special:
        run_placed(step, [&] { run_special(step); });
        break;
    }
  }

  void make_outputs_of(const Step& step) {
    if (step.num_made == 0) return;
    const StepSite site(step.site);
    const OpName name(step.name);
    make_outputs(step);
  }

  void note_place(const Stretch& stretch, const Stretch::Place& place, const Step& step,
                  Addresses& key, std::vector<Tensor>& on_host) {
    const Tensor& t = slots_[place.ref];
    const bool is_on_host = !place.is_output && ((step.on_host >> place.index) & 1u);
    const Device planned = is_on_host ? Device() : stretch.device;
    if (t.device() != planned) fail_moved(step, place.index, t.device(), planned);
    if (is_on_host) {
      on_host.push_back(t);
    } else {
      key.push_back(t.raw_data());
    }
  }

  void enqueue_whole(const Stretch& stretch, const Addresses& key,
                     const std::vector<Tensor>& on_host, const Step*& now) {
    Stream& stream = accelerator_of(stretch.device).stream();
    const std::shared_ptr<const RecordedWork> known = stretch.recordings->find(key);
    if (known && stretch.changing.empty()) return stream.run(*known, {});
    std::vector<QueuedKernel> kernels = kernels_of(stretch, key, on_host);
    const auto play = [&](const RecordedWork& work) {
      std::vector<QueuedKernel> changed;
      for (const uint32_t i : stretch.changing) changed.push_back(kernels[i]);
      stream.run(work, changed);
    };
    if (known) return play(*known);
    if (stretch.recordings->is_due(key)) {
      if (const auto work = stream.record(kernels)) {
        stretch.recordings->add(key, work);
        return play(*work);
      }
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      now = &executable_.steps_[stretch.steps[i]];
      const StepSite site(now->site);
      stream.run(std::move(kernels[i]));
    }
  }

  std::vector<QueuedKernel> kernels_of(const Stretch& stretch, const Addresses& key,
                                       const std::vector<Tensor>& on_host) {
    std::vector<QueuedKernel> kernels = stretch.kernels;
    auto address = key.begin() + static_cast<std::ptrdiff_t>(device_arenas_->count());
    auto host = on_host.begin();
    for (const Stretch::Place& place : stretch.places) {
      QueuedKernel& kernel = kernels[place.kernel];
      QueuedKernel::Operand& at =
          place.is_output ? kernel.outputs[place.index] : kernel.inputs[place.index];
      const Step& step = executable_.steps_[stretch.steps[place.kernel]];
      const bool is_on_host = !place.is_output && ((step.on_host >> place.index) & 1u);
      if (!place.is_in_key) {
        at = QueuedKernel::Operand::of(operand(place.ref));
      } else if (is_on_host) {
        at = QueuedKernel::Operand::of(*host++);
      } else {
        at.data = const_cast<void*>(*address++);
      }
    }
    for (size_t i = 0; i < kernels.size(); ++i) {
      kernels[i].workspace = device_workspace_of(executable_.steps_[stretch.steps[i]]);
    }
    return kernels;
  }

  /// What is done by calls goes where those go, and its results to where the plan has them.
  template <class Work>
  void run_placed(const Step& step, Work&& work) {
    if (!step.settles) [[likely]]
      return work();
    std::optional<PlacementScope> scope;
    if (step.wish) scope.emplace(step.wish.value_or({}));
    work();
    const std::optional<size_t> records =
        step.special ? step.special->round_records_at() : std::nullopt;
    // Records of rounds stay in pieces, where those were made.
    const std::span<Tensor> outputs = outputs_of(step).first(records.value_or(step.num_outputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i] || outputs[i].dtype() == DType::string) continue;
      outputs[i] = outputs[i].to(step.infos[i].device);
    }
  }

  /// Borrowed handles.
  std::span<const Tensor> operands_of(const Step& step) {
    detail::TensorImpl** impls = frame_->operands.data();
    const int32_t* refs = executable_.operands_.data() + step.first_input;
    for (uint32_t i = 0; i < step.num_inputs; ++i) impls[i] = operand(refs[i]).impl();
    return {reinterpret_cast<const Tensor*>(impls), step.num_inputs};
  }

  std::span<Tensor> outputs_of(const Step& step) {
    return {slots_ + step.first_output, step.num_outputs};
  }
  void* workspace_of(const Step& step) const {
    return step.workspace < 0 ? nullptr : lease_.data() + step.workspace;
  }

  /// The queue refers to what the step reads and writes on the device by address: the order of the
  /// stream keeps it there.
  void enqueue(const Step& step) {
    const StepSite site(step.site);
    const OpName name(step.name);
    const ObservedOp observed(step.name);
    make_outputs(step);
    if (step.does_nothing) return;
    if (!step.updates) return enqueue(step, operands_of(step), outputs_of(step));
    const auto with_variables = [&](std::span<const Tensor> inputs,
                                    std::span<const Tensor> outputs) {
      enqueue(step, inputs, outputs);
    };
    step.updates->change(operands_of(step), std::cref(with_variables));
  }

  void enqueue(const Step& step, std::span<const Tensor> inputs, std::span<const Tensor> outputs) {
    Stream& stream = accelerator_of(step.device).stream();
    Recordings* const recordings =
        step.recordings < 0 || is_observed()
            ? nullptr
            : executable_.update_recordings_[static_cast<size_t>(step.recordings)].get();
    if (!recordings || recordings->is_hopeless())
      return stream.run(queued_of(step, inputs, outputs));
    Addresses key{device_workspace_of(step)};
    for (const Tensor& t : inputs) key.push_back(t.raw_data());
    for (const Tensor& t : outputs) key.push_back(t.raw_data());
    std::shared_ptr<const RecordedWork> work = recordings->find(key);
    if (work) return stream.run(*work, {});
    QueuedKernel queued = queued_of(step, inputs, outputs);
    if (recordings->is_due(key)) work = stream.record({&queued, 1});
    if (!work) return stream.run(std::move(queued));
    recordings->add(key, work);
    stream.run(*work, {});
  }

  void* device_workspace_of(const Step& step) const {
    if (step.workspace < 0) return nullptr;
    return device_arenas_->number(step.arena).data() + step.workspace;
  }

  QueuedKernel queued_of(const Step& step, std::span<const Tensor> inputs,
                         std::span<const Tensor> outputs) {
    QueuedKernel queued;
    queued.device = step.device;
    queued.op = step.op;
    queued.kernel.run = step.kernel;
    queued.attrs = step.attrs;
    if (step.updates) {
      queued.step = step.updates->values();
    } else {
      queued.step = step.special;
    }
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool is_on_host = i < 64 && ((step.on_host >> i) & 1u);
      const Device planned = is_on_host ? Device() : step.device;
      if (inputs[i].device() != planned) fail_moved(step, i, inputs[i].device(), planned);
      queued.inputs.push_back(QueuedKernel::Operand::of(inputs[i]));
    }
    for (const Tensor& t : outputs) queued.outputs.push_back(QueuedKernel::Operand::of(t));
    queued.workspace = device_workspace_of(step);
    return queued;
  }

  [[noreturn, gnu::cold]] static void fail_moved(const Step& step, size_t input, Device now,
                                                 Device planned) {
    fail<InternalError>("[", step.name, "] input ", input, " is on ", now.name(),
                        " and was planned on ", planned.name());
  }

  void compute(const Step& step) {
    const StepSite site(step.site);
    const OpName name(step.name);
    const ObservedOp observed(step.name);
    make_outputs(step);
    if (step.does_nothing) return;
    const OpCall call{*step.op, operands_of(step), step.attrs};
    const LongWork scope(step.is_long);
    KernelContext context(call, outputs_of(step), workspace_of(step));
    step.kernel(context);
  }

  void make_outputs(const Step& step) {
    for (uint32_t i = 0; i < step.num_made; ++i) {
      const Made& made = executable_.made_[step.first_made + i];
      slots_[made.slot] = make(step, made);
    }
  }

  Tensor make(const Step& step, const Made& made) {
    if (made.base != kNoBase) {
      const Tensor& base = operand(made.base);
      char* data = static_cast<char*>(base.mutable_raw_data());
      return view_of(base, data ? data + made.offset : nullptr, made.dtype, made.shape);
    }
    for (uint64_t left = made.writable; left != 0; left &= left - 1) {
      const auto input = static_cast<uint32_t>(__builtin_ctzll(left));
      const Tensor& t = operand(executable_.operands_[step.first_input + input]);
      if (t.dtype() != made.dtype || !(t.shape() == made.shape) || t.num_elements() == 0) continue;
      if (!t.is_unique() || t.device() != made.device) continue;
      t.impl()->id.store(0, std::memory_order_relaxed);  // another value from now on
      return t;
    }
    if (made.donor >= 0) {
      Tensor donor = std::move(slots_[made.donor]);
      if (Tensor again = in_memory_of(donor, made)) return again;
    }
    if (made.output < 0) return new_value(made);
    if (Tensor again = in_memory_of(outputs_[static_cast<size_t>(made.output)], made)) return again;
    const StepSite site(made.site);
    const OpName name(made.op);
    return new_value(made);
  }

  static Tensor new_value(const Made& made) {
    return new_tensor(made.dtype, made.shape, memory::Holder::value, 0, made.device);
  }

  /// The value in the memory of a tensor that nobody else has; empty: it does not fit.
  static Tensor in_memory_of(Tensor& previous, const Made& made) {
    if (!previous || previous.is_symbolic() || !previous.raw_data()) return {};
    if (!previous.is_unique()) return {};
    memory::Buffer* buffer = previous.impl()->buffer;
    const size_t bytes = bytes_for(made.dtype, made.shape.num_elements());
    if (buffer->bytes != bytes || bytes == 0 || previous.dtype() == DType::string) return {};
    if (previous.device() != made.device) return {};
    Tensor value = view_of(previous, buffer->data, made.dtype, made.shape);
    previous = Tensor();
    return value;
  }

  void run_special(const Step& step) {
    const StepSite site(step.site);
    const Emptied inputs(std::span(frame_->special_inputs).first(step.num_inputs));
    for (uint32_t i = 0; i < step.num_inputs; ++i) {
      const int32_t ref = executable_.operands_[step.first_input + i];
      if (i < 64 && ((step.dying >> i) & 1u)) {
        inputs.all[i] = std::move(slots_[ref]);
      } else {
        inputs.all[i] = operand(ref);
      }
    }
    const WriteProtection protection(inputs.all, step.write_protected);
    // What it holds runs in the part of the arena that the plan has set aside for it.
    const ArenaOffer offer(step.inner_bytes > 0 ? lease_.part(step.workspace, step.inner_bytes)
                                                : ArenaPart{});
    graph::call_special(step.special, step.infos, inputs.all, outputs_of(step));
  }

  struct Emptied {
    std::span<Tensor> all;
    explicit Emptied(std::span<Tensor> tensors) : all(tensors) {}
    ~Emptied() {
      for (Tensor& t : all) t = Tensor();
    }
    Emptied(const Emptied&) = delete;
  };

  /// Values with a buffer of their own that other values will be written into: a variable that is
  /// assigned one must not make the buffer its own.
  class WriteProtection {
   public:
    WriteProtection(std::span<Tensor> inputs, uint64_t which) : inputs_(inputs), which_(which) {
      mark(true);
    }
    ~WriteProtection() { mark(false); }
    WriteProtection(const WriteProtection&) = delete;

   private:
    void mark(bool read_only) {
      for (uint64_t left = which_; left != 0; left &= left - 1) {
        const Tensor& t = inputs_[static_cast<size_t>(__builtin_ctzll(left))];
        if (t) t.impl()->read_only = read_only;
      }
    }
    std::span<Tensor> inputs_;
    uint64_t which_;
  };

  const Executable& executable_;
  std::span<Tensor> outputs_;  // what the caller had there before
  ArenaLease lease_;
  const std::unique_ptr<const DeviceArenas> device_arenas_;  // null: the CPU does it all
  std::unique_ptr<Frame> frame_;
  Tensor* slots_;
};

std::unique_ptr<Executable::Frame> Executable::take_frame() const {
  for (std::atomic<Frame*>& place : kept_) {
    if (Frame* kept = place.exchange(nullptr, std::memory_order_acquire)) {
      return std::unique_ptr<Frame>(kept);
    }
  }
  return std::make_unique<Frame>(*this);
}

void Executable::give_back(std::unique_ptr<Frame> frame) const {
  if (!has_run_.load(std::memory_order_relaxed) && !has_run_.exchange(true)) release_idle_code();
  for (std::atomic<Frame*>& place : kept_) {
    Frame* expected = nullptr;
    if (place.compare_exchange_strong(expected, frame.get(), std::memory_order_release)) {
      frame.release();
      return;
    }
  }
  frame->drop(*this);
}

void Executable::run(std::span<Tensor> inputs, std::span<Tensor> outputs) const {
  Run run(*this, outputs);
  Tensor* slots = run.slots();
  for (size_t i = 0; i < inputs.size(); ++i) slots[i] = std::move(inputs[i]);
  for (uint32_t slot : unused_inputs_) slots[slot] = Tensor();
  const Step* now = nullptr;
  try {
    auto stretch = stretches_.begin();
    for (size_t i = 0; i < steps_.size(); ++i) {
      now = &steps_[i];
      check_interrupt();
      if (stretch != stretches_.end() && stretch->first == i) {
        const Stretch& here = *stretch++;
        if (run.may_run_whole(here)) {
          run.whole(here, now);
          i += here.count - 1;
          continue;
        }
      }
      run.step(*now);
    }
  } catch (...) {
    settle(now);
    if (!failed_step.is_set) failed_step = {true, now->op, now->special.get(), now->site};
    throw;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) outputs[i] = run.operand(outputs_[i]);
}

/// What earlier steps began must not go on in an arena that others have.
void Executable::settle(const Step* until) const noexcept {
  for (const Step& step : steps_) {
    if (step.special && step.special->goes_on()) step.special->settle();
    if (&step == until) return;
  }
}

Executable::~Executable() {
  for (const std::atomic<Frame*>& place : kept_) {
    if (Frame* kept = place.load(std::memory_order_acquire)) {
      kept->drop(*this);
      delete kept;
    }
  }
  for (const Step& step : steps_) {
    if (step.site) memory::unpin(*step.site);
  }
}

size_t Executable::num_recordings() const {
  size_t count = 0;
  for (const Stretch& stretch : stretches_) count += stretch.recordings->count();
  for (const auto& recordings : update_recordings_) count += recordings->count();
  return count;
}

size_t Executable::bytes() const {
  size_t bytes = sizeof(*this) + steps_.size() * sizeof(Step) + operands_.size() * 4 +
                 dead_.size() * 4 + made_.size() * sizeof(Made) +
                 in_arena_.size() * (sizeof(InArena) + sizeof(detail::TensorImpl)) +
                 (num_slots_ + 2 * most_inputs_) * sizeof(Tensor);
  for (const Step& step : steps_) bytes += step.attrs.size() * sizeof(Attr);
  for (const Stretch& stretch : stretches_) bytes += stretch.bytes();
  return bytes;
}

}  // namespace tidemark::exec
