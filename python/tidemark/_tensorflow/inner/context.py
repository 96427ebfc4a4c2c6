"""``tensorflow.python.eager.context``: where ops run when they are called."""

from __future__ import annotations

import contextlib

import tidemark
from tidemark._graph.scopes import eager_mode as eager_mode
from tidemark._graph.scopes import executing_eagerly

EAGER_MODE, GRAPH_MODE = 1, 0


def _reset_context():
    from tidemark.config import _devices  # loaded on first use

    _devices.reset()


def async_wait():
    """Ops are done when they return; there is nothing to wait for."""


def graph_mode():
    """A context in which ops become part of the default graph."""
    return tidemark.compat.v1.get_default_graph().as_default()


def num_gpus():
    return len(tidemark.config.list_logical_devices("GPU"))


def get_device_name():
    return context().device_name


def in_eager_mode():
    return executing_eagerly()


class _EagerContext:
    """What ``context.context()`` gives."""

    function_call_options = None

    def clear_kernel_cache(self):
        """Kernels are not cached by call here."""

    def ensure_initialized(self):
        """There is nothing to begin."""

    def executing_eagerly(self):
        return executing_eagerly()

    @property
    def device_name(self):
        return tidemark.zeros([]).device if executing_eagerly() else ""

    @property
    def device_spec(self):
        return tidemark.DeviceSpec.from_string(self.device_name)

    @property
    def run_eager_op_as_function(self):
        return False

    @property
    def config(self):
        return tidemark.compat.v1.ConfigProto()

    def num_gpus(self):
        return num_gpus()

    def list_logical_devices(self, device_type=None):
        return tidemark.config.list_logical_devices(device_type)

    def devices(self):
        return [device.name for device in tidemark.config.list_logical_devices()]

    @contextlib.contextmanager
    def device_policy(self, policy):
        yield

    def _clear_caches(self):
        """As clear_kernel_cache."""


def context():
    return _the_context


_the_context = _EagerContext()


def TF_ListPluggablePhysicalDevices():
    """Devices of plug-ins: none."""
    return []
