"""What runs on each device of a strategy, and values that differ from one to the next."""

from __future__ import annotations

import collections
import enum

from tidemark import nest
from tidemark._tidemark import convert


class ReduceOp(enum.Enum):
    """How values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def from_variable_aggregation(aggregation):
        return {"SUM": ReduceOp.SUM, "MEAN": ReduceOp.MEAN}[aggregation.name]


class InputReplicationMode(enum.Enum):
    """How input is spread over replicas."""

    PER_WORKER = "PER_WORKER"
    PER_REPLICA = "PER_REPLICA"


class DistributedValues:
    """One value for each replica."""

    def __init__(self, values):
        self._values = tuple(values)

    values = property(lambda self: self._values)

    def __repr__(self):
        return f"{type(self).__name__}:{dict(enumerate(self._values))}"


InputOptions = collections.namedtuple(
    "InputOptions",
    [
        "experimental_fetch_to_device",
        "experimental_replication_mode",
        "experimental_place_dataset_on_device",
        "experimental_per_replica_buffer_size",
    ],
    defaults=(None, InputReplicationMode.PER_WORKER, False, 1),
)
RunOptions = collections.namedtuple(
    "RunOptions",
    [
        "experimental_enable_dynamic_batch_size",
        "experimental_bucketizing_dynamic_shape",
        "experimental_xla_options",
    ],
    defaults=(True, False, None),
)


class InputContext:
    """Which share of the input a pipeline is to read."""

    def __init__(self, num_input_pipelines=1, input_pipeline_id=0, num_replicas_in_sync=1):
        self._pipelines = num_input_pipelines
        self._id = input_pipeline_id
        self._replicas = num_replicas_in_sync

    num_input_pipelines = property(lambda self: self._pipelines)
    input_pipeline_id = property(lambda self: self._id)
    num_replicas_in_sync = property(lambda self: self._replicas)

    def get_per_replica_batch_size(self, global_batch_size):
        """The share of a batch that one replica takes."""
        if global_batch_size % self._replicas:
            raise ValueError(
                f"The `global_batch_size` {global_batch_size} is not divisible by "
                f"`num_replicas_in_sync` {self._replicas}"
            )
        return global_batch_size // self._replicas


class CrossDeviceOps:
    """How values travel between devices; with one there is nothing to do."""

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        return per_replica_value

    def broadcast(self, tensor, destinations):
        return tensor


class ReductionToOneDevice(CrossDeviceOps):
    """Values meet on one device."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device = reduce_to_device
        self.accumulation_fn = accumulation_fn


class NcclAllReduce(CrossDeviceOps):
    """Values are added on all devices."""

    def __init__(self, num_packs=1):
        self._num_packs = num_packs


class HierarchicalCopyAllReduce(NcclAllReduce):
    """Values are added in groups of devices."""


class ReplicaContext:
    """The view of one replica while ``strategy.run`` calls a function."""

    def __init__(self, strategy, replica_id_in_sync_group=0):
        self._strategy = strategy
        self._id = replica_id_in_sync_group

    strategy = property(lambda self: self._strategy)
    replica_id_in_sync_group = property(lambda self: self._id)
    num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)
    devices = property(lambda self: self._strategy.extended.worker_devices)

    def __enter__(self):
        self._strategy._enter(self)
        return self

    def __exit__(self, *error):
        self._strategy._exit()
        return False

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls ``merge_fn(strategy, …)`` once for all replicas together."""
        self._strategy._enter(None)
        try:
            return merge_fn(self._strategy, *args, **(kwargs or {}))
        finally:
            self._strategy._exit()

    def all_reduce(self, reduce_op, value, options=None):
        """The value reduced over all replicas, on each of them."""
        _reduce_op(reduce_op)
        return nest.map_structure(as_value, value)

    def all_gather(self, value, axis, options=None):
        """The values of all replicas joined along an axis."""
        return nest.map_structure(as_value, value)


def _reduce_op(given):
    if isinstance(given, str):
        given = ReduceOp(given.upper())
    if not isinstance(given, ReduceOp):
        raise ValueError(f"reduce_op must be a ReduceOp, 'SUM' or 'MEAN', got {given!r}")
    return given


def as_value(value):
    """A tensor or composite as it is; anything else as a tensor."""
    return value if hasattr(value, "dtype") and hasattr(value, "shape") else convert(value)
