#include <tidemark/device.h>
#include <tidemark/error.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <mutex>

#include "tidemark/base/backend.h"
#include "tidemark/base/upcalls.h"

namespace tidemark {

constinit std::atomic<int> open_device_count{1};

namespace {

struct OpenDevice {
  std::string name;
  std::unique_ptr<Accelerator> accelerator;  // null: the CPU
};

/// Never destroyed: tensors may outlive static objects. A device stays open.
struct Devices {
  std::mutex mutex;  // for opening
  std::array<OpenDevice, kMostDevices> open{OpenDevice{"cpu:0", nullptr}};
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
  std::unique_ptr<Accelerator> accelerator;
  if (name.index >= 0 && count < kMostDevices) {
    accelerator = upcalls.open_accelerator(name.kind, name.index);
  }
  if (!accelerator) fail_unknown(text);
  all.open[static_cast<size_t>(count)] = {full, std::move(accelerator)};
  open_device_count.store(count + 1, std::memory_order_release);
  return numbered(static_cast<uint8_t>(count));
}

std::string Device::name() const { return devices().open[number_].name; }

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
