"""Strategies over one device: the default one, and those that TensorFlow names."""

from __future__ import annotations

import contextlib
import threading

from tidemark import nest
from tidemark._device import CPU_NAME
from tidemark._scopes import variable_creator_scope
from tidemark.distribute._replica import (
    CrossDeviceOps,
    DistributedValues,
    ReplicaContext,
    _reduce_op,
    as_value,
)

_state = threading.local()  # contexts: (strategy, replica context or None), innermost last


def _contexts():
    if not hasattr(_state, "contexts"):
        _state.contexts = []
    return _state.contexts


class Strategy:
    """Where variables live and functions run; here on the one device."""

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
        with ReplicaContext(self):
            return fn(*args, **(kwargs or {}))

    def reduce(self, reduce_op, value, axis):
        """One value of those of all replicas; also over an axis of them if it is given."""
        reduce_op = _reduce_op(reduce_op)
        value = value.values[0] if isinstance(value, DistributedValues) else value
        if axis is None:
            return nest.map_structure(as_value, value)
        from tidemark._tidemark import call

        op = "sum" if reduce_op.name == "SUM" else "mean"
        axes = list(axis) if isinstance(axis, (list, tuple)) else [axis]
        return nest.map_structure(lambda v: call(op, (v,), {"axis": axes}), value)

    def gather(self, value, axis):
        """The values of all replicas joined along an axis."""
        return value.values[0] if isinstance(value, DistributedValues) else as_value(value)

    def experimental_local_results(self, value):
        """The values of the replicas of this process as a tuple."""
        return value.values if isinstance(value, DistributedValues) else (value,)

    def experimental_distribute_dataset(self, dataset, options=None):
        """The dataset itself: one replica reads all of it."""
        return dataset

    def distribute_datasets_from_function(self, dataset_fn, options=None):
        """The dataset the function makes for the one pipeline there is."""
        from tidemark.distribute._replica import InputContext

        return dataset_fn(InputContext())

    def experimental_distribute_values_from_function(self, value_fn):
        """The value the function makes for the one replica there is."""
        return value_fn(ReplicaContext(self))


class StrategyExtended:
    """What optimizers and metrics ask of a strategy."""

    def __init__(self, container_strategy):
        self._container_strategy_of = lambda: container_strategy

    experimental_require_static_shapes = property(lambda self: False)
    worker_devices = property(lambda self: (CPU_NAME,))
    parameter_devices = property(lambda self: (CPU_NAME,))
    _num_replicas_in_sync = property(lambda self: 1)
    _global_batch_size = property(lambda self: True)
    should_checkpoint = property(lambda self: True)
    should_save_summary = property(lambda self: True)

    def _container_strategy(self):
        return self._container_strategy_of()

    def _use_merge_call(self):
        return False

    def _in_multi_worker_mode(self):
        return False

    def _create_variable(self, next_creator, **kwargs):
        return next_creator(**kwargs)

    def variable_created_in_scope(self, v):
        """Whether a variable was made under this strategy; on one device it may be used anyway."""
        return True

    @contextlib.contextmanager
    def colocate_vars_with(self, colocate_with_variable):
        """A context in which variables are made where the given one lives."""
        yield

    def reduce_to(self, reduce_op, value, destinations, options=None):
        _reduce_op(reduce_op)
        return value

    def batch_reduce_to(self, reduce_op, value_destination_pairs, options=None):
        _reduce_op(reduce_op)
        return [value for value, _ in value_destination_pairs]

    def update(self, var, fn, args=(), kwargs=None, group=True):
        """Calls ``fn(var, …)`` where the variable lives."""
        return fn(var, *args, **(kwargs or {}))

    def update_non_slot(self, colocate_with, fn, args=(), kwargs=None, group=True):
        return fn(*args, **(kwargs or {}))

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
        from tidemark._device import check

        check(device)
        super().__init__()
        self._device = device


class MirroredStrategy(Strategy):
    """Copies of the variables on several devices; with one device, the variables themselves."""

    def __init__(self, devices=None, cross_device_ops=None):
        if devices is not None and len(devices) > 1:
            raise _unimplemented(devices)
        if not isinstance(cross_device_ops, (CrossDeviceOps, type(None))):
            raise ValueError(f"cross_device_ops must be CrossDeviceOps, got {cross_device_ops!r}")
        super().__init__()


class CentralStorageStrategy(MirroredStrategy):
    """Variables on the CPU."""

    def __init__(self, compute_devices=None, parameter_device=None):
        super().__init__(compute_devices)


def _unimplemented(devices):
    from tidemark.errors import UnimplementedError

    return UnimplementedError(
        None, None, f"MirroredStrategy works on one device, got {len(devices)}: {list(devices)}"
    )


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
