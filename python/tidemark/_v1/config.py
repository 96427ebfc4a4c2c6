"""What sessions are told, and what it means here.

``gpu_options.per_process_gpu_memory_fraction`` is the part of each GPU's memory that this process
may hold, and where there is no GPU the part of the machine's memory that a session's variables and
runs may hold; over it comes a ResourceExhaustedError that names who holds most. Memory always grows
with what is in use, ``allow_growth`` or not.
``intra_op_parallelism_threads`` is the size of the one thread pool of the process. The others say
how a device or a cluster is used that is not here; they are accepted.
"""

from __future__ import annotations

import os

from tidemark import _tidemark, dtypes
from tidemark._proto.config import (
    ConfigProto,
    GPUOptions,
    GraphOptions,
    OptimizerOptions,
    RunMetadata,
    RunOptions,
)
from tidemark.config._devices import gpu_count, logical_gpu_count

__all__ = ["ConfigProto", "GPUOptions", "GraphOptions", "OptimizerOptions", "RunMetadata",
           "RunOptions", "apply", "fill_metadata", "memory_limit"]  # fmt: skip
_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"


def machine_memory():
    """Bytes this process may use: the machine's memory, or its container's where that is less."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        try:
            with open(path) as file:
                text = file.read().strip()
        except OSError:
            continue
        if text.isdigit():
            total = min(total, int(text))
    return total


def checked(config):
    """A session's configuration as a message of our own; None for none."""
    if config is None or isinstance(config, ConfigProto):
        return config
    if type(config).__name__ != "ConfigProto" or not hasattr(config, "SerializeToString"):
        raise TypeError(f"config must be a tf.ConfigProto, but got {type(config)}")
    return ConfigProto.FromString(config.SerializeToString())


def memory_limit(config):
    """Bytes that a session may hold; 0: as many as the process."""
    if config is None:
        return 0
    fraction = _fraction(config)
    return int(fraction * machine_memory()) if fraction and not gpu_count() else 0


def _fraction(config):
    fraction = config.gpu_options.per_process_gpu_memory_fraction
    if fraction < 0:
        raise ValueError(f"per_process_gpu_memory_fraction is at least 0; given {fraction}")
    return fraction


_whole_gpus = {}  # what each may hold unless a session says less


def _limit_gpus(fraction):
    for number in range(logical_gpu_count()):
        name = f"gpu:{number}"
        whole = _whole_gpus.setdefault(name, _tidemark.device_stats(name)["limit"])
        _tidemark.set_device_limit(int(min(fraction, 1.0) * whole), name)


def apply(config):
    """Does what a new session's configuration asks of the process."""
    if config is None:
        return
    if _fraction(config) and gpu_count():
        _limit_gpus(_fraction(config))
    if config.intra_op_parallelism_threads < 0 or config.inter_op_parallelism_threads < 0:
        raise ValueError("numbers of threads are at least 0 in a tf.ConfigProto; 0: as many as fit")
    if config.intra_op_parallelism_threads:
        from tidemark.config import threading  # loaded on first use

        threading.set_intra_op_parallelism_threads(config.intra_op_parallelism_threads)


def fill_metadata(metadata, trace):
    """Writes what a traced run did into a RunMetadata."""
    if not isinstance(metadata, RunMetadata):
        raise TypeError(f"run_metadata must be a tf.RunMetadata, but got {type(metadata)}")
    metadata.Clear()
    device = metadata.step_stats.dev_stats.add(device=_DEVICE)
    for number, step in enumerate(trace["steps"]):
        _add_step(device, trace["started_us"], step)
        _add_cost(metadata.cost_graph, number, step)


def _parts(text):
    """``float32 (2, 3)`` taken apart."""
    name, _, sizes = text.partition(" ")
    inside = sizes.strip("()")
    return dtypes.as_dtype(name), [int(size) for size in inside.split(",") if size.strip()]


def _add_step(device, started, step):
    start, duration = step["start_us"], step["duration_us"]
    node = device.node_stats.add(
        node_name=step["node"],
        all_start_micros=started + start,
        op_end_rel_micros=duration,
        all_end_rel_micros=duration,
        scheduled_micros=started + start,
        timeline_label=f"{step['node']} = {step['op']}()"
        + (f" made at {step['place']}" if step["place"] else ""),
    )
    node.memory.add(
        allocator_name="cpu",
        total_bytes=step["peak_bytes"],
        peak_bytes=step["peak_bytes"],
        live_bytes=step["allocated_bytes"],
    )
    temporary = max(0, step["peak_bytes"] - step["allocated_bytes"])
    node.memory_stats.temp_memory_size = temporary
    for slot, text in enumerate(step["outputs"]):
        dtype, sizes = _parts(text)
        described = node.output.add(slot=slot).tensor_description
        described.dtype = dtype.as_datatype_enum
        described.shape.SetInParent()
        count = 1
        for size in sizes:
            described.shape.dim.add(size=size)
            count *= size
        described.allocation_description.requested_bytes = count * dtype.size
        described.allocation_description.allocator_name = "cpu"


def _add_cost(graph, number, step):
    node = graph.node.add(
        name=step["node"], device=_DEVICE, id=number, compute_cost=step["duration_us"]
    )
    node.temporary_memory_size = max(0, step["peak_bytes"] - step["allocated_bytes"])
    for text in step["outputs"]:
        dtype, sizes = _parts(text)
        info = node.output_info.add(alias_input_port=-1, dtype=dtype.as_datatype_enum)
        info.size = dtype.size
        for size in sizes:
            info.shape.dim.add(size=size)
            info.size *= size
