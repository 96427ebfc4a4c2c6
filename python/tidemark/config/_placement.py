"""``tf.device`` and ``tf.DeviceSpec``: names of places where ops run.

    with tf.device("/CPU:0"):
        x = tf.ones([2])

Ops run on the CPU, on ``GPU:0`` where there is one, and, to test placement without an accelerator,
on ``EMULATED:0``, whose memory the host cannot touch. A device that is not there is replaced by the
CPU, as TensorFlow does with soft placement (its default); with
``tf.config.set_soft_device_placement(False)`` asking for one is an error.
"""

from __future__ import annotations

import threading

from tidemark import _tidemark, config
from tidemark.config._devices import logical_gpu_count, why_no_gpu
from tidemark.errors import InvalidArgumentError

CPU_NAME = "/job:localhost/replica:0/task:0/device:CPU:0"
_state = threading.local()


class DeviceSpec:
    """The parts of a device name; those left out are None."""

    __slots__ = ("job", "replica", "task", "device_type", "device_index")

    def __init__(self, job=None, replica=None, task=None, device_type=None, device_index=None):
        self.job = None if job is None else str(job)
        self.replica = None if replica is None else int(replica)
        self.task = None if task is None else int(task)
        self.device_type = None if device_type is None else str(device_type).upper()
        self.device_index = None if device_index is None else int(device_index)

    @classmethod
    def from_string(cls, spec):
        """Reads "/job:worker/replica:0/task:1/device:CPU:0", "/gpu:0", …"""
        return cls(**_parse(spec))

    def parse_from_string(self, spec):
        self.__init__(**_parse(spec))
        return self

    def to_string(self):
        parts = [
            f"/{name}:{value}"
            for name, value in (("job", self.job), ("replica", self.replica), ("task", self.task))
            if value is not None
        ]
        if self.device_type is not None:
            index = "*" if self.device_index is None else self.device_index
            parts.append(f"/device:{self.device_type}:{index}")
        return "".join(parts)

    def replace(self, **parts):
        """This name with some parts exchanged."""
        return DeviceSpec(**{**self._parts(), **parts})

    def make_merged_spec(self, dev):
        """This name with the parts that the other one gives."""
        given = {name: value for name, value in dev._parts().items() if value is not None}
        return self.replace(**given)

    def _parts(self):
        names = ("job", "replica", "task", "device_type", "device_index")
        return {name: getattr(self, name) for name in names}

    def __eq__(self, other):
        return isinstance(other, DeviceSpec) and self._parts() == other._parts()

    def __hash__(self):
        return hash(self.to_string())

    def __repr__(self):
        return f"<DeviceSpec({', '.join(f'{k}={v}' for k, v in self._parts().items())})>"


def _parse(spec):
    parts = {}
    for piece in filter(None, str(spec).split("/")):
        words = piece.split(":")
        kind = words[0].lower()
        if kind == "job" and len(words) == 2:
            parts["job"] = words[1]
        elif kind in ("replica", "task") and len(words) == 2 and words[1].isdigit():
            parts[kind] = int(words[1])
        elif kind == "device" and len(words) in (2, 3):
            parts.update(_device_part(words[1], words[2:], spec))
        elif kind in ("cpu", "gpu", "tpu") and len(words) in (1, 2):
            parts.update(_device_part(kind, words[1:], spec))
        else:
            raise ValueError(
                f"Unknown attribute '{words[0]}' is encountered while parsing the device spec: "
                f"'{spec}'."
            )
    return parts


def _device_part(kind, index, spec):
    if not index or index[0] == "*":
        return {"device_type": kind}
    if not index[0].isdigit():
        raise ValueError(f"Unknown device index '{index[0]}' in the device spec '{spec}'.")
    return {"device_type": kind, "device_index": int(index[0])}


class _DeviceScope:
    """What ``tf.device`` returns: a context, to be entered any number of times."""

    def __init__(self, name):
        self._name = name
        self._outer = []

    def __enter__(self):
        device = None
        if self._name is not None:
            check(self._name)
            device = _computing_device(self._name)
        placed = device and _tidemark.enter_placement(device)
        self._outer.append((current(), getattr(_state, "scope", None), placed))
        _state.name, _state.scope = self._name, self

    def __exit__(self, *error):
        if getattr(_state, "scope", None) is not self:
            raise RuntimeError("Exiting device scope without proper scope nesting.")
        _state.name, _state.scope, placed = self._outer.pop()
        if placed:
            _tidemark.leave_placement(placed)


def _computing_device(name):
    """The device of this build that a name stands for; None: it leaves that open."""
    spec = DeviceSpec.from_string(name)
    if spec.device_type is None:
        return None
    if spec.device_type == "EMULATED" or _is_gpu(spec):
        return f"{spec.device_type.lower()}:{spec.device_index or 0}"
    return "cpu"


def _is_gpu(spec):
    """Whether the name is that of a GPU that is there."""
    return spec.device_type == "GPU" and (spec.device_index or 0) < logical_gpu_count()


def current():
    """The device asked for by the innermost ``tf.device`` of this thread, or None."""
    return getattr(_state, "name", None)


def tell_device(op):
    """Tells an operation of a graph which device is asked for; "": none is."""
    op._set_device_from_string(DeviceSpec.from_string(current() or "").to_string())


def check(name):
    """Raises for a name that is not one, and for a device that is not there when that matters."""
    spec = DeviceSpec.from_string(name)
    if spec.device_type == "EMULATED":
        _tidemark.open_device(f"emulated:{spec.device_index or 0}")  # says what there is
        return
    there = spec.device_type in (None, "CPU") and spec.device_index in (None, 0)
    if not there and not config.get_soft_device_placement() and not _is_gpu(spec):
        others = "".join(f", GPU:{i}" for i in range(logical_gpu_count()))
        why = why_no_gpu()
        raise InvalidArgumentError(
            None,
            None,
            f"Could not satisfy device specification '{name}': there is only {CPU_NAME}{others}"
            f"{why and f' ({why})'}. Ask for the CPU, or allow replacing it with "
            "tf.config.set_soft_device_placement(True).",
        )


def device(device_name):
    """A context in which ops run on the named device.

    In graphs a function may be given that names one for each operation, as parameter servers have
    them; all operations of a graph run in this process, so none is asked.
    """
    if callable(device_name):
        if not _tidemark.is_tracing():
            raise RuntimeError("tf.device does not support functions.")
        device_name = current()
    if isinstance(device_name, DeviceSpec):
        device_name = device_name.to_string()
    return _DeviceScope(None if device_name in (None, "") else str(device_name))
