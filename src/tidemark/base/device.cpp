#include <tidemark/device.h>
#include <tidemark/error.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <functional>
#include <map>
#include <mutex>

#include "tidemark/base/backend.h"
#include "tidemark/base/upcalls.h"

namespace tidemark {

constinit std::atomic<int> open_device_count{1};

namespace {

struct OpenDevice {
  std::string name, kind;
  LogicalDevice made;
  std::unique_ptr<Accelerator> accelerator;  // null: the CPU
};

/// Never destroyed: tensors may outlive static objects. A device stays open.
struct Devices {
  std::mutex mutex;  // for opening, and for `logical`
  std::array<OpenDevice, kMostDevices> open{OpenDevice{"cpu:0", "cpu", {}, nullptr}};
  std::map<std::string, std::vector<LogicalDevice>, std::less<>> logical;  // by kind

  /// The device that a name stands for; none: the kind has fewer.
  std::optional<LogicalDevice> logical_device(std::string_view kind, int index) const {
    const auto found = logical.find(kind);
    if (found == logical.end()) return LogicalDevice{.physical = index};
    if (static_cast<size_t>(index) >= found->second.size()) return std::nullopt;
    return found->second[static_cast<size_t>(index)];
  }
};

Devices& devices() {
  static auto* all = new Devices;
  return *all;
}

/// "emulated" and 0 of "/device:EMULATED:0"; index -1: the name is none.
struct Name {
  std::string kind;
  int index = 0;

  explicit Name(std::string_view text) {
    if (const size_t at = text.rfind('/'); at != text.npos) text = text.substr(at + 1);
    for (const std::string_view word : {"device:", "DEVICE:"}) {
      if (text.starts_with(word)) text.remove_prefix(word.size());
    }
    if (const size_t at = text.find(':'); at != text.npos) {
      const std::string_view digits = text.substr(at + 1);
      const auto [end, error] =
          std::from_chars(digits.data(), digits.data() + digits.size(), index);
      if (error != std::errc{} || end != digits.data() + digits.size() || index < 0) index = -1;
      text = text.substr(0, at);
    }
    kind = text;
    std::transform(kind.begin(), kind.end(), kind.begin(),
                   [](unsigned char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; });
  }
};

[[noreturn]] void fail_unknown(std::string_view name) {
  std::string open;
  for (const Device device : open_devices()) open += (open.empty() ? "" : ", ") + device.name();
  fail<InvalidArgumentError>("There is no device \"", name, "\" here. Open are ", open,
                             "; \"emulated\" can be opened on every machine");
}

}  // namespace

Device Device::named(std::string_view text) {
  const Name name(text);
  Devices& all = devices();
  const std::string full = name.kind + ":" + std::to_string(name.index);
  std::lock_guard hold(all.mutex);
  const int count = open_device_count.load(std::memory_order_relaxed);
  for (int i = 0; i < count; ++i) {
    if (all.open[static_cast<size_t>(i)].name == full) return numbered(static_cast<uint8_t>(i));
  }
  if (count == kMostDevices) {
    fail<ResourceExhaustedError>("\"", text, "\" cannot be opened: ", kMostDevices,
                                 " devices are open, which are as many as there can be");
  }
  std::optional<LogicalDevice> made;
  if (name.index >= 0) made = all.logical_device(name.kind, name.index);
  std::unique_ptr<Accelerator> accelerator;
  if (made) accelerator = upcalls.open_accelerator(name.kind, made->physical);
  if (!accelerator) fail_unknown(text);
  all.open[static_cast<size_t>(count)] = {full, name.kind, *made, std::move(accelerator)};
  open_device_count.store(count + 1, std::memory_order_release);
  return numbered(static_cast<uint8_t>(count));
}

std::string Device::name() const { return devices().open[number_].name; }

void set_logical_devices(std::string_view kind, std::vector<LogicalDevice> made) {
  if (kind == "cpu") {
    fail<InvalidArgumentError>("The CPU is one device; its memory is limited by memory::set_limit");
  }
  for (const LogicalDevice& device : made) {
    if (device.physical < 0 || device.memory_limit.value_or(1) <= 0) {
      fail<InvalidArgumentError>("A logical device is on a physical one counted from 0 and has a ",
                                 "limit above 0; given ", kind, " ", device.physical, " with ",
                                 device.memory_limit.value_or(0), " bytes");
    }
  }
  Devices& all = devices();
  std::lock_guard hold(all.mutex);
  for (const Device device : open_devices()) {
    if (all.open[device.number()].kind == kind) {
      fail<FailedPreconditionError>(
          "Logical devices are set before the first is used: ", device.name(), " is open");
    }
  }
  if (made.empty()) {
    if (const auto found = all.logical.find(kind); found != all.logical.end()) {
      all.logical.erase(found);
    }
  } else {
    all.logical.insert_or_assign(std::string(kind), std::move(made));
  }
}

std::optional<int64_t> memory_limit_of(Device device) {
  return devices().open[device.number()].made.memory_limit;
}

std::vector<Device> devices_beside(Device device) {
  const auto& open = devices().open;
  const OpenDevice& own = open[device.number()];
  std::vector<Device> out;
  for (const Device other : open_devices()) {
    const OpenDevice& one = open[other.number()];
    if (other != device && one.kind == own.kind && one.made.physical == own.made.physical) {
      out.push_back(other);
    }
  }
  return out;
}

std::vector<Device> open_devices() {
  std::vector<Device> out;
  const int count = open_device_count.load(std::memory_order_acquire);
  for (int i = 0; i < count; ++i) out.push_back(Device::numbered(static_cast<uint8_t>(i)));
  return out;
}

const Backend& backend_of(Device device) {
  return device.is_cpu() ? upcalls.cpu_backend() : accelerator_of(device);
}

Accelerator& accelerator_of(Device device) {
  Accelerator* accelerator = devices().open[device.number()].accelerator.get();
  if (!accelerator) {
    fail<FailedPreconditionError>(
        "The CPU is no accelerator: its memory is the host's, and it has no streams");
  }
  return *accelerator;
}

}  // namespace tidemark
