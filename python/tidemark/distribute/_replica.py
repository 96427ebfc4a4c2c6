"""What runs on each device of a strategy, and values that differ from one to the next."""

from __future__ import annotations

import collections
import enum

from tidemark import nest
from tidemark._graph.staged import python_call
from tidemark._tidemark import convert
from tidemark.distribute._values import reduced


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
        self._replica = None  # the one that runs, where there are several

    strategy = property(lambda self: self._strategy)
    replica_id_in_sync_group = property(lambda self: self._id)
    num_replicas_in_sync = property(lambda self: self._strategy.num_replicas_in_sync)
    devices = property(lambda self: self._strategy.extended.worker_devices)

    def __enter__(self):
        self._strategy._enter(self)
        return self

    def __exit__(self, *error):
        self._strategy._exit()
        self._replica = None
        return False

    def merge_call(self, merge_fn, args=(), kwargs=None):
        """Calls ``merge_fn(strategy, …)`` once for all replicas together."""
        if self._replica is not None:
            if self._replica.is_in_a_function:
                raise RuntimeError(
                    "`merge_call` called while defining a new graph or a tf.function. This can "
                    "often happen if the function `fn` passed to `strategy.run()` contains a "
                    "nested `@tf.function`, and the nested `@tf.function` contains a "
                    "synchronization point. Call strategy.run() inside of the function instead."
                )
            return self._replica.ask(merge_fn, args, kwargs or {})
        self._strategy._enter(None)
        try:
            return merge_fn(self._strategy, *args, **(kwargs or {}))
        finally:
            self._strategy._exit()

    def all_reduce(self, reduce_op, value, options=None):
        """The value reduced over all replicas, on each of them."""
        op = _reduce_op(reduce_op).name
        value = nest.map_structure(as_value, value)
        if self.num_replicas_in_sync == 1:
            return value
        return self._joined(
            lambda strategy, parts: nest.map_structure(lambda v: reduced(op, v), parts),
            value,
        )

    def _joined(self, merge_fn, value):
        """The result of the merge; where a function is traced inside a replica, when it runs."""
        if self._replica is None or not self._replica.is_in_a_function:
            return self.merge_call(merge_fn, args=(value,))
        leaves = nest.flatten(value)

        def meet(*tensors):
            from tidemark.distribute._strategy import get_replica_context  # it imports this module

            replica = get_replica_context()._replica
            if replica is None:
                return tensors
            return tuple(replica.ask(merge_fn, (list(tensors),), {}))

        types = [(t.dtype, None if t.shape.rank is None else tuple(t.shape.as_list()))
                 for t in leaves]  # fmt: skip
        return nest.pack_sequence_as(value, python_call(meet, leaves, types))

    def all_gather(self, value, axis, options=None):
        """The values of all replicas joined along an axis."""
        value = nest.map_structure(as_value, value)
        if self.num_replicas_in_sync == 1:
            return value
        return self.merge_call(
            lambda strategy, parts: nest.map_structure(lambda v: strategy.gather(v, axis), parts),
            args=(value,),
        )


def _reduce_op(given):
    if isinstance(given, str):
        given = ReduceOp(given.upper())
    if not isinstance(given, ReduceOp):
        raise ValueError(f"reduce_op must be a ReduceOp, 'SUM' or 'MEAN', got {given!r}")
    return given


def as_value(value):
    """A tensor or composite as it is; anything else as a tensor."""
    return value if hasattr(value, "dtype") and hasattr(value, "shape") else convert(value)
