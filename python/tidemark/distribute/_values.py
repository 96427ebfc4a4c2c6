"""Values that differ from replica to replica, and variables that all of them share."""

from __future__ import annotations

import tidemark
from tidemark import nest
from tidemark._tensor.indexed_slices import IndexedSlices
from tidemark._tensor.specs import CompositeTensor, TypeSpec, type_spec_from_value
from tidemark._tensor.variable import Variable, VariableAggregation, VariableSynchronization
from tidemark._tidemark import Tensor, VariableBase, call, convert


class DistributedValues:
    """One value for each replica."""

    def __init__(self, values):
        self._values = tuple(values)

    values = property(lambda self: self._values)

    def __repr__(self):
        return f"{type(self).__name__}:{dict(enumerate(self.values))}"


class PerReplicaSpec(TypeSpec):
    """The type of a value for each replica."""

    def __init__(self, *specs):
        self._specs = specs

    value_type = property(lambda self: PerReplica)
    _component_specs = property(lambda self: self._specs)

    def _serialize(self):
        return self._specs

    def _to_components(self, value):
        return value.values

    def _from_components(self, components):
        return PerReplica(components)


class PerReplica(DistributedValues, CompositeTensor):
    """A tensor for each replica."""

    @property
    def _type_spec(self):
        return PerReplicaSpec(*(type_spec_from_value(v) for v in self.values))


def select(structure, number):
    """What the replica of this number has of a structure of values."""
    return nest.map_structure(
        lambda leaf: leaf.values[number] if isinstance(leaf, PerReplica) else leaf, structure
    )


def regroup(structures):
    """One structure of what each replica gave: values that differ stand side by side."""
    leaves = [nest.flatten(s) for s in structures]
    if len({len(row) for row in leaves}) > 1:
        raise ValueError(f"the replicas gave different structures: {structures}")
    joined = [_together(row) for row in zip(*leaves, strict=True)]
    return nest.pack_sequence_as(structures[0], joined)


def _together(values):
    first = values[0]
    if all(v is first for v in values):
        return first
    if not isinstance(first, (Tensor, VariableBase, CompositeTensor, IndexedSlices)):
        try:
            if all(v == first for v in values):
                return first
        except (TypeError, ValueError):
            pass
    return PerReplica(values)


def reduced(op, value):
    """One value of those of all replicas: their sum or their mean. A value that is one and the same
    on all of them counts once, as in TensorFlow."""
    if not isinstance(value, PerReplica):
        return value
    values = value.values
    if isinstance(values[0], IndexedSlices):
        total = tidemark.concat([v.values for v in values], 0)
        if op == "MEAN":
            total = total / len(values)
        return IndexedSlices(
            total, tidemark.concat([v.indices for v in values], 0), values[0].dense_shape
        )
    total = convert(values[0])
    for v in values[1:]:
        total = total + v
    return total / len(values) if op == "MEAN" else total


def _context():
    """The replica that is running among several, or None."""
    from tidemark.distribute._strategy import get_replica_context  # it imports this module

    context = get_replica_context()
    return context if context is not None and context.num_replicas_in_sync > 1 else None


class MirroredVariable(DistributedValues, Variable):
    """A variable that is the same on all replicas. They live in one memory, so it is there once.

    Updates by replicas are put together by the variable's aggregation; without one those of the
    first replica count, as in TensorFlow, where each replica updates a copy of its own.
    """

    _replicas = 1
    values = property(lambda self: (self,) * self._replicas)

    def __init__(self, replicas, **kwargs):
        Variable.__init__(self, **kwargs)
        self._replicas = replicas
        if self._synchronization is VariableSynchronization.AUTO:
            self._synchronization = VariableSynchronization.ON_WRITE

    __repr__ = Variable.__repr__

    def _update(self, how, value, kwargs):
        context = _context()
        if context is None:
            return how(self, value, **kwargs)
        if not hasattr(value, "dtype"):
            value = convert(value, self.dtype._enum)
        if self._aggregation is VariableAggregation.NONE:
            # Each replica would write to a copy of its own, all of them the same: one is enough.
            if context.replica_id_in_sync_group == 0:
                how(self, value, **kwargs)
            return self

        def together(strategy, given):
            if self._aggregation is VariableAggregation.ONLY_FIRST_REPLICA:
                given = select(given, 0)
            elif isinstance(given, PerReplica):
                given = reduced(self._aggregation.name, given)
            elif self._aggregation is VariableAggregation.SUM:
                given = convert(given, self.dtype._enum) * strategy.num_replicas_in_sync
            how(self, given, **kwargs)

        context.merge_call(together, args=(value,))
        return self

    def assign(self, value, use_locking=False, name=None, read_value=True):
        return self._update(Variable.assign, value, {})

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self._update(Variable.assign_add, delta, {})

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self._update(Variable.assign_sub, delta, {})


class ReadAsTensor:
    """What is not a tensor and has a value that is one."""

    def __tf_tensor__(self, dtype=None, name=None):
        return convert(self.value(), 0 if dtype is None else dtype._enum)

    def numpy(self):
        return self.value().numpy()

    def __array__(self, dtype=None, copy=None):
        return self.value().__array__(dtype)

    def get_shape(self):
        return self.shape

    def __getitem__(self, key):
        return self.value()[key]

    def __float__(self):
        return float(self.value())

    def __int__(self):
        return int(self.value())


class SyncOnReadVariable(ReadAsTensor, DistributedValues):
    """A variable of which each replica has its own; read outside of them they are put together."""

    is_replicated_variable = True  # an instance of tf.Variable, as far as that can be asked

    def __init__(self, replicas, **kwargs):
        value = kwargs.pop("initial_value")
        if callable(value) and not isinstance(value, (VariableBase, Tensor)):
            value = value()
        make = type.__call__  # not by the creators of the scope, which brought us here
        super().__init__(make(Variable, initial_value=value, **kwargs) for _ in range(replicas))

    _first = property(lambda self: self._values[0])
    name = property(lambda self: self._first.name)
    dtype = property(lambda self: self._first.dtype)
    shape = property(lambda self: self._first.shape)
    trainable = property(lambda self: self._first.trainable)
    device = property(lambda self: self._first.device)
    aggregation = property(lambda self: self._first.aggregation)
    synchronization = property(lambda self: VariableSynchronization.ON_READ)
    handle = property(lambda self: self._first.handle)
    _unique_id = property(lambda self: self._first._unique_id)
    _shared_name = property(lambda self: self._first._shared_name)

    def _own(self):
        """The variable of the replica that is running, or None."""
        context = _context()
        return None if context is None else self._values[context.replica_id_in_sync_group]

    def value(self):
        """The replica's value; outside of replicas that of all together."""
        own = self._own()
        if own is not None:
            return own.value()
        if self.aggregation in (VariableAggregation.SUM, VariableAggregation.MEAN):
            return reduced(self.aggregation.name, PerReplica([v.value() for v in self._values]))
        return self._first.value()

    read_value = value

    def assign(self, value, use_locking=False, name=None, read_value=True):
        own = self._own()
        if own is not None:
            own.assign(value)
            return self
        if self.aggregation is VariableAggregation.SUM:
            value = convert(value, self.dtype._enum) / len(self._values)
            value = call("cast", (value,), {"dtype": self.dtype})
        for variable in self._values:
            variable.assign(value)
        return self

    def assign_add(self, delta, use_locking=False, name=None, read_value=True):
        return self.assign(self.value() + delta)

    def assign_sub(self, delta, use_locking=False, name=None, read_value=True):
        return self.assign(self.value() - delta)


def _operator(name):
    return lambda self, *others: getattr(self.value(), name)(*others)


for _name in ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "rtruediv", "floordiv",
              "rfloordiv", "mod", "rmod", "pow", "rpow", "matmul", "rmatmul", "neg", "abs", "lt",
              "le", "gt", "ge"):  # fmt: skip
    setattr(ReadAsTensor, f"__{_name}__", _operator(f"__{_name}__"))
