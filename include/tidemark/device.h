// Device: whose memory a tensor's elements lie in, and what computes on them.
//
//   td::Device d = td::Device::named("emulated:0");      // opened when first named
//   td::memory::set_limit(td::MiB(64), d);
//   std::cout << d.name();                               // emulated:0
//   td::set_logical_devices("gpu", {{.physical = 0, .memory_limit = td::GiB(8)}, {.physical = 0}});
//
// `emulated` is an accelerator made of host memory that the host cannot touch, with a queue of its
// own: a program that runs on it right waits where a GPU needs it to.
#pragma once

#include <tidemark/export.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tidemark {

class TIDEMARK_API Device {
 public:
  /// The CPU.
  constexpr Device() noexcept = default;
  /// "cpu", "emulated", "emulated:0", or as TensorFlow writes it: "/device:EMULATED:0". Throws
  /// InvalidArgumentError for what is no device here, with those that are.
  static Device named(std::string_view name);
  static constexpr Device numbered(uint8_t number) noexcept {
    Device device;
    device.number_ = number;
    return device;
  }

  constexpr bool is_cpu() const noexcept { return number_ == 0; }
  /// Devices are numbered in the order in which they were opened; the CPU is 0.
  constexpr uint8_t number() const noexcept { return number_; }
  /// "cpu:0".
  std::string name() const;
  friend constexpr bool operator==(Device, Device) noexcept = default;

 private:
  uint8_t number_ = 0;
};

/// A device as programs see it.
struct LogicalDevice {
  int physical = 0;                                    ///< on which one of its kind, counted from 0
  std::optional<int64_t> memory_limit = std::nullopt;  ///< in bytes; none: all that is there
};

/// From now on "gpu:0", "gpu:1", … of a kind are these, in their order; without any they are the
/// physical ones. Each has memory, streams and a limit of its own, also where several are one
/// physical device. Throws FailedPreconditionError where one of the kind was opened already, and
/// InvalidArgumentError for the CPU, a negative number and a limit that is not above zero.
TIDEMARK_API void set_logical_devices(std::string_view kind, std::vector<LogicalDevice> made);

/// The CPU and the devices opened so far.
TIDEMARK_API std::vector<Device> open_devices();

}  // namespace tidemark
