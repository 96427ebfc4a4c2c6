#include "tidemark/ops/op_device.h"

#include <algorithm>

#include "tidemark/base/backend.h"
#include "tidemark/base/host_values.h"
#include "tidemark/base/placement.h"

namespace tidemark {

namespace {

bool has_strings(std::span<const Tensor> inputs) {
  return std::any_of(inputs.begin(), inputs.end(),
                     [](const Tensor& t) { return t.dtype() == DType::string; });
}

bool makes_strings(const InferContext& said) {
  for (int i = 0; i < said.num_outputs(); ++i) {
    if (said.output(i).dtype == DType::string) return true;
  }
  return false;
}

/// What few integers of the host's are compared to: whether a loop goes on, which branch is taken.
bool is_decision(const InferContext::Output& output, std::span<const Tensor> inputs) {
  const auto is_few = [](DType dtype, int64_t count) {
    return belongs_on_host(dtype == DType::bool_ ? DType::int32 : dtype, count);
  };
  return output.dtype == DType::bool_ && is_few(output.dtype, output.shape.num_elements()) &&
         !inputs.empty() && std::all_of(inputs.begin(), inputs.end(), [&](const Tensor& t) {
           return t.shape().is_fully_known() && is_few(t.dtype(), t.shape().num_elements());
         });
}

bool makes_what_belongs_here(const InferContext& said, std::span<const Tensor> inputs) {
  for (int i = 0; i < said.num_outputs(); ++i) {
    const auto& output = said.output(i);
    if (belongs_on_host(output.dtype, output.shape.num_elements())) continue;
    if (!is_decision(output, inputs)) return false;
  }
  return true;
}

[[noreturn]] void fail_no_kernel(const OpDef& op, DType key, Device device) {
  fail<InvalidArgumentError>("[", op.name(), "] has no kernel for ", name_of(key), " on ",
                             device.name(),
                             ". Allow copies to the CPU with "
                             "tf.config.set_soft_device_placement(True), or place the op there");
}

}  // namespace

OpDevice::OpDevice(const OpDef& op, std::span<const Tensor> inputs, Device wish)
    : op_(op), device_(wish) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (inputs[i].device().is_cpu() || op.reads_on_host(i)) continue;
    device_ = inputs[i].device();
    is_by_input_ = true;
    break;
  }
  // A kernel that looks at shapes alone reads no element, wherever those are.
  if (op.is_about_shape() || op.is_stateful() || has_strings(inputs)) device_ = Device();
}

DeviceKernel OpDevice::settle(std::span<const Tensor> inputs, const InferContext& said) const {
  if (device_.is_cpu() || makes_strings(said)) return {};
  if (!is_by_input_ && makes_what_belongs_here(said, inputs)) return {};
  if (said.num_outputs() > 0 && said.output(0).aliased_input >= 0) {
    const auto base = static_cast<size_t>(said.output(0).aliased_input);
    const bool is_here = base < inputs.size() && inputs[base].device().is_cpu();
    return {is_here ? Device() : device_};
  }
  const DType key = inputs.empty() ? said.output(0).dtype : inputs[0].dtype();
  const Kernel* kernel = backend_of(device_).find_kernel(op_, key);
  if (!kernel && !soft_placement()) fail_no_kernel(op_, key, device_);
  return {kernel ? device_ : Device(), kernel};
}

}  // namespace tidemark
