#include "tidemark/exec/device_call.h"

#include <algorithm>
#include <utility>

#include "tidemark/base/backend.h"
#include "tidemark/exec/placement.h"
#include "tidemark/kernels/queued_kernel.h"
#include "tidemark/memory/workspace.h"

namespace tidemark::exec {

namespace {

bool has_strings(const OpCall& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(),
                     [](const Tensor& t) { return t.dtype() == DType::string; });
}

/// The device of the first input whose elements the kernel computes on; the CPU: of none.
Device device_of_inputs(const OpCall& call) {
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    if (!call.inputs[i].device().is_cpu() && !call.op.reads_on_host(i)) {
      return call.inputs[i].device();
    }
  }
  return {};
}

/// What the host decides by.
bool makes_small_integers(const InferContext& infer) {
  for (int i = 0; i < infer.num_outputs(); ++i) {
    const auto& output = infer.output(i);
    if (!stays_on_host(output.dtype, output.shape.num_elements())) return false;
  }
  return true;
}

bool makes_strings(const InferContext& infer) {
  for (int i = 0; i < infer.num_outputs(); ++i) {
    if (infer.output(i).dtype == DType::string) return true;
  }
  return false;
}

/// On the CPU, with everything copied there.
void run_on_copies(const OpCall& call, std::span<Tensor> outputs) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : call.inputs) inputs.push_back(t.to(Device()));
  run_here({call.op, inputs, call.attrs}, outputs);
}

bool reads_elsewhere(const OpCall& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(),
                     [](const Tensor& t) { return !t.device().is_cpu(); });
}

[[noreturn]] void fail_no_kernel(const OpCall& call, DType key, Device device) {
  fail<InvalidArgumentError>("[", call.op.name(), "] has no kernel for ", name_of(key), " on ",
                             device.name(),
                             ". Allow copies to the CPU with "
                             "tf.config.set_soft_device_placement(True), or place the op there");
}

/// One call on its way to a device: its inputs where the kernel wants them.
class DeviceCall {
 public:
  DeviceCall(const OpCall& call, Device device)
      : call_(call), device_(device), accelerator_(accelerator_of(device)), dying_(dying_input()) {}

  /// False: the CPU does it.
  bool run(std::span<Tensor> outputs, bool is_placed_by_input) {
    for (size_t i = 0; i < call_.inputs.size(); ++i) {
      const Tensor& t = call_.inputs[i];
      inputs_.push_back(call_.op.reads_on_host(i) ? t.to(Device()) : t);
    }
    const OpCall read{call_.op, inputs_, call_.attrs};
    InferContext infer(read, static_cast<int>(outputs.size()));
    infer_outputs(read, infer);
    if (makes_strings(infer)) return false;
    if (!is_placed_by_input && makes_small_integers(infer)) return false;
    if (infer.num_outputs() > 0 && infer.output(0).aliased_input >= 0) {
      const auto base = static_cast<size_t>(infer.output(0).aliased_input);
      if (base < inputs_.size() && inputs_[base].device().is_cpu()) return false;
      if (make_views(read, infer, outputs)) return true;
    }
    const DType key = inputs_.empty() ? infer.output(0).dtype : inputs_[0].dtype();
    const Kernel* kernel = accelerator_.find_kernel(call_.op, key);
    if (!kernel) {
      if (!soft_placement()) fail_no_kernel(call_, key, device_);
      return false;
    }
    enqueue(*kernel, infer, outputs);
    return true;
  }

 private:
  void enqueue(const Kernel& kernel, const InferContext& infer, std::span<Tensor> outputs) {
    QueuedKernel queued;
    queued.op = &call_.op;
    queued.kernel = kernel;
    queued.attrs.assign(call_.attrs.begin(), call_.attrs.end());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      if (!call_.op.reads_on_host(i)) inputs_[i] = inputs_[i].to(device_);
      queued.inputs.push_back(operand(inputs_[i]));
    }
    std::vector<Tensor> made;
    std::vector<Shape> shapes;
    bool waits = false;
    for (int i = 0; i < infer.num_outputs(); ++i) {
      const auto& spec = infer.output(i);
      made.push_back(make_output(spec));
      queued.outputs.push_back(operand(made.back()));
      shapes.push_back(spec.shape);
      waits = waits || call_.op.has_rows_from_values(i);
    }
    const OpCall read{call_.op, inputs_, call_.attrs};
    std::vector<Shape> found;
    if (waits) queued.shapes = &found;
    Stream& stream = accelerator_.stream();
    {
      // Freed as soon as the work is enqueued, and used again by what is enqueued later: the
      // stream's order keeps them apart.
      const memory::Workspace workspace(kernel.workspace ? kernel.workspace(read, shapes) : 0,
                                        device_);
      queued.workspace = workspace.data();
      stream.run(std::move(queued));
    }
    if (waits) {
      stream.wait(stream.now());
      KernelContext told(read, made, nullptr);  // how many rows are real
      for (size_t i = 0; i < made.size() && i < found.size(); ++i) {
        told.set_shape(static_cast<int>(i), found[i]);
      }
    }
    std::move(made.begin(), made.end(), outputs.begin());
  }

  /// Asked before the call has handles of its own on the inputs; null: none dies.
  const Tensor* dying_input() const {
    for (size_t i = 0; i < std::min(call_.inputs.size(), kMostTakenOver); ++i) {
      const bool is_there = call_.inputs[i].device() == device_ && !call_.op.reads_on_host(i);
      if (is_there && may_take_over(call_, i)) return &call_.inputs[i];
    }
    return nullptr;
  }

  /// Where an input was that dies, in the order of the stream, or in new memory.
  Tensor make_output(const InferContext::Output& spec) {
    if (dying_ && dying_->dtype() == spec.dtype && dying_->shape() == spec.shape) {
      return taken_over(*std::exchange(dying_, nullptr));
    }
    return new_tensor(spec.dtype, spec.shape, memory::Holder::value, 0, device_);
  }

  static QueuedKernel::Operand operand(const Tensor& t) {
    return {t.dtype(), t.shape(), t.mutable_raw_data(), t.device().is_cpu() ? t : Tensor()};
  }

  const OpCall& call_;
  const Device device_;
  Accelerator& accelerator_;
  const Tensor* dying_;
  std::vector<Tensor> inputs_;
};

}  // namespace

bool run_elsewhere(const OpCall& call, std::span<Tensor> outputs) {
  const Device by_input = device_of_inputs(call);
  const Device device = by_input.is_cpu() ? placement() : by_input;
  // A kernel that looks at shapes alone reads no element, wherever those are.
  if (call.op.is_about_shape()) return false;
  const bool stays = device.is_cpu() || call.op.is_stateful() || has_strings(call);
  if (!stays && DeviceCall(call, device).run(outputs, !by_input.is_cpu())) return true;
  if (!reads_elsewhere(call)) return false;
  run_on_copies(call, outputs);
  return true;
}

}  // namespace tidemark::exec
