"""What sessions are told: messages of TensorFlow 1 with their fields as attributes."""

from __future__ import annotations


class _Message:
    """Fields with defaults; unknown ones are refused by name."""

    _fields: dict = {}

    def __init__(self, **given):
        for name, default in self._fields.items():
            value = default() if callable(default) else default
            object.__setattr__(self, name, value)
        for name, value in given.items():
            setattr(self, name, value)

    def __setattr__(self, name, value):
        if name not in self._fields:
            raise AttributeError(
                f"{type(self).__name__} has no field {name!r}; it has {', '.join(self._fields)}"
            )
        object.__setattr__(self, name, value)

    def CopyFrom(self, other):
        for name in self._fields:
            object.__setattr__(self, name, getattr(other, name))

    def __repr__(self):
        inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({inside})"


class GPUOptions(_Message):
    """What a device's memory may be used for; there is no such device here."""

    _fields = {
        "per_process_gpu_memory_fraction": 0.0,
        "allow_growth": False,
        "allocator_type": "",
        "visible_device_list": "",
        "force_gpu_compatible": False,
    }


class GraphOptions(_Message):
    """Optimisations of graphs; accepted."""

    _fields = {"optimizer_options": None, "rewrite_options": None, "build_cost_model": 0}


class ConfigProto(_Message):
    """Threads, devices and logging of a session."""

    _fields = {
        "device_count": dict,
        "intra_op_parallelism_threads": 0,
        "inter_op_parallelism_threads": 0,
        "use_per_session_threads": False,
        "allow_soft_placement": False,
        "log_device_placement": False,
        "gpu_options": GPUOptions,
        "graph_options": GraphOptions,
        "operation_timeout_in_ms": 0,
    }


class RunOptions(_Message):
    """How one run is done."""

    NO_TRACE, SOFTWARE_TRACE, HARDWARE_TRACE, FULL_TRACE = range(4)
    _fields = {
        "trace_level": 0,
        "timeout_in_ms": 0,
        "inter_op_thread_pool": 0,
        "output_partition_graphs": False,
        "report_tensor_allocations_upon_oom": False,
    }


class RunMetadata(_Message):
    """What one run tells about itself."""

    _fields = {"step_stats": None, "cost_graph": None, "partition_graphs": list}
