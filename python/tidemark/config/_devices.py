"""The devices there are, and which of them may be used."""

from __future__ import annotations

import collections

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


_PHYSICAL = (PhysicalDevice("/physical_device:CPU:0", "CPU"),)
_state = {"visible": list(_PHYSICAL), "configuration": {}}


def list_physical_devices(device_type=None):
    """The devices of this machine that this build can use."""
    return [d for d in _PHYSICAL if device_type in (None, d.device_type)]


def list_logical_devices(device_type=None):
    """The devices ops can run on."""
    return [
        LogicalDevice(f"/device:{d.device_type}:{i}", d.device_type)
        for d in get_visible_devices(device_type)
        for i in range(len(_state["configuration"].get(d, (None,))))
    ]


def get_visible_devices(device_type=None):
    """The physical devices that may be used."""
    return [d for d in _state["visible"] if device_type in (None, d.device_type)]


def set_visible_devices(devices, device_type=None):
    """Says which physical devices may be used. The CPU stays: ops have to run somewhere."""
    if isinstance(devices, PhysicalDevice):
        devices = [devices]
    for device in devices:
        _check(device)
        if device_type not in (None, device.device_type):
            raise ValueError(f"Unrecognized device: {device!r}")
    others = [d for d in _state["visible"] if device_type not in (None, d.device_type)]
    wanted = others + list(devices)
    if not any(d.device_type == "CPU" for d in wanted):
        raise RuntimeError("Visible devices cannot be modified so that the CPU is not among them")
    _state["visible"] = wanted


def get_logical_device_configuration(device):
    """What was set with set_logical_device_configuration, or None."""
    _check(device)
    return _state["configuration"].get(device)


def set_logical_device_configuration(device, logical_devices):
    """Makes logical devices of one; memory limits on the CPU are together that of the process."""
    _check(device)
    if not logical_devices:
        raise ValueError(f"{device.name} must make at least one logical device")
    limits = [one.memory_limit for one in logical_devices]
    if all(limit is not None for limit in limits):
        _tidemark.set_limit(sum(int(limit) for limit in limits) * 2**20)
    _state["configuration"][device] = list(logical_devices)


def reset():
    """Forgets what was set up, as in a new process."""
    _state.update(visible=list(_PHYSICAL), configuration={})


def _check(device):
    if device not in _PHYSICAL:
        raise ValueError(f"Unrecognized device: {device!r}")
