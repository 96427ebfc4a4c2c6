// Devices: where ops run, and the memory of those other than the CPU.

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <tidemark/memory.h>

#include "tidemark/base/backend.h"
#include "tidemark/base/device_kinds.h"
#include "tidemark/base/placement.h"
#include "tidemark/base/precision.h"
#include "tidemark/tensor/bounces.h"

#include "memory_module.h"
#include "op_call.h"
#include "sites.h"
#include "tensor_type.h"

namespace nb = nanobind;

namespace tidemark::python {

namespace {

nb::dict device_stats(const std::string& name) {
  const memory::DeviceStats s = memory::stats(Device::named(name));
  nb::dict out;
  out["live"] = s.live;
  out["planned"] = s.planned;
  out["retained"] = s.retained;
  out["committed"] = s.committed;
  out["tensor_bytes"] = s.tensor_bytes;
  out["tensor_peak"] = s.tensor_peak;
  out["peak"] = s.peak;
  out["live_buffers"] = s.live_buffers;
  out["limit"] = s.limit;
  return out;
}

nb::dict device_use(const std::string& name) {
  const memory::DeviceUse use = memory::use_of(Device::named(name));
  nb::dict out;
  out["taken"] = use.taken;
  out["committed"] = use.committed;
  out["beside"] = use.beside;
  out["context"] = use.context;
  out["others"] = use.others;
  out["tells_processes"] = use.tells_processes;
  return out;
}

nb::object tensor_on(nb::handle tensor, const std::string& name) {
  const SourceLine here;
  return nb::steal(wrap(copied_to(tensor_of(tensor.ptr()), Device::named(name))));
}

std::vector<std::string> device_names() {
  std::vector<std::string> out;
  for (const Device device : open_devices()) out.push_back(device.name());
  return out;
}

}  // namespace

void add_device_functions(nb::module_& m) {
  m.def("open_devices", device_names, "Names of the devices opened so far, the CPU first.");
  m.def("open_device", [](const std::string& name) { return Device::named(name).name(); });
  m.def(
      "count_devices",
      [](const std::string& kind) {
        std::string why;
        const int count = count_devices(kind, why);
        return std::pair(count, why);
      },
      nb::arg("kind"), "How many devices of a kind can be opened, and why there is none.");
  m.def(
      "set_logical_devices",
      [](const std::string& kind, const std::vector<std::pair<int, std::optional<int64_t>>>& made) {
        std::vector<LogicalDevice> devices;
        for (const auto& [physical, limit] : made) devices.push_back({physical, limit});
        set_logical_devices(kind, std::move(devices));
      },
      nb::arg("kind"), nb::arg("made"),
      "What the devices of a kind are, in order: (physical one, memory limit or None).");
  m.def(
      "describe_gpu",
      [](int index) {
        const GpuDescription told = describe_gpu(index);
        return nb::make_tuple(told.name, told.major, told.minor);
      },
      nb::arg("index"), "Name and instruction set of a physical GPU, which stays closed.");
  m.def("placement", [] { return placement().name(); });
  m.def(
      "enter_placement",
      [](const std::string& name) {
        const Placement outer = enter_placement(Device::named(name));
        const std::optional<int> device =
            outer.device ? std::optional<int>(outer.device.value_or({}).number()) : std::nullopt;
        return std::pair(device, outer.depth);
      },
      nb::arg("device"),
      "This thread's ops run there from now on; returns what leave_placement takes.");
  m.def("leave_placement", [](std::pair<std::optional<int>, uint32_t> outer) {
    OptionalDevice device;
    if (outer.first) device = Device::numbered(static_cast<uint8_t>(*outer.first));
    leave_placement({device, outer.second});
  });
  m.def("set_soft_placement", set_soft_placement, nb::arg("soft"),
        "Whether ops run on the CPU where their device has no kernel; returns the old value.");
  m.def("set_tensor_float_32", set_tensor_float_32, nb::arg("is_allowed"),
        "Whether GPUs opened from now on round operands of products; returns the old value.");
  m.def("tensor_float_32", tensor_float_32);
  m.def(
      "wait_for_devices",
      [] {
        const Unlocked others;
        for (const Device device : open_devices()) {
          if (!device.is_cpu()) memory::wait_for(device);
        }
      },
      "Returns when the work enqueued so far is done; raises what it failed with.");
  m.def("copied_to", tensor_on, nb::arg("tensor"), nb::arg("device"));
  m.def(
      "bounces",
      [] {
        nb::list told;
        for (const Bounce& b : bounces()) {
          told.append(nb::make_tuple(b.op, b.place, b.copies, b.bytes));
        }
        return told;
      },
      "Copies from devices for ops of the host since the start: (op, place, copies, bytes).");
  m.def("device_use", device_use, nb::arg("device"),
        "What of a device is taken, by this process and by others, as its driver tells.");
  m.def("device_stats", device_stats, nb::arg("device"),
        "Bytes of a device: live + planned + retained == committed.");
  m.def(
      "set_device_limit",
      [](int64_t bytes, const std::string& name) {
        return memory::set_limit(bytes, Device::named(name));
      },
      nb::arg("bytes"), nb::arg("device"), "Returns the old limit.");
  m.def(
      "reset_device_peak",
      [](const std::string& name) { return memory::reset_peak(Device::named(name)); },
      nb::arg("device"), "Forgets the device's peak so far; returns it.");
  m.def(
      "release_device",
      [](const std::string& name) { return memory::release_retained(Device::named(name)); },
      nb::arg("device"), "Gives free pages of the device back; returns how many bytes.");
}

}  // namespace tidemark::python
