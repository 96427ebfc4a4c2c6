"""``tf.distribute.MultiWorkerMirroredStrategy``: one program on several processes or machines, each
with its rows of every batch, which add up their gradients.

strategy = tf.distribute.MultiWorkerMirroredStrategy()     # TF_CONFIG says who there is; joins them
with strategy.scope():
    model = make_model()
model.fit(dataset)                                          # batches of all workers together
"""

from __future__ import annotations

import atexit
import enum
import sys
import weakref

import tidemark
from tidemark import _tidemark, nest
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.variable import VariableSynchronization
from tidemark._tidemark import call
from tidemark.distribute import _planning, _worker_input, _worker_shards, _worker_values
from tidemark.distribute._cluster import default_resolver, training_group
from tidemark.distribute._replica import InputContext, ReplicaContext, _reduce_op, as_value
from tidemark.distribute._strategy import (
    Strategy,
    StrategyExtended,
    get_replica_context,
    without_graphs,
)

_LEAVING = 10.0  # seconds that a process that ends waits for the others to end
_BUCKET = 1 << 20  # bytes that are reduced at once, unless `bytes_per_pack` says otherwise


class CommunicationImplementation(enum.Enum):
    """How collectives are carried; there is one way for each kind of device."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


class CommunicationOptions:
    """What collectives are asked for. ``bytes_per_pack``: how much of a list of tensors is reduced
    at once; 0: 1 MiB. ``timeout_seconds``: the longest one may take."""

    def __init__(self, bytes_per_pack=0, timeout_seconds=None,
                 implementation=CommunicationImplementation.AUTO):  # fmt: skip
        if bytes_per_pack < 0:
            raise ValueError(f"`bytes_per_pack` must be >=0, got {bytes_per_pack}")
        if isinstance(implementation, str):
            implementation = CommunicationImplementation(implementation.upper())
        if not isinstance(implementation, CommunicationImplementation):
            raise ValueError(
                "`implementation` should be an instance of CommunicationImplementation"
            )
        if implementation is CommunicationImplementation.NCCL:
            raise tidemark.errors.UnimplementedError(
                None, None, "collectives between GPUs (NCCL) are not part of Tidemark yet; use AUTO"
            )
        self.bytes_per_pack, self.timeout_seconds = bytes_per_pack, timeout_seconds
        self.implementation = implementation


class MultiWorkerMirroredStrategy(Strategy):
    """Copies of the variables on all workers, kept alike by adding up gradients.

    ``shard="optimizer"``: of what optimizers keep about each variable each worker has a part.
    ``shard="gradients"``: so of the sums of gradients. ``shard="parameters"``: so of the variables
    themselves.
    """

    def __init__(self, cluster_resolver=None, communication_options=None, shard=None):
        _planning.check_shard(shard)
        self._resolver = default_resolver() if cluster_resolver is None else cluster_resolver
        self._workers, rank = training_group(self._resolver)
        options = communication_options or CommunicationOptions()
        self._made_with, self._bucket = shard, options.bytes_per_pack or _BUCKET
        self._joined = _tidemark.join_group(
            rank,
            self._workers or ["localhost:1"],
            getattr(self._resolver, "secret", ""),
            by_mpi=getattr(self._resolver, "carrier", "") == "mpi",
            collective_seconds=options.timeout_seconds or 0.0,
        )
        super().__init__(_Extended(self))
        self._shares = _worker_shards.Shares(self)
        _joined.add(self._joined)
        if self._joined.size > 1:
            _leave_at_exit(self._joined)

    @property
    def _group(self):
        """Those that this worker computes with, or, in plans for others, that they would."""
        imagined = _planning.current()
        if imagined is None:
            return self._joined
        if self._joined.size > 1:
            raise tidemark.errors.FailedPreconditionError(
                None, None, "f.plan(…, workers=N) is for a process on its own; this one is one of "
                f"{self._joined.size} workers, and f.plan(…) tells what it takes",
            )  # fmt: skip
        return imagined.group

    _rank = property(lambda self: self._group.rank)

    @property
    def _shard(self):
        imagined = _planning.current()
        return self._made_with if imagined is None else imagined.shard_of(self._made_with)

    num_replicas_in_sync = property(lambda self: self._group.size)
    cluster_resolver = property(lambda self: self._resolver)

    @classmethod
    def _from_local_devices(cls, devices, communication_options=None):
        return cls(communication_options=communication_options)

    # --- What this module's other files ask --------------------------------------------------

    def _is_in_replica(self):
        context = get_replica_context()
        return context is not None and context.strategy is self

    def _from_first(self, value):
        """The first worker's value."""
        value = as_value(value)
        return value if self._group.size == 1 else self._group.broadcast([value], 0)

    def _reduced(self, op, values):
        """Tensors and IndexedSlices reduced over all workers; they travel together."""
        if self._group.size == 1:
            return list(values)
        dense = [v for v in values if not isinstance(v, IndexedSlices)]
        sums = {}
        for bucket in self._buckets(list(enumerate(dense)), lambda one: one[1]):
            reduced = self._group.all_reduce([v for _, v in bucket])
            sums.update(zip((at for at, _ in bucket), reduced, strict=True))
        dense_sums = iter([sums[at] for at in range(len(dense))])
        found = [
            self._rows(v) if isinstance(v, IndexedSlices) else next(dense_sums) for v in values
        ]
        return [_divided(v, self._group.size) for v in found] if op == "MEAN" else found

    def _buckets(self, items, tensor_of):
        """Items whose tensors are reduced at once, the last ones first: of gradients, in the order
        of variables, backward makes those first."""
        bucket, filled = [], 0
        for item in reversed(items):
            tensor = tensor_of(item)
            known = tensor.shape.is_fully_defined()
            size = tensor.shape.num_elements() * tensor.dtype.size if known else 0
            if bucket and filled + size > self._bucket:
                yield bucket[::-1]
                bucket, filled = [], 0
            bucket.append(item)
            filled += size
        if bucket:
            yield bucket[::-1]

    def _rows(self, slices):
        return IndexedSlices(
            self._gathered(slices.values, 0), self._gathered(slices.indices, 0), slices.dense_shape
        )

    def _gathered(self, value, axis):
        """The values of all workers joined along an axis, along which their sizes may differ."""
        value = as_value(value)
        if self._group.size == 1:
            return value
        if axis:
            return self._gathered_along(value, axis)
        sizes = self._group.all_gather([tidemark.reshape(tidemark.shape(value)[0], [1])])
        most = tidemark.reduce_max(sizes)
        missing = most - tidemark.shape(value)[0]
        rest = tidemark.shape(value)[1:]
        padding = tidemark.zeros(tidemark.concat([[missing], rest], 0), value.dtype)
        all_rows = self._group.all_gather([tidemark.concat([value, padding], 0)])
        place = tidemark.range(most * self._group.size)
        return tidemark.boolean_mask(
            all_rows, place % most < tidemark.gather(sizes, place // tidemark.maximum(most, 1))
        )

    def _gathered_along(self, value, axis):
        order = list(range(value.shape.rank))
        axis %= len(order)
        order[0], order[axis] = axis, 0
        rows = self._gathered(tidemark.transpose(value, order), 0)
        return tidemark.transpose(rows, order)

    def _shares_gradients(self):
        return self._shard in ("gradients", "parameters") and self._group.size > 1

    # --- tf.distribute.Strategy ---------------------------------------------------------------

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls the function on this worker, as all others do on theirs."""
        with _WorkerContext(self, self._rank):
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis=None):
        """One value of those of all workers; also over an axis of them if it is given. Scalars
        have none: they are reduced over workers."""
        op = _reduce_op(reduce_op).name
        return nest.map_structure(lambda v: self._reduced_over(op, as_value(v), axis), value)

    def _reduced_over(self, op, value, axis):
        if axis is None or value.shape.rank == 0:
            return self._reduced(op, [value])[0]
        axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
        (total,) = self._reduced("SUM", [call("sum", (value,), {"axis": axes})])
        if op == "SUM":
            return total
        here = tidemark.size(value) // tidemark.maximum(tidemark.size(total), 1)
        (count,) = self._reduced("SUM", [here])
        return total / tidemark.cast(count, total.dtype)

    def gather(self, value, axis):
        """The values of all workers joined along an axis."""
        return nest.map_structure(lambda v: self._gathered(v, axis), value)

    def experimental_local_results(self, value):
        return value if isinstance(value, tuple) else (value,)

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset, of each batch this worker's rows."""
        if isinstance(dataset, _worker_input.DistributedDataset):
            return dataset
        return _worker_input.distribute(self, dataset)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """What the function makes for this worker: batches of one worker."""
        count = self._group.size
        made = dataset_fn(InputContext(count, self._rank, count))
        return _worker_input.DistributedDataset(self, made)

    def experimental_distribute_values_from_function(self, value_fn):
        return value_fn(_WorkerContext(self, self._rank))


def _sums_where_needed(strategy, gradients):
    together = []
    return [
        strategy._rows(g)
        if isinstance(g, IndexedSlices)
        else _worker_shards.GradientSum(strategy, g, together)
        for g in gradients
    ]


def _divided(value, count):
    if isinstance(value, IndexedSlices):
        return IndexedSlices(value.values / count, value.indices, value.dense_shape)
    return value / count if not value.dtype.is_integer else value // count


class _WorkerContext(ReplicaContext):
    """The view of this worker while ``strategy.run`` calls a function."""

    def all_reduce(self, reduce_op, value, options=None):
        """The value reduced over all workers, on each of them."""
        op, strategy = _reduce_op(reduce_op).name, self._strategy
        leaves = [as_value(v) for v in nest.flatten(value)]
        if op == "SUM" and isinstance(value, (list, tuple)) and strategy._shares_gradients():
            return nest.pack_sequence_as(value, _sums_where_needed(strategy, leaves))
        return nest.pack_sequence_as(value, strategy._reduced(op, leaves))

    def all_gather(self, value, axis, options=None):
        """The values of all workers joined along an axis."""
        return nest.map_structure(lambda v: self._strategy._gathered(v, axis), value)


class _Extended(StrategyExtended):
    """What optimizers, metrics and callbacks ask."""

    def __init__(self, strategy):
        super().__init__(strategy)
        task = f"/job:worker/replica:0/task:{strategy._rank}"
        self.worker_devices = (f"{task}/device:CPU:0",)

    _num_replicas_in_sync = property(lambda self: self._container_strategy().num_replicas_in_sync)
    should_checkpoint = property(lambda self: self._container_strategy()._rank == 0)
    should_save_summary = property(lambda self: self._container_strategy()._rank == 0)
    experimental_between_graph = property(lambda self: True)

    def _use_merge_call(self):
        return False

    def _in_multi_worker_mode(self):
        return bool(self._container_strategy()._workers)

    def _create_variable(self, next_creator, **kwargs):
        strategy = self._container_strategy()
        is_read = kwargs.get("synchronization") is VariableSynchronization.ON_READ
        if is_read:
            return self._create_whole(next_creator, is_read, kwargs)
        given = without_graphs(kwargs)
        kept = strategy._shares.make_kept(given)
        if kept is not None:
            return kept
        made = None
        if not _worker_values.is_put_together(kwargs):
            made = strategy._shares.make_in_parts(given)
        if made is None:
            made = self._create_whole(next_creator, is_read, kwargs)
        return strategy._shares.note(made)

    def _create_whole(self, next_creator, is_read, kwargs):
        strategy = self._container_strategy()
        # As the workers that there are have it: plans for others make none of their own.
        if strategy._joined.size == 1:
            if is_read or not _worker_values.is_put_together(kwargs):
                return next_creator(**kwargs)
            return _worker_values.SharedVariable(strategy, **without_graphs(kwargs))
        return _worker_values.create(strategy, is_read, next_creator, without_graphs(kwargs))

    def reduce_to(self, reduce_op, value, destinations, options=None):
        return self._container_strategy().reduce(reduce_op, value)

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls ``fn(var, …)``: what is given is alike on all workers already."""
        strategy = self._container_strategy()
        if strategy._shares.update(var, fn, args, kwargs or {}):
            return var
        strategy._enter(None)
        try:
            return fn(var, *args, **(kwargs or {}))
        finally:
            strategy._exit()

    def _updates_together(self):
        return self._container_strategy()._shares.together()

    def colocate_vars_with(self, colocate_with_variable):
        """What is made inside is kept about the variable."""
        return self._container_strategy()._shares.near(colocate_with_variable)


_joined = weakref.WeakSet()


def joined_groups():
    """Those of this process's strategies, for reports of its time in collectives."""
    return list(_joined)


def _leave_at_exit(group):
    """A process that ends well waits for those that still compute with it; one that ends by an
    error tells them."""
    known = weakref.ref(group)

    def leave():
        group = known()
        if group is None or group.failure:
            return
        error = getattr(sys, "last_value", None)
        if error is not None:
            group.give_up(f"{type(error).__name__}: {error}")
        else:
            group.leave(_LEAVING)

    atexit.register(leave)
