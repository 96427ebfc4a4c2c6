#include "tidemark/base/placement.h"

#include <tidemark/error.h>

#include <atomic>
#include <cstdio>
#include <utility>

#include "tidemark/base/settings.h"

namespace tidemark {

namespace {

constinit std::atomic<bool> is_soft{true};

/// Opened with the library, where nobody could catch an error: a name that is none is told on the
/// standard error, and the CPU computes.
Device device_of_setting() noexcept {
  try {
    return Device::named(settings::text(settings::kDevice));
  } catch (const Error& error) {
    std::fprintf(stderr, "tidemark: %s is ignored: %s\n", settings::kDevice.name, error.what());
    return {};
  }
}

const Device default_device = device_of_setting();

thread_local constinit Placement innermost __attribute__((tls_model("initial-exec")));

}  // namespace

Device placement() noexcept { return innermost.device.value_or(default_device); }

uint32_t placement_depth() noexcept { return innermost.depth; }

OptionalDevice placed_since(uint32_t depth) noexcept {
  return innermost.depth > depth ? innermost.device : OptionalDevice();
}

Placement enter_placement(Device device) noexcept {
  return std::exchange(innermost, {device, innermost.depth + 1});
}

void leave_placement(Placement outer) noexcept { innermost = outer; }

bool set_soft_placement(bool soft) noexcept { return is_soft.exchange(soft); }
bool soft_placement() noexcept { return is_soft.load(std::memory_order_relaxed); }

}  // namespace tidemark
