// Placement: on which device a thread's ops are asked to run.
//
// A call runs where its inputs are. Where none is on a device other than the CPU, it runs on the
// device of the thread's innermost scope, TIDEMARK_DEVICE outside of any; ops/op_device.h has the
// whole rule.
#pragma once

#include <tidemark/device.h>

namespace tidemark {

/// A device, or none in particular: one byte.
class OptionalDevice {
 public:
  constexpr OptionalDevice() noexcept = default;
  constexpr OptionalDevice(Device device) noexcept : number_(device.number()) {}
  constexpr explicit operator bool() const noexcept { return number_ != kNone; }
  constexpr Device value_or(Device other) const noexcept {
    return number_ == kNone ? other : Device::numbered(number_);
  }
  friend constexpr bool operator==(OptionalDevice, OptionalDevice) noexcept = default;

 private:
  static constexpr uint8_t kNone = 255;
  uint8_t number_ = kNone;
};

/// The innermost scope of a thread, and how many there are around it: what a graph was told by
/// scopes of its own is told apart from what its caller was.
struct Placement {
  OptionalDevice device;
  uint32_t depth = 0;
};

/// The device of the innermost scope of this thread.
TIDEMARK_API Device placement() noexcept;
/// How many scopes this thread is in.
TIDEMARK_API uint32_t placement_depth() noexcept;
/// The device of the innermost scope, if more than `depth` are open.
TIDEMARK_API OptionalDevice placed_since(uint32_t depth) noexcept;

/// For front ends whose scopes are not C++'s: opens one, and returns what `leave_placement` takes.
TIDEMARK_API Placement enter_placement(Device device) noexcept;
TIDEMARK_API void leave_placement(Placement outer) noexcept;

class TIDEMARK_API PlacementScope {
 public:
  explicit PlacementScope(Device device) noexcept : outer_(enter_placement(device)) {}
  ~PlacementScope() { leave_placement(outer_); }
  PlacementScope(const PlacementScope&) = delete;

 private:
  Placement outer_;
};

/// Whether an op that cannot run where it was placed runs on the CPU instead, its inputs copied;
/// false: that is an error. Returns the old value. As tf.config.set_soft_device_placement.
TIDEMARK_API bool set_soft_placement(bool soft) noexcept;
TIDEMARK_API bool soft_placement() noexcept;

}  // namespace tidemark
