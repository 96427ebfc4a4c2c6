// Placement: on which device a thread's ops run.
//
// A call runs where its inputs are. Where none is on a device other than the CPU, it runs on the
// device of the thread's innermost scope, TIDEMARK_DEVICE outside of any; small integers, which
// shapes are made of, are computed on the host all the same.
#pragma once

#include <tidemark/device.h>
#include <tidemark/tensor.h>

namespace tidemark::exec {

/// The device of the innermost scope of this thread.
TIDEMARK_API Device placement() noexcept;

class TIDEMARK_API PlacementScope {
 public:
  explicit PlacementScope(Device device) noexcept;
  ~PlacementScope();
  PlacementScope(const PlacementScope&) = delete;

 private:
  uint8_t outer_;
};

/// Whether a value is the host's wherever a thread computes: strings, and few integers, which
/// sizes, axes and counters are made of.
bool stays_on_host(DType dtype, int64_t elements) noexcept;

/// A value where the innermost scope wants it: of one that was made on the host a copy on the
/// scope's device, else the value itself.
TIDEMARK_API Tensor placed(const Tensor& value);

/// For front ends whose scopes are not C++'s: returns what was in force.
TIDEMARK_API Device place(Device device) noexcept;

/// Whether an op that cannot run where it was placed runs on the CPU instead, its inputs copied;
/// false: that is an error. Returns the old value. As tf.config.set_soft_device_placement.
TIDEMARK_API bool set_soft_placement(bool soft) noexcept;
TIDEMARK_API bool soft_placement() noexcept;

}  // namespace tidemark::exec
