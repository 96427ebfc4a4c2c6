"""``tf.RaggedTensor``: rows of different lengths.

    r = tf.ragged.constant([[1, 2], [], [3]])
    r.row_lengths()                         # [2, 0, 1]
    r + 1                                   # [[2, 3], [], [4]]
    r.to_tensor()                           # [[1, 2], [0, 0], [3, 0]]

The values of all rows lie in one tensor; a RowPartition says which belong together. With several
ragged dimensions the values are ragged themselves.
"""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor, fill
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec, register
from tidemark._tidemark import Tensor, call, convert, is_symbolic
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError
from tidemark.ragged._row_partition import RowPartition, check_that
from tidemark.tensor_shape import TensorShape, as_shape

_INT64 = dtypes.int64._enum


def as_values(value, dtype=None):
    """A ragged tensor as it is, anything else as a tensor."""
    if isinstance(value, RaggedTensor):
        return value
    return convert_to_tensor(value) if dtype is None else convert(value, as_dtype(dtype)._enum)


def _holding_all(values, rows):
    """The rows, if they hold as many values as there are: checked when it is known."""
    have, said = values.shape[0] if values.shape.rank else None, rows.static_nvals
    wrong = "Arguments to RaggedTensor do not form a valid RaggedTensor: the rows hold {} values"
    if None in (have, said):
        count = rows.nvals()
        holds = check_that(cast(length_of(values), count.dtype) == count,
                           wrong.format("another number of"))  # fmt: skip
        return rows if holds is None else rows.after(holds)
    if have != said:
        raise InvalidArgumentError(None, None, f"{wrong.format(said)}, but {have} were given")
    return rows


@export("tf.RaggedTensor")
class RaggedTensor(CompositeTensor):
    """Values cut into rows."""

    __tf_is_tensor__ = True
    __array_priority__ = 100

    def __init__(self, values, internal=False, row_partition=None):
        if not internal:
            raise ValueError(
                "RaggedTensor constructor is private; please use one of the factory methods "
                "instead (e.g., RaggedTensor.from_row_lengths())"
            )
        if not isinstance(row_partition, RowPartition):
            raise TypeError(
                f"Argument `row_partition` must be a RowPartition. Received {row_partition!r}."
            )
        if not isinstance(values, (Tensor, RaggedTensor)):
            raise TypeError(
                f"type(values) must be one of: Tensor, RaggedTensor. Received {values!r}."
            )
        self._values = values
        self._rows = row_partition

    # --- making one ------------------------------------------------------------------------------

    @classmethod
    def _from_row_partition(cls, values, row_partition, validate=True):
        values = as_values(values)
        if values.shape.rank == 0:
            raise ValueError(f"values must have at least one dimension, got {values}")
        if validate:
            row_partition = _holding_all(values, row_partition)
        return cls(values, internal=True, row_partition=row_partition)

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """Rows by where each begins, and where the last one ends."""
        rows = RowPartition.from_row_splits(row_splits, validate)
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """Rows by how many values each has."""
        rows = RowPartition.from_row_lengths(row_lengths, validate)
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """Rows by the row of each value."""
        rows = RowPartition.from_value_rowids(value_rowids, nrows, validate)
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """Rows by where each begins."""
        values = as_values(values)
        rows = RowPartition.from_row_starts(row_starts, length_of(values), validate)
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """Rows by where each ends."""
        rows = RowPartition.from_row_limits(row_limits, validate)
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True,
                                name=None):  # fmt: skip
        """Rows of one length."""
        values = as_values(values)
        rows = RowPartition.from_uniform_row_length(
            uniform_row_length, length_of(values), nrows, validate
        )
        return cls._from_row_partition(values, rows, validate)

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """Several ragged dimensions, outermost first."""
        _check_list("nested_row_splits", nested_row_splits)
        return cls._nested(flat_values, nested_row_splits, cls.from_row_splits, validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """Several ragged dimensions, outermost first."""
        _check_list("nested_row_lengths", nested_row_lengths)
        return cls._nested(flat_values, nested_row_lengths, cls.from_row_lengths, validate)

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None,
                                 name=None, validate=True):  # fmt: skip
        """Several ragged dimensions, outermost first."""
        _check_list("nested_value_rowids", nested_value_rowids)
        if nested_nrows is not None:
            _check_list("nested_nrows", nested_nrows)
            if len(nested_nrows) != len(nested_value_rowids):
                raise ValueError(
                    "Argument `nested_nrows` must have the same length as argument "
                    f"`nested_value_rowids`. len(nested_nrows) = {len(nested_nrows)} vs. "
                    f"len(nested_value_rowids) = {len(nested_value_rowids)}."
                )
        counts = nested_nrows or [None] * len(nested_value_rowids)
        result = flat_values
        for rowids, nrows in reversed(list(zip(nested_value_rowids, counts, strict=True))):
            result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
        return result

    @classmethod
    def _nested(cls, flat_values, nested, make, validate):
        result = flat_values
        for part in reversed(list(nested)):
            result = make(result, part, validate=validate)
        return result

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None,
                    row_splits_dtype=dtypes.int64):  # fmt: skip
        """Rows of a tensor, without their tails: beyond a length, or of one padding value."""
        from tidemark.ragged._converting import from_tensor  # it imports this module

        return from_tensor(tensor, lengths, padding, ragged_rank, row_splits_dtype)

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a sparse matrix, each as long as it has elements."""
        rowids = cast(st_input.indices[:, 0], row_splits_dtype)
        made = cls.from_value_rowids(st_input.values, rowids, int(st_input.dense_shape[0]))
        places = cast(made._rows.offsets_in_rows(), dtypes.int64)
        same = call("equal", (places, st_input.indices[:, 1]), {})
        if not call("all", (same,), {}):
            raise InvalidArgumentError(
                None, None, "SparseTensor is not right-ragged: rows must have no holes"
            )
        return made

    # --- its parts -------------------------------------------------------------------------------

    values = property(lambda self: self._values, doc="The values of all rows.")
    dtype = property(lambda self: self._values.dtype)
    row_splits = property(lambda self: self._rows.row_splits())
    uniform_row_length = property(lambda self: self._rows.uniform_row_length)
    ragged_rank = property(lambda self: 1 + getattr(self._values, "ragged_rank", 0))
    _row_partition = property(lambda self: self._rows)

    @property
    def flat_values(self):
        """The values of the innermost rows."""
        inner = self._values
        while isinstance(inner, RaggedTensor):
            inner = inner._values
        return inner

    @property
    def _nested_row_partitions(self):
        inner = self._values
        deeper = inner._nested_row_partitions if isinstance(inner, RaggedTensor) else ()
        return (self._rows, *deeper)

    @property
    def nested_row_splits(self):
        return tuple(rows.row_splits() for rows in self._nested_row_partitions)

    @property
    def shape(self):
        """The static shape; ragged dimensions are unknown."""
        inner = self._values.shape
        rest = None if inner.rank is None else inner[1:]
        uniform = self._rows.static_uniform_row_length
        own = TensorShape([self._rows.static_nrows, uniform])
        return own.concatenate(TensorShape(rest))

    def get_shape(self):
        return self.shape

    def _set_shape(self, shape):
        """Notes what is known of the shape, of each dimension where it is kept."""
        shape = as_shape(shape)
        if shape.rank is None:
            return
        if shape.rank <= self.ragged_rank:
            raise ValueError(f"a shape of more than {self.ragged_rank} dimensions was expected, "
                             f"got {shape}")  # fmt: skip
        for have, said in zip(self.shape if self.shape.rank else (), shape, strict=False):
            if None not in (have, said) and have != said:
                raise ValueError(f"Inconsistent size: {self.shape} cannot be {shape}")
        self._rows = self._rows.with_sizes(shape[0], shape[1])
        if isinstance(self._values, RaggedTensor):
            self._values._set_shape(TensorShape([None]).concatenate(shape[2:]))
        else:
            inner = TensorShape([self._rows.static_nvals]).concatenate(shape[2:])
            self._values.set_shape(inner)

    def row_lengths(self, axis=1, name=None):
        """How long the rows are, along the given dimension."""
        if axis == 0:
            return self.nrows()
        if axis == 1:
            return self._rows.row_lengths()
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.row_lengths(axis - 1))
        size = call("shape", (self._values,), {"out_type": self.row_splits.dtype._enum})[axis - 1]
        return self.with_values(fill([length_of(self._values)], size))

    def nested_row_lengths(self, name=None):
        return tuple(rows.row_lengths() for rows in self._nested_row_partitions)

    def nested_value_rowids(self, name=None):
        return tuple(rows.value_rowids() for rows in self._nested_row_partitions)

    def row_starts(self, name=None):
        return self._rows.row_starts()

    def row_limits(self, name=None):
        return self._rows.row_limits()

    def value_rowids(self, name=None):
        return self._rows.value_rowids()

    def nrows(self, out_type=None, name=None):
        count = self._rows.nrows()
        return count if out_type is None else cast(count, out_type)

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The smallest dense shape that holds all rows."""
        # It imports this module.
        from tidemark.ragged._converting import bounding_sizes, sizes_as_tensor

        number = self.row_splits.dtype if out_type is None else as_dtype(out_type)
        sizes = cast(sizes_as_tensor(bounding_sizes(self)), number)
        return sizes if axis is None else call("gather", (sizes, axis), {"axis": 0})

    # --- others like it --------------------------------------------------------------------------

    def with_values(self, new_values):
        """The same rows over other values."""
        new_values = as_values(new_values)
        rank = new_values.shape.rank
        sizes = {_length(self._values), _length(new_values)} if rank else set()
        if rank == 0 or len(sizes - {None}) > 1:
            raise ValueError(
                f"new_values must have {_length(self._values)} rows, got shape {new_values.shape}"
            )
        return RaggedTensor(new_values, internal=True, row_partition=self._rows)

    def with_flat_values(self, new_values):
        """The same rows over other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """With row splits of another type."""
        inner = self._values
        if isinstance(inner, RaggedTensor):
            inner = inner.with_row_splits_dtype(dtype)
        return RaggedTensor(inner, internal=True, row_partition=self._rows.with_dtype(dtype))

    def merge_dims(self, outer_axis, inner_axis):
        """Some neighbouring dimensions as one."""
        from tidemark.ragged._converting import merge_dims  # it imports this module

        return merge_dims(self, outer_axis, inner_axis)

    # --- as something else -----------------------------------------------------------------------

    def to_tensor(self, default_value=None, name=None, shape=None):
        """A dense tensor, rows filled up with the default value."""
        from tidemark.ragged._converting import to_tensor  # it imports this module

        return to_tensor(self, default_value, shape)

    def to_sparse(self, name=None):
        """A sparse tensor of the values at their places."""
        from tidemark.ragged._converting import to_sparse  # it imports this module

        return to_sparse(self)

    def to_list(self):
        """Nested Python lists."""
        splits = self.row_splits.numpy().tolist()
        if isinstance(self._values, RaggedTensor):
            values = self._values.to_list()
        else:
            values = self._values.numpy().tolist()
        return [values[a:b] for a, b in zip(splits[:-1], splits[1:], strict=True)]

    def numpy(self):
        """A NumPy array; of objects where rows differ in length."""
        import numpy as np  # importing the package does not load it

        if is_symbolic(self.row_splits) or is_symbolic(self.flat_values):
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        rows = [row.numpy() for row in self]
        if not rows:
            return np.zeros((0, 0, *self.shape.as_list()[2:]), self.dtype.as_numpy_dtype)
        if len({getattr(row, "shape", None) for row in rows}) == 1:
            return np.stack(rows)
        array = np.empty(len(rows), dtype=object)
        for i, row in enumerate(rows):
            array[i] = row
        return array

    def __tf_tensor__(self, dtype=None, name=None):
        raise ValueError(
            "a RaggedTensor cannot become a Tensor by itself: fill its rows up with .to_tensor()"
        )

    def __array__(self, dtype=None, copy=None):
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def consumers(self):
        return self.flat_values.consumers()

    def __len__(self):
        return self._rows.static_nrows

    def __iter__(self):
        splits = self.row_splits.numpy().tolist()
        for begin, end in zip(splits[:-1], splits[1:], strict=True):
            yield self._values[begin:end]

    def __getitem__(self, key):
        from tidemark.ragged._indexing import getitem  # it imports this module

        return getitem(self, key)

    @property
    def _type_spec(self):
        return RaggedTensorSpec(self.shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    @classmethod
    def __tf_dispatch__(cls, function, args, kwargs):
        from tidemark.ragged._dispatch import answer  # it imports this module

        return answer(function, args, kwargs)

    def __str__(self):
        if is_symbolic(self.row_splits) or is_symbolic(self.flat_values):
            return f"tf.RaggedTensor(values={self._values}, row_splits={self.row_splits})"
        return f"<tf.RaggedTensor {self.to_list()}>"

    __repr__ = __str__
    __hash__ = object.__hash__


def _check_list(name, value):
    if not isinstance(value, (list, tuple)):
        raise TypeError(f"Argument `{name}` must be a list of Tensors. Received {value!r}.")


def _length(values):
    """The number of rows, as a Python number; None where only the run tells."""
    if isinstance(values, RaggedTensor):
        return values._rows.static_nrows
    return values.shape[0] if values.shape.rank else None


def length_of(values):
    """The number of rows: a Python number if it is known, otherwise an int64 tensor."""
    known = _length(values)
    if known is not None:
        return known
    if isinstance(values, RaggedTensor):
        return cast(values.nrows(), dtypes.int64)
    return call("shape", (values,), {"out_type": dtypes.int64._enum})[0]


def sizes_of(tensor):
    """The sizes of a dense tensor, each as a Python number or, where it is unknown, a tensor."""
    sizes = tensor.shape.as_list()
    if None not in sizes:
        return sizes
    found = call("shape", (tensor,), {"out_type": _INT64})
    return [found[at] if size is None else size for at, size in enumerate(sizes)]


@register("tf.RaggedTensorSpec")
@export("tf.RaggedTensorSpec")
class RaggedTensorSpec(TypeSpec):
    """Shape, dtype and number of ragged dimensions."""

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype", "_flat_values_spec")
    may_grow = True  # from round to round of a loop

    def __init__(self, shape=None, dtype=dtypes.float32, ragged_rank=None,
                 row_splits_dtype=dtypes.int64, flat_values_spec=None):  # fmt: skip
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        rank = self._shape.rank
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        elif not isinstance(ragged_rank, int):
            raise TypeError(f"`ragged_rank` must be an int, got {type(ragged_rank).__name__}")
        if rank is not None and ragged_rank >= max(rank, 1):
            raise ValueError(
                f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({rank})."
            )
        self._ragged_rank = int(ragged_rank)
        self._flat_values_spec = flat_values_spec

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    ragged_rank = property(lambda self: self._ragged_rank)
    row_splits_dtype = property(lambda self: self._row_splits_dtype)
    flat_values_spec = property(lambda self: self._flat_values_spec)

    @property
    def value_type(self):
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @classmethod
    def from_value(cls, value):
        """The spec of a ragged tensor."""
        return value._type_spec

    def _serialize(self):
        return (self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def is_compatible_with(self, spec_or_value):
        """Whether a value can be of this kind; without ragged dimensions also a tensor."""
        if self._ragged_rank <= 0:
            spec = TensorSpec(self._shape, self._dtype)
            if isinstance(spec_or_value, (Tensor, TensorSpec)):
                return spec.is_compatible_with(spec_or_value)
        return super().is_compatible_with(spec_or_value)

    @property
    def _flat_tensor_specs(self):
        """How TensorFlow's datasets carry one: as a single variant."""
        return [TensorSpec(None, dtypes.variant)]

    @property
    def _component_specs(self):
        if self._ragged_rank <= 0:
            return [TensorSpec(self._shape, self._dtype)]
        rank = self._shape.rank
        inner = [None] if rank is None else [None, *self._shape.as_list()[self._ragged_rank + 1 :]]
        values = TensorSpec(TensorShape(None) if rank is None else inner, self._dtype)
        count = None if rank is None else self._shape.as_list()[0]
        outer = TensorSpec([None if count is None else count + 1], self._row_splits_dtype)
        splits = [TensorSpec([None], self._row_splits_dtype)] * (self._ragged_rank - 1)
        return [values, outer, *splits]

    def _to_components(self, value):
        if self._ragged_rank <= 0:
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _from_components(self, components):
        if self._ragged_rank <= 0:
            return components[0]
        values, *splits = components
        # Functions that relax sizes relax those of the components, not the spec's: a spec tells
        # more only of components about which nothing is known.
        is_open = any(getattr(part, "shape", self._shape).rank is None for part in components)
        made = RaggedTensor.from_nested_row_splits(values, splits, validate=False)
        if is_open and self._shape.rank is not None:
            made._set_shape(self._shape)
        return made

    def _batch(self, size):
        shape = TensorShape([size]).concatenate(self._shape)
        rank = self._ragged_rank + 1
        return RaggedTensorSpec(shape, self._dtype, rank, self._row_splits_dtype)

    def _unbatch(self):
        rank = self._ragged_rank - 1
        return RaggedTensorSpec(self._shape[1:], self._dtype, rank, self._row_splits_dtype)

    def __repr__(self):
        return (
            f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank!r}, "
            f"{self._row_splits_dtype!r})"
        )
