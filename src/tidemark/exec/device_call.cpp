#include "tidemark/exec/device_call.h"

#include <algorithm>
#include <utility>

#include "tidemark/base/backend.h"
#include "tidemark/base/placement.h"
#include "tidemark/base/random_state.h"
#include "tidemark/kernels/queued_kernel.h"
#include "tidemark/kernels/row_counts.h"
#include "tidemark/memory/workspace.h"
#include "tidemark/ops/op_device.h"
#include "tidemark/tensor/bounces.h"

namespace tidemark::exec {

namespace {

/// On the CPU, with everything copied there.
void run_on_copies(const OpCall& call, std::span<Tensor> outputs) {
  std::vector<Tensor> inputs;
  for (const Tensor& t : call.inputs) {
    if (!t.device().is_cpu()) note_bounce(call.op.name(), t.nbytes());
    inputs.push_back(t.to(Device()));
  }
  run_here({call.op, inputs, call.attrs}, outputs);
}

bool reads_elsewhere(const OpCall& call) {
  return std::any_of(call.inputs.begin(), call.inputs.end(),
                     [](const Tensor& t) { return !t.device().is_cpu(); });
}

/// One call on its way to a device: its inputs where the kernel wants them.
class DeviceCall {
 public:
  DeviceCall(const OpCall& call, const OpDevice& place)
      : call_(call), place_(place), dying_(dying_input()) {}

  /// False: the CPU does it.
  bool run(std::span<Tensor> outputs) {
    inputs_.reserve(call_.inputs.size());
    for (size_t i = 0; i < call_.inputs.size(); ++i) {
      const Tensor& t = call_.inputs[i];
      inputs_.push_back(t.to(place_.wants(i, t.device())));
    }
    const OpCall read{call_.op, inputs_, call_.attrs};
    InferContext infer(read, static_cast<int>(outputs.size()));
    infer_outputs(read, infer);
    const DeviceKernel found = place_.settle(inputs_, infer);
    if (found.device.is_cpu()) return false;
    if (!found.kernel) return make_views(read, infer, outputs);
    device_ = found.device;
    const KernelRun counts_rows = row_count_of(*found.kernel);
    if (!counts_rows && !are_known(infer)) return false;
    enqueue(*found.kernel, counts_rows, infer, outputs);
    return true;
  }

 private:
  static bool are_known(const InferContext& infer) {
    for (int i = 0; i < infer.num_outputs(); ++i) {
      if (!infer.output(i).shape.is_fully_known()) return false;
    }
    return true;
  }

  void enqueue(const Kernel& kernel, KernelRun counts_rows, const InferContext& infer,
               std::span<Tensor> outputs) {
    QueuedKernel queued;
    queued.device = device_;
    queued.op = &call_.op;
    queued.kernel = kernel;
    queued.attrs.assign(call_.attrs.begin(), call_.attrs.end());
    queued.inputs.reserve(inputs_.size());
    queued.outputs.reserve(outputs.size());
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const Device wanted = place_.wants(i, device_);
      if (inputs_[i].device() != wanted) inputs_[i] = inputs_[i].to(wanted);
      queued.inputs.push_back(QueuedKernel::Operand::of(inputs_[i]));
    }
    std::vector<InferContext::Output> specs;
    std::vector<Shape> shapes;
    bool waits = false;
    for (int i = 0; i < infer.num_outputs(); ++i) {
      specs.push_back(infer.output(i));
      shapes.push_back(specs.back().shape);
      waits = waits || (!counts_rows && call_.op.has_rows_from_values(i));
    }
    const OpCall read{call_.op, inputs_, call_.attrs};
    std::vector<Tensor> made;
    std::vector<Shape> found;
    if (waits) queued.shapes = &found;
    {
      // Freed as soon as the work is enqueued, and used again by what is enqueued later: the
      // stream's order keeps them apart.
      const memory::Workspace workspace(kernel.workspace ? kernel.workspace(read, shapes) : 0,
                                        device_);
      queued.workspace = workspace.data();
      if (counts_rows) set_rows(read, count_rows(queued, counts_rows), specs);
      for (const auto& spec : specs) {
        made.push_back(make_output(spec));
        queued.outputs.push_back(QueuedKernel::Operand::of(made.back()));
      }
      // Devices have their streams from the first memory on.
      accelerator_of(device_).stream().run(std::move(queued));
    }
    if (waits) {
      Stream& stream = accelerator_of(device_).stream();
      stream.wait(stream.now());
      KernelContext shaped(read, made, nullptr);  // how many rows are real
      for (size_t i = 0; i < made.size() && i < found.size(); ++i) {
        shaped.set_shape(static_cast<int>(i), found[i]);
      }
    }
    std::move(made.begin(), made.end(), outputs.begin());
  }

  /// The host waits for the number.
  int64_t count_rows(const QueuedKernel& queued, KernelRun counts_rows) const {
    const Tensor rows = new_tensor(DType::int64, {1}, memory::Holder::value, 0, device_);
    QueuedKernel counting = queued;
    counting.kernel = {counts_rows, nullptr};
    counting.outputs = {QueuedKernel::Operand::of(rows)};
    accelerator_of(device_).stream().run(std::move(counting));
    return *rows.to(Device()).data<int64_t>();
  }
  static void set_rows(const OpCall& call, int64_t rows, std::vector<InferContext::Output>& specs) {
    for (size_t i = 0; i < specs.size(); ++i) {
      if (!call.op.has_rows_from_values(static_cast<int>(i))) continue;
      specs[i].shape = with_rows(call, specs[i].shape, rows);
    }
  }

  /// Asked before the call has handles of its own on the inputs; null: none dies.
  const Tensor* dying_input() const {
    for (size_t i = 0; i < std::min(call_.inputs.size(), kMostTakenOver); ++i) {
      if (!call_.op.reads_on_host(i) && may_take_over(call_, i)) return &call_.inputs[i];
    }
    return nullptr;
  }

  /// Where an input was that dies, in the order of the stream, or in new memory.
  Tensor make_output(const InferContext::Output& spec) {
    if (dying_ && dying_->device() == device_ && dying_->dtype() == spec.dtype &&
        dying_->shape() == spec.shape) {
      return taken_over(*std::exchange(dying_, nullptr));
    }
    return new_tensor(spec.dtype, spec.shape, memory::Holder::value, 0, device_);
  }

  const OpCall& call_;
  const OpDevice& place_;
  const Tensor* dying_;
  Device device_;
  std::vector<Tensor> inputs_;
};

/// A draw from the process's generator: its place there is taken now, in the order of the host, and
/// the numbers are made where they are wanted. False: they are the CPU's to make.
bool draw_elsewhere(const OpCall& call, std::span<Tensor> outputs) {
  if (!call.op.is_stateful() || call.op.distribution() == Distribution::none) return false;
  if (placement().is_cpu()) return false;
  const OpDef& drawing = OpRegistry::instance().get("stream_" + call.op.name());
  const auto seed_attr = static_cast<size_t>(call.op.attr_index("seed"));
  std::vector<Attr> attrs(call.attrs.begin(), call.attrs.end());
  const Attr seed = attrs[seed_attr];
  attrs.erase(attrs.begin() + static_cast<std::ptrdiff_t>(seed_attr));
  Tensor inputs[] = {call.inputs[0], new_tensor(DType::uint64, {3})};
  const OpCall drawn{drawing, inputs, attrs};
  InferContext infer(drawn, 1);
  infer_outputs(drawn, infer);
  if (!backend_of(placement()).find_kernel(drawing, inputs[0].dtype())) return false;
  const int64_t group = random_group(infer.output(0).dtype);
  const int64_t groups = (infer.output(0).shape.num_elements() + group - 1) / group;
  const RandomStream stream =
      random_state::reserve(seed.is_none() ? std::nullopt : std::optional(seed.as_int()),
                            static_cast<uint64_t>(groups * kBlocksPerGroup));
  auto* state = inputs[1].mutable_data<uint64_t>();
  state[0] = stream.key;
  state[1] = stream.counter_low;
  state[2] = stream.counter_high;
  const OpDevice place(drawing, inputs, placement());
  if (!DeviceCall(drawn, place).run(outputs)) run_here(drawn, outputs);
  return true;
}

}  // namespace

bool run_elsewhere(const OpCall& call, std::span<Tensor> outputs) {
  // A kernel that looks at shapes alone reads no element, wherever those are.
  if (call.op.is_about_shape()) return false;
  if (draw_elsewhere(call, outputs)) return true;
  const OpDevice place(call.op, call.inputs, placement());
  if (!place.device().is_cpu() && DeviceCall(call, place).run(outputs)) return true;
  if (!reads_elsewhere(call)) return false;
  run_on_copies(call, outputs);
  return true;
}

}  // namespace tidemark::exec
