// Where a call of an op runs: one rule for calls that run now and for those that are planned.
//
//   const OpDevice place(op, inputs, placement());
//   if (!place.device().is_cpu()) {
//     op.shape_rule()(infer);                       // over inputs that are where it reads them
//     const DeviceKernel found = place.settle(inputs, infer);
//   }
//
// A call runs where the inputs are that its kernel computes on, else where it was asked to. It
// stays on the host if it looks at shapes alone, has state or is about strings; if it makes small
// integers, which shapes are made of, and none of its inputs is on a device; and, where soft
// placement allows it, if the device has no kernel for it.
#pragma once

#include <tidemark/op.h>

namespace tidemark {

struct Kernel;

/// What the rule says of a call whose shapes are known.
struct DeviceKernel {
  Device device;                   ///< the CPU: it runs there, on copies of what lies elsewhere
  const Kernel* kernel = nullptr;  ///< of the device; null: the outputs are views
};

class TIDEMARK_API OpDevice {
 public:
  /// Inputs may be symbolic. `wish`: where it runs if they leave that open.
  OpDevice(const OpDef& op, std::span<const Tensor> inputs, Device wish);

  /// What is known without the shapes. The CPU: it runs there, and nobody has to ask further.
  Device device() const { return device_; }
  /// Where the call wants an input, should it run on `device`.
  Device wants(size_t input, Device device) const {
    return op_.reads_on_host(input) ? Device() : device;
  }
  /// Throws InvalidArgumentError where the device has no kernel and soft placement is off.
  DeviceKernel settle(std::span<const Tensor> inputs, const InferContext& said) const;

 private:
  const OpDef& op_;
  Device device_;
  bool is_by_input_ = false;
};

}  // namespace tidemark
