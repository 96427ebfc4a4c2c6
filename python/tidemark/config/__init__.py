"""``tf.config``: devices, threads and switches.

tf.config.list_physical_devices("GPU")                      # []: there is none
tf.config.threading.set_intra_op_parallelism_threads(2)
tf.config.experimental.get_memory_info("CPU:0")["peak"]     # works on the CPU
"""

from __future__ import annotations

from tidemark import _tidemark
from tidemark._tensorflow import unsupported as _unsupported
from tidemark.config import experimental, optimizer, threading
from tidemark.config._devices import (
    LogicalDevice,
    LogicalDeviceConfiguration,
    PhysicalDevice,
    get_logical_device_configuration,
    get_visible_devices,
    list_logical_devices,
    list_physical_devices,
    set_logical_device_configuration,
    set_visible_devices,
)

_switches = {"soft_device_placement": True, "run_functions_eagerly": False}


def get_soft_device_placement():
    """Whether a device that is not there is replaced by the CPU."""
    return _switches["soft_device_placement"]


def set_soft_device_placement(enabled):
    """Says whether a device that is not there is replaced by the CPU."""
    _switches["soft_device_placement"] = bool(enabled)
    _tidemark.set_soft_placement(bool(enabled))


def run_functions_eagerly(run_eagerly):
    """Says whether functions run as plain Python instead of being traced."""
    # Only functions need it.
    from tidemark._functions.function import run_functions_eagerly as switch

    _switches["run_functions_eagerly"] = bool(run_eagerly)
    switch(run_eagerly)


def functions_run_eagerly():
    """Whether functions run as plain Python instead of being traced."""
    return _switches["run_functions_eagerly"]


experimental_run_functions_eagerly = run_functions_eagerly
experimental_functions_run_eagerly = functions_run_eagerly

globals().update(_unsupported.names_under("tf.config"))
