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


def is_built_with_cuda():
    """Whether this build has the library for CUDA."""
    return not why_no_gpu().startswith("no GPU: this build has no CUDA")


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
            number = made[d.device_type]
            devices.append(LogicalDevice(f"/device:{d.device_type}:{number}", d.device_type))
            made[d.device_type] += 1
    return devices


def logical_gpu_count():
    """How many GPUs ops can run on: as many as there are, unless somebody chose."""
    if _state["visible"] is None and not _state["configuration"]:
        return gpu_count()
    return len(list_logical_devices("GPU"))


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
    _make_gpus("Visible", wanted, _state["configuration"])
    _state["visible"] = wanted


def get_logical_device_configuration(device):
    """What was set with set_logical_device_configuration, or None."""
    _check(device)
    return _state["configuration"].get(device)


def set_logical_device_configuration(device, logical_devices):
    """Makes logical devices of one. On a GPU each has memory of its own within its limit; on the
    CPU their limits are together that of the process."""
    _check(device)
    logical_devices = list(logical_devices or ())
    if not logical_devices:
        raise ValueError(f"{device.name} must make at least one logical device")
    configuration = {**_state["configuration"], device: logical_devices}
    if device.device_type == "GPU":
        _make_gpus("Virtual", get_visible_devices(), configuration)
    else:
        limits = [_limit_of(one) for one in logical_devices]
        if None not in limits:
            _tidemark.set_limit(sum(limits))
    _state["configuration"] = configuration


def reset():
    """Forgets what was set up, as in a new process."""
    _state.update(visible=None, configuration={})
    if not _has_opened_gpus():
        _tidemark.set_logical_devices("gpu", [])


def _has_opened_gpus():
    return any(name.startswith("gpu:") for name in _tidemark.open_devices())


def _limit_of(logical_device):
    """In bytes, or None."""
    limit = logical_device.memory_limit
    return None if limit is None else int(limit) * 2**20


def _logical_gpus(visible, configuration):
    """Of each logical GPU the number of the physical one, and its limit."""
    made = []
    for device in visible:
        if device.device_type == "GPU":
            number = int(device.name.rpartition(":")[2])
            parts = configuration.get(device, (LogicalDeviceConfiguration(),))
            made += [(number, _limit_of(part)) for part in parts]
    return made


def _make_gpus(what, visible, configuration):
    """Has the runtime make the logical GPUs; once one is in use only their limits may change."""
    wanted = _logical_gpus(visible, configuration)
    if not _has_opened_gpus():
        _tidemark.set_logical_devices("gpu", wanted)
        return
    present = _logical_gpus(get_visible_devices(), _state["configuration"])
    if [number for number, _ in wanted] != [number for number, _ in present]:
        raise RuntimeError(f"{what} devices cannot be modified after being initialized")
    for index, (_, limit) in enumerate(wanted):
        if limit is not None:
            _tidemark.set_device_limit(limit, f"gpu:{index}")


def _check(device):
    if device not in list_physical_devices(getattr(device, "device_type", None)):
        raise ValueError(f"Unrecognized device: {device!r}")
