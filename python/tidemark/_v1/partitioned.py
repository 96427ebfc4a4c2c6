"""Variables of TensorFlow 1 that are cut into parts, each a variable of its own.

    embeddings = v1.get_variable("e", [1000, 8], partitioner=v1.fixed_size_partitioner(4))
    list(embeddings)                       # e/part_0 … e/part_3, of 250 rows each
    tf.nn.embedding_lookup(embeddings, ids)

Checkpoints hold the whole under its name, so that it can be cut in another way when it is restored.
"""

from __future__ import annotations

import inspect

import numpy as np

import tidemark as tf
from tidemark._graph.scopes import executing_eagerly, name_scope
from tidemark._tensor.save_slice import SaveSliceInfo
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import as_shape


class PartitionedVariable:
    """The parts in order, and what they are together."""

    def __init__(self, name, shape, dtype, variable_list, partitions):
        self._name, self._shape, self._dtype = name, as_shape(shape), as_dtype(dtype)
        self._variable_list, self._partitions = list(variable_list), list(partitions)

    name = property(lambda self: self._name)
    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    op = property(lambda self: self)

    def get_shape(self):
        return self._shape

    def __iter__(self):
        return iter(self._variable_list)

    def __len__(self):
        return len(self._variable_list)

    def _get_variable_list(self):
        return self._variable_list

    def _get_partitions(self):
        return self._partitions

    def _axis(self):
        """The axis along which it is cut."""
        return next((axis for axis, count in enumerate(self._partitions) if count > 1), 0)

    def as_tensor(self):
        """The whole."""
        if executing_eagerly():
            return tf.concat(self._variable_list, self._axis())
        with name_scope(self._name + "/ConcatPartitions/"):
            whole = tf.concat(self._variable_list, self._axis())
        with name_scope(""):
            return tf.identity(whole, name=self._name)

    def __tf_tensor__(self, dtype=None, name=None):
        if dtype is not None and as_dtype(dtype) != self._dtype:
            raise ValueError(f"{self._name} is of {self._dtype}; {as_dtype(dtype)} was asked for")
        return self.as_tensor()

    def assign(self, value, use_locking=False, name=None, read_value=True):
        """Gives the parts their parts of a value."""
        sizes = [part.shape[self._axis()] for part in self._variable_list]
        values = tf.split(value, sizes, self._axis())
        return [part.assign(v) for part, v in zip(self._variable_list, values, strict=True)]

    def __repr__(self):
        return (f"<PartitionedVariable '{self._name}' shape={self._shape} "
                f"dtype={self._dtype.name} parts={len(self)}>")  # fmt: skip


class Slices:
    """Parts as checkpoints hold them: one tensor."""

    def __init__(self, parts):
        infos = [part._save_slice_info for part in parts]
        self.name, self.shape = infos[0].full_name, as_shape(infos[0].full_shape)
        self._places = [
            (part, tuple(slice(at, at + size) for at, size in
                         zip(info.var_offset, info.var_shape, strict=True)))
            for part, info in zip(parts, infos, strict=True)
        ]  # fmt: skip
        held = sum(part.shape.num_elements() for part in parts)
        if held != self.shape.num_elements():
            raise ValueError(f"{self.name} is cut into parts, and not all are saved: {held} of "
                             f"{self.shape.num_elements()} elements. Name all parts")  # fmt: skip

    def value_in(self, session):
        """The whole, with the values of the session."""
        from tidemark._v1.train.saver import value_in  # it imports this module

        found = None
        for part, place in self._places:
            value = value_in(session, part)
            found = np.empty(self.shape.as_list(), value.dtype) if found is None else found
            found[place] = value
        return found

    def load(self, value, session):
        for part, place in self._places:
            if getattr(part, "is_graph_variable", False):
                part.load(value[place], session)
            else:
                part.assign(value[place])


def with_parts_together(variables):
    """Variables by name, in which those that are parts are replaced by what they are together."""
    found, parts = {}, {}
    for name, variable in variables.items():
        if isinstance(variable, PartitionedVariable):
            found[name] = Slices(list(variable))
        elif getattr(variable, "_save_slice_info", None) is None:
            found[name] = variable
        else:
            parts.setdefault(variable._save_slice_info.full_name, []).append(variable)
    for name, some in parts.items():
        found[name] = Slices(some)
    return found


def counts_of(partitioner, shape, dtype):
    """How many parts along each axis; raises where the partitioner says it wrongly."""
    if not shape.is_fully_defined():
        raise ValueError(f"Shape of a new partitioned variable must be fully defined, got {shape}")
    counts = list(partitioner(shape=shape, dtype=dtype))
    if len(counts) != shape.rank:
        raise ValueError(f"Partitioner returned a partition list that does not match the "
                         f"Variable's rank: {counts} vs. {shape}")  # fmt: skip
    if any(count < 1 for count in counts):
        raise ValueError(f"Partitioner returned zero partitions for some axes: {counts}")
    if sum(count > 1 for count in counts) > 1:
        raise ValueError(f"Can only slice a variable along one dimension: shape: {shape}, "
                         f"partitioning: {counts}")  # fmt: skip
    return counts


def cut(name, shape, dtype, counts, initializer, make):
    """The variable of these parts, each by ``make(name, shape, value or initializer)``."""
    axis = next((axis for axis, count in enumerate(counts) if count > 1), 0)
    whole, offset, parts = shape.as_list(), 0, []
    for number in range(counts[axis]):
        sizes, offsets = list(whole), [0] * len(whole)
        sizes[axis] = whole[axis] // counts[axis] + (number < whole[axis] % counts[axis])
        offsets[axis] = offset
        part = make(f"{name}/part_{number}", sizes,
                    _part_of(initializer, whole, offsets, sizes))  # fmt: skip
        part._save_slice_info = SaveSliceInfo(name, whole, offsets, sizes)
        parts.append(part)
        offset += sizes[axis]
    return PartitionedVariable(name, shape, dtype, parts, counts)


class _PartitionInfo:
    """What an initializer is told of the part it makes."""

    def __init__(self, full_shape, var_offset):
        self.full_shape, self.var_offset = full_shape, var_offset


def _part_of(initializer, whole, offsets, sizes):
    """What a part begins with: its part of a value, or the initializer."""
    if initializer is None or isinstance(initializer, type):
        return initializer
    if not callable(initializer):
        return tf.slice(tf.convert_to_tensor(initializer), offsets, sizes)
    try:
        takes = "partition_info" in inspect.signature(initializer).parameters
    except (TypeError, ValueError):
        takes = False
    if not takes:
        return initializer
    info = _PartitionInfo(whole, offsets)
    return lambda shape, dtype=None: initializer(shape, dtype=dtype, partition_info=info)
