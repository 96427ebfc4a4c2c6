"""``tf.config.experimental``: memory of devices, and older names of what is in ``tf.config``."""

from __future__ import annotations

from tidemark import _tidemark
from tidemark._export import refusing as _refusing
from tidemark.config._devices import LogicalDeviceConfiguration as VirtualDeviceConfiguration
from tidemark.config._devices import (
    _check,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_visible_devices,
)
from tidemark.config._devices import get_logical_device_configuration as _get_configuration
from tidemark.config._devices import set_logical_device_configuration as _set_configuration
from tidemark.config._placement import DeviceSpec as _DeviceSpec

_POLICIES = ("explicit", "warn", "silent", "silent_for_int32")
_switches = {"policy": "silent", "synchronous": True, "determinism": False}
_growth = {}

get_virtual_device_configuration = _get_configuration
set_virtual_device_configuration = _set_configuration


def get_memory_info(device):
    """Bytes in use now and at most since the start or the last reset_memory_stats."""
    name = _checked_name(device)
    stats = _tidemark.stats() if name == "cpu:0" else _tidemark.device_stats(name)
    return {"current": stats["live"], "peak": stats["peak"]}


def get_memory_usage(device):
    """Bytes in use now."""
    return get_memory_info(device)["current"]


def reset_memory_stats(device):
    """Forgets the peak so far."""
    name = _checked_name(device)
    if name == "cpu:0":
        _tidemark.reset_peak()
    else:
        _tidemark.reset_device_peak(name)


def get_memory_growth(device):
    """What set_memory_growth was given. Memory here always grows with what is in use."""
    _check(device)
    return _growth.get(device, True)


def set_memory_growth(device, enable):
    """Noted only: memory is never taken ahead of use."""
    _check(device)
    _growth[device] = bool(enable)


def get_device_details(device):
    """What is known about a device; nothing for the CPU."""
    _check(device)
    if device.device_type != "GPU":
        return {}
    name, *capability = _tidemark.describe_gpu(int(device.name.rpartition(":")[2]))
    return {"device_name": name, "compute_capability": tuple(capability)}


def get_device_policy():
    """What set_device_policy was given."""
    return _switches["policy"]


def set_device_policy(device_policy):
    """Noted only: there is one device."""
    if device_policy is not None and device_policy not in _POLICIES:
        raise ValueError(
            f"Invalid argument `device_policy`: {device_policy!r}. Allowed are "
            f"{', '.join(map(repr, _POLICIES))} and None."
        )
    _switches["policy"] = device_policy or "silent"


def get_synchronous_execution():
    """What set_synchronous_execution was given."""
    return _switches["synchronous"]


def set_synchronous_execution(enable):
    """Noted only: ops have computed when their call returns."""
    _switches["synchronous"] = True if enable is None else bool(enable)


def enable_op_determinism():
    """Results do not depend on the number of threads in any case."""
    _switches["determinism"] = True


def is_op_determinism_enabled():
    """Whether enable_op_determinism was called. Results never depend on threads here."""
    return _switches["determinism"]


def enable_tensor_float_32_execution(enabled):
    """Whether GPUs may round the float32 operands of products and convolutions to 10 bits of
    fraction, where that is many times as fast. Off here unless asked for; CPUs never do."""
    if bool(enabled) == tensor_float_32_execution_enabled():
        return
    opened = [name for name in _tidemark.open_devices() if name.startswith("gpu:")]
    if opened:
        raise RuntimeError(
            f"TensorFloat-32 execution cannot be switched once a GPU is in use ({opened[0]} is): "
            "plans count on its workspace. Call enable_tensor_float_32_execution before the first "
            "op on a GPU."
        )
    _tidemark.set_tensor_float_32(bool(enabled))


def tensor_float_32_execution_enabled():
    """What enable_tensor_float_32_execution was given last; False at first."""
    return _tidemark.tensor_float_32()


def _checked_name(device):
    """What the runtime calls a device that is there."""
    spec = _DeviceSpec.from_string(device)
    index = spec.device_index or 0
    if spec.device_type is None or index >= len(list_logical_devices(spec.device_type)):
        raise ValueError(f"No matching devices found for '{device}'")
    return "cpu:0" if spec.device_type == "CPU" else f"{spec.device_type.lower()}:{index}"


__getattr__ = _refusing("tf.config.experimental")
