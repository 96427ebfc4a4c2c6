"""Strategies over one device: the default one, and those that TensorFlow names."""

from __future__ import annotations

import contextlib
import threading

import tidemark
from tidemark import nest
from tidemark import nest as structures
from tidemark._graph.scopes import variable_creator_scope
from tidemark._tensor.variable import VariableSynchronization
from tidemark._tidemark import call
from tidemark.config import list_logical_devices
from tidemark.config._placement import CPU_NAME, DeviceSpec, check
from tidemark.distribute._replica import (
    CrossDeviceOps,
    InputContext,
    ReplicaContext,
    _reduce_op,
    as_value,
)
from tidemark.distribute._values import (
    DistributedValues,
    MirroredVariable,
    PerReplica,
    SyncOnReadVariable,
    reduced,
    select,
)

_state = threading.local()  # contexts: (strategy, replica context or None), innermost last


def _contexts():
    if not hasattr(_state, "contexts"):
        _state.contexts = []
    return _state.contexts


class Strategy:
    """Where variables live and functions run; here on the one device."""

    _should_use_with_coordinator = False  # one process runs everything

    def __init__(self, extended=None):
        self._extended = StrategyExtended(self) if extended is None else extended

    extended = property(lambda self: self._extended)
    num_replicas_in_sync = property(lambda self: 1)
    cluster_resolver = property(lambda self: None)

    def _enter(self, replica):
        _contexts().append((self, replica))

    def _exit(self):
        _contexts().pop()

    @contextlib.contextmanager
    def scope(self):
        """A context in which this strategy makes the variables."""
        contexts = _contexts()
        if contexts and contexts[-1][0] is not self and contexts[-1][0] is not _DEFAULT:
            raise RuntimeError(
                "Mixing different tf.distribute.Strategy objects: "
                f"{contexts[-1][0]} is not the same as {self}"
            )
        self._enter(None)
        try:
            with variable_creator_scope(self._extended._create_variable):
                yield self
        finally:
            self._exit()

    def run(self, fn, args=(), kwargs=None, options=None):
        """Calls the function once on each replica."""
        if self.num_replicas_in_sync > 1:
            from tidemark.distribute import _replicas  # it imports this module

            contexts = [ReplicaContext(self, i) for i in range(self.num_replicas_in_sync)]
            return _replicas.run(self, contexts, fn, tuple(args), kwargs or {})
        with ReplicaContext(self):
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis):
        """One value of those of all replicas; also over an axis of them if it is given."""
        op = _reduce_op(reduce_op).name
        value = nest.map_structure(
            lambda v: v if isinstance(v, DistributedValues) else as_value(v), value
        )
        if axis is not None:
            value = nest.map_structure(lambda v: self._over_axis(op, v, axis), value)
        if self.num_replicas_in_sync == 1:
            return nest.map_structure(lambda v: select(v, 0), value)
        if axis is not None and op == "MEAN":
            return value  # rows of all replicas count equally
        return nest.map_structure(lambda v: reduced(op, v), value)

    def _over_axis(self, op, value, axis):
        axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
        if not isinstance(value, PerReplica):
            return call(op.lower(), (value,), {"axis": axes})
        if op == "SUM":
            return PerReplica([call("sum", (v,), {"axis": axes}) for v in value.values])
        return call("mean", (self.gather(value, axes[0]),), {"axis": axes})

    def gather(self, value, axis):
        """The values of all replicas joined along an axis."""
        if not isinstance(value, DistributedValues):
            value = PerReplica([as_value(value)] * self.num_replicas_in_sync)
        if len(value.values) == 1:
            return as_value(value.values[0])

        return tidemark.concat([as_value(v) for v in value.values], axis)

    def experimental_local_results(self, value):
        """The values of the replicas of this process as a tuple."""
        return value.values if isinstance(value, DistributedValues) else (value,)

    def unwrap(self, value):
        """`experimental_local_results` by its older name."""
        return self.experimental_local_results(value)

    def group(self, value, name=None):
        """An operation that waits for the values of all replicas."""
        values = self.experimental_local_results(value)
        if len(values) == 1 and name is None:
            return values[0]
        return tidemark.group(*values, name=name)

    def configure(self, session_config=None, cluster_spec=None, task_type=None, task_id=None):
        """What jobs of several processes are told before they start: nothing in one process."""

    def update_config_proto(self, config_proto):
        """The configuration as sessions under this strategy want it."""
        return config_proto

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset, its batches cut into a part for each replica."""
        replicas = self.num_replicas_in_sync
        if replicas == 1:
            return dataset

        def cut(*element):
            element = element[0] if len(element) == 1 else element
            return structures.map_structure(lambda t: _parts(t, replicas), element)

        return dataset.map(cut)

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """The dataset the function makes for the one pipeline there is: of batches of replicas."""
        replicas = self.num_replicas_in_sync
        dataset = dataset_fn(InputContext(num_replicas_in_sync=replicas))
        if replicas == 1:
            return dataset

        def together(*parts):
            return structures.map_structure(
                lambda *leaves: PerReplica(leaves), *parts, check_types=False
            )

        every = [dataset.shard(replicas, i) for i in range(replicas)]
        return type(dataset).zip(tuple(every)).map(together)

    experimental_distribute_datasets_from_function = distribute_datasets_from_function

    def experimental_distribute_values_from_function(self, value_fn):
        """The values the function makes for the replicas."""
        values = [value_fn(ReplicaContext(self, i)) for i in range(self.num_replicas_in_sync)]
        return values[0] if len(values) == 1 else PerReplica(values)


def without_graphs(kwargs):
    """The arguments of a variable without those of graphs' variables, which Keras 2 gives, too."""
    return {name: v for name, v in kwargs.items() if name not in ("collections", "use_resource")}


class StrategyExtended:
    """What optimizers and metrics ask of a strategy."""

    def __init__(self, container_strategy):
        self._container_strategy_of = lambda: container_strategy

    experimental_require_static_shapes = property(lambda self: False)
    worker_devices = (CPU_NAME,)
    parameter_devices = property(lambda self: self.worker_devices)
    _num_replicas_in_sync = property(lambda self: len(self.worker_devices))
    _global_batch_size = property(lambda self: True)
    should_checkpoint = property(lambda self: True)
    should_save_summary = property(lambda self: True)

    def _container_strategy(self):
        return self._container_strategy_of()

    def _use_merge_call(self):
        return self._num_replicas_in_sync > 1

    def _in_multi_worker_mode(self):
        return False

    def _updates_together(self):
        """Around updates of many variables, which are sent where they are needed at its end."""
        return contextlib.nullcontext()

    def _create_variable(self, next_creator, **kwargs):
        replicas = self._num_replicas_in_sync
        if replicas == 1:
            return next_creator(**kwargs)
        kwargs = without_graphs(kwargs)
        is_read = kwargs.get("synchronization") is VariableSynchronization.ON_READ
        return (SyncOnReadVariable if is_read else MirroredVariable)(replicas, **kwargs)

    def variable_created_in_scope(self, v):
        """Whether a variable was made under this strategy; on one device it may be used anyway."""
        return True

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable):
        """A context in which variables are made where the given one lives."""
        yield

    def reduce_to(self, reduce_op, value, destinations, options=None):
        return reduced(_reduce_op(reduce_op).name, value)

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        return [self.reduce_to(reduce_op, value, to) for value, to in value_destination_pairs]

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls ``fn(var, …)`` where the variable lives; for all replicas at once where it is one
        for all of them."""
        args, kwargs = tuple(args), kwargs or {}
        if isinstance(var, SyncOnReadVariable):
            return [fn(v, *select(args, i), **select(kwargs, i)) for i, v in enumerate(var.values)]
        return fn(var, *select(args, 0), **select(kwargs, 0))

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        return fn(*select(tuple(args), 0), **select(kwargs or {}, 0))

    def read_var(self, v):
        return v.read_value()

    def value_container(self, value):
        return value

    def non_slot_devices(self, var_list):
        return var_list[0].device if var_list else CPU_NAME

    def call_for_each_replica(self, fn, args=(), kwargs=None):
        return self._container_strategy().run(fn, args, kwargs)


class _DefaultStrategy(Strategy):
    """The strategy outside of all scopes."""


class OneDeviceStrategy(Strategy):
    """All on the device that is named."""

    def __init__(self, device):
        check(device)
        super().__init__()
        self._device = device


class MirroredStrategy(Strategy):
    """Copies of the variables on several devices; with one device, the variables themselves."""

    def __init__(self, devices=None, cross_device_ops=None):
        if not isinstance(cross_device_ops, (CrossDeviceOps, type(None))):
            raise ValueError(f"cross_device_ops must be CrossDeviceOps, got {cross_device_ops!r}")
        super().__init__()
        if devices:
            self._extended.worker_devices = _device_names(devices)

    num_replicas_in_sync = property(lambda self: self._extended._num_replicas_in_sync)


class CentralStorageStrategy(MirroredStrategy):
    """Variables on the CPU."""

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(compute_devices)


def _parts(value, count):
    """The rows of a tensor for each replica, as equally as they can be shared out."""
    rows = tidemark.shape(value)[0]
    each = (rows + count - 1) // count
    return PerReplica([value[i * each : (i + 1) * each] for i in range(count)])


def _device_names(devices):
    """The whole names of logical devices; raises for one that is not there."""
    if len(devices) == 1:
        check(devices[0])  # another one may stand in for it, as everywhere
        return (CPU_NAME,)
    there = len(list_logical_devices("CPU"))
    names = []
    for device in devices:
        spec = DeviceSpec.from_string(device if str(device).startswith("/") else f"/{device}")
        number = spec.device_index or 0
        if spec.device_type not in (None, "CPU"):
            check(device)  # the CPU stands in for it, as everywhere
            names.append(f"{CPU_NAME[: -len('CPU:0')]}{spec.device_type}:{number}")
            continue
        if number >= there:
            raise ValueError(
                f"there is no device {device!r}: {there} logical CPU(s) are set up. "
                "tf.config.set_logical_device_configuration makes more of them"
            )
        names.append(CPU_NAME[: -len("0")] + str(number))
    if len(set(names)) != len(names):
        raise ValueError(f"Duplicates in devices: {list(devices)}")
    return tuple(names)


_DEFAULT = _DefaultStrategy()
_chosen = [None]  # by experimental_set_strategy


def get_strategy():
    """The strategy of the innermost scope; the default one outside of all."""
    contexts = _contexts()
    return contexts[-1][0] if contexts else _chosen[0] or _DEFAULT


def has_strategy():
    """Whether a strategy other than the default one is in use."""
    return get_strategy() is not _DEFAULT


def experimental_set_strategy(strategy):
    """Makes a strategy the one in use outside of scopes; None: the default one again."""
    if _contexts():
        raise RuntimeError("Must not be called inside a strategy scope.")
    _chosen[0] = strategy


def get_replica_context():
    """The replica that this code runs as; None where code runs for all of them together."""
    contexts = _contexts()
    if contexts:
        return contexts[-1][1]
    return None if _chosen[0] else ReplicaContext(_DEFAULT)


def in_cross_replica_context():
    """Whether this code runs for all replicas together."""
    return get_replica_context() is None
