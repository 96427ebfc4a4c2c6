"""The devices there are, and which of them may be used."""

from __future__ import annotations

import collections
import functools

from tidemark import _tidemark

PhysicalDevice = collections.namedtuple("PhysicalDevice", ["name", "device_type"])
LogicalDevice = collections.namedtuple("LogicalDevice", ["name", "device_type"])


class LogicalDeviceConfiguration(
    collections.namedtuple(
        "LogicalDeviceConfiguration",
        ["memory_limit", "experimental_priority", "experimental_device_ordinal"],
    )
):
    """How to set up a device: ``memory_limit`` in MiB."""

    __slots__ = ()

    def __new__(cls, memory_limit=None, experimental_priority=None,
                experimental_device_ordinal=None):  # fmt: skip
        return super().__new__(
            cls, memory_limit, experimental_priority, experimental_device_ordinal
        )


# Visible: None, until somebody chooses, for all there are.
_state = {"visible": None, "configuration": {}}


@functools.cache
def gpu_count():
    """How many GPUs there are. Asking loads CUDA's driver, where there is one, and opens none."""
    return _tidemark.count_devices("gpu")[0]


def why_no_gpu():
    """Why there is no GPU, for people; "" where there is one."""
    count, why = _tidemark.count_devices("gpu")
    return "" if count else f"no GPU: {why}"


def list_physical_devices(device_type=None):
    """The devices of this machine that this build can use."""
    devices = []
    if device_type in (None, "CPU"):
        devices.append(PhysicalDevice("/physical_device:CPU:0", "CPU"))
    if device_type in (None, "GPU"):
        devices += [PhysicalDevice(f"/physical_device:GPU:{i}", "GPU") for i in range(gpu_count())]
    return devices


def list_logical_devices(device_type=None):
    """The devices ops can run on."""
    made = collections.Counter()
    devices = []
    for d in get_visible_devices(device_type):
        for _ in _state["configuration"].get(d, (None,)):
            devices.append(LogicalDevice(f"/device:{d.device_type}:{made[d]}", d.device_type))
            made[d] += 1
    return devices


def get_visible_devices(device_type=None):
    """The physical devices that may be used."""
    if _state["visible"] is None:
        return list_physical_devices(device_type)
    return [d for d in _state["visible"] if device_type in (None, d.device_type)]


def set_visible_devices(devices, device_type=None):
    """Says which physical devices may be used. The CPU stays: ops have to run somewhere."""
    if isinstance(devices, PhysicalDevice):
        devices = [devices]
    for device in devices:
        _check(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")
    others = [d for d in get_visible_devices() if device_type not in (None, d.device_type)]
    wanted = others + list(devices)
    if not any(d.device_type == "CPU" for d in wanted):
        raise RuntimeError("Visible devices cannot be modified so that the CPU is not among them")
    _state["visible"] = wanted


def get_logical_device_configuration(device):
    """What was set with set_logical_device_configuration, or None."""
    _check(device)
    return _state["configuration"].get(device)


def set_logical_device_configuration(device, logical_devices):
    """Makes logical devices of one; their memory limits are together that of the device (on the
    CPU: of the process)."""
    _check(device)
    if not logical_devices:
        raise ValueError(f"{device.name} must make at least one logical device")
    limits = [one.memory_limit for one in logical_devices]
    if all(limit is not None for limit in limits):
        limit = sum(int(limit) for limit in limits) * 2**20
        if device.device_type == "CPU":
            _tidemark.set_limit(limit)
        else:
            _tidemark.set_device_limit(limit, computing_name(device))
    _state["configuration"][device] = list(logical_devices)


def reset():
    """Forgets what was set up, as in a new process."""
    _state.update(visible=None, configuration={})


def computing_name(device):
    """What the runtime calls a physical device: "gpu:0"."""
    return device.name.rpartition("physical_device:")[2].lower()


def _check(device):
    if device not in list_physical_devices(getattr(device, "device_type", None)):
        raise ValueError(f"Unrecognized device: {device!r}")
