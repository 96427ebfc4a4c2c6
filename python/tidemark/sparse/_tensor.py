"""``tf.SparseTensor``: the elements that are there, each with its place.

s = tf.SparseTensor([[0, 1], [2, 0]], [5.0, 6.0], [3, 2])
tf.sparse.to_dense(s)                                   # [[0, 5], [0, 0], [6, 0]]
"""

from __future__ import annotations

import collections

from tidemark import dtypes
from tidemark._export import OPS, export
from tidemark._tensor.creation import convert_to_tensor, get_static_value
from tidemark._tensor.elementwise import tensors_of_elementwise
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec, register
from tidemark._tidemark import Tensor, call, convert, static_value
from tidemark.dtypes import as_dtype
from tidemark.tensor_shape import TensorShape, as_shape

SparseTensorValue = collections.namedtuple(
    "SparseTensorValue", ["indices", "values", "dense_shape"]
)
_INT64 = dtypes.int64._enum


@export("tf.SparseTensor", "tf.sparse.SparseTensor")
class SparseTensor(CompositeTensor):
    """``values[i]`` stands at ``indices[i]``; elements that are not named are zero.

    ``indices`` is a matrix with one row of coordinates for each value. Most ops expect them in
    the order of the elements of a dense tensor; ``tf.sparse.reorder`` brings them into it.
    """

    __tf_is_tensor__ = True
    __array_priority__ = 100

    def __init__(self, indices, values, dense_shape):
        self._indices = _as_int64(indices)
        self._values = convert_to_tensor(values)
        self._dense_shape = _as_int64(dense_shape)
        count = self._indices.shape.with_rank(2)[0]
        self._values.shape.with_rank(1)[0:1].assert_is_compatible_with([count])
        self._dense_shape.shape.with_rank(1).assert_is_compatible_with([self._indices.shape[1]])
        self._static_shape = _static(self._dense_shape)
        if isinstance(dense_shape, (list, tuple)) and not self._static_shape.is_fully_defined():
            self._static_shape = self._static_shape.merge_with([_known(d) for d in dense_shape])

    @classmethod
    def from_value(cls, sparse_tensor_value):
        """A SparseTensor from a SparseTensorValue or another SparseTensor."""
        if not isinstance(sparse_tensor_value, (SparseTensor, SparseTensorValue)):
            raise TypeError(
                "Argument sparse_tensor_value must be of type SparseTensor or SparseTensorValue, "
                f"got {sparse_tensor_value!r}"
            )
        value = sparse_tensor_value
        return cls(value.indices, value.values, value.dense_shape)

    indices = property(lambda self: self._indices, doc="The places, a matrix of int64.")
    values = property(lambda self: self._values, doc="The elements, a vector.")
    dense_shape = property(lambda self: self._dense_shape, doc="The shape as a tensor of int64.")
    shape = property(lambda self: self._static_shape, doc="The shape as far as it is known.")
    dtype = property(lambda self: self._values.dtype)
    ndim = property(lambda self: self._static_shape.rank)
    op = property(lambda self: self._values.op)
    graph = property(lambda self: self._indices.graph)
    name = property(lambda self: self._values.name)

    def get_shape(self):
        """The shape as far as it is known."""
        return self._static_shape

    def set_shape(self, shape):
        """Merges what is known of the shape with the given one."""
        self._static_shape = self._static_shape.merge_with(shape)

    def with_values(self, new_values):
        """The same places with other values."""
        made = SparseTensor(self._indices, new_values, self._dense_shape)
        made._static_shape = self._static_shape
        return made

    def consumers(self):
        return self._values.consumers()

    def eval(self, feed_dict=None, session=None):
        return SparseTensorValue(*(part.eval(feed_dict, session) for part in self._parts()))

    def _parts(self):
        return (self._indices, self._values, self._dense_shape)

    def _numpy(self):
        return SparseTensorValue(*(part.numpy() for part in self._parts()))

    @property
    def _type_spec(self):
        return SparseTensorSpec(self._static_shape, self.dtype)

    @classmethod
    def __tf_dispatch__(cls, function, args, kwargs):
        """Elementwise functions of one sparse argument work on its values."""
        if not args or not isinstance(args[0], SparseTensor):
            return NotImplemented
        name = function.__name__
        if tensors_of_elementwise(function) == 1:
            return args[0].with_values(function(args[0]._values, *args[1:], **kwargs))
        return _SIZES[name](*args, **kwargs) if name in _SIZES else NotImplemented

    def __mul__(self, other):
        return self.with_values(_with_dense("multiply", self, other))

    def __truediv__(self, other):
        if self.dtype.is_integer:  # as two dense tensors of integers are divided
            wide = dtypes.float32 if self.dtype.size < 4 else dtypes.float64
            return self.with_values(call("cast", (self.values,), {"dtype": wide._enum})) / call(
                "cast", (convert(other, None, None, False),), {"dtype": wide._enum}
            )
        return self.with_values(_with_dense("truediv", self, other))

    __rmul__ = __mul__
    __div__ = __truediv__

    def __neg__(self):
        return self.with_values(-self._values)

    def __abs__(self):
        return self.with_values(abs(self._values))

    def __repr__(self):
        return (
            f"SparseTensor(indices={self._indices!s}, values={self._values!s}, "
            f"dense_shape={self._dense_shape!s})"
        )


def _shape(input, out_type=dtypes.int32, name=None):
    return OPS["tf.cast"](input.dense_shape, out_type)


def _size(input, out_type=dtypes.int32, name=None):
    return OPS["tf.cast"](call("prod", (input.dense_shape,), {}), out_type)


def _rank(input, name=None):
    return call("size", (input.dense_shape,), {})


# op names: what each tells of a sparse tensor.
_SIZES = {"shape": _shape, "size": _size, "rank": _rank}


def _as_int64(value):
    tensor = convert_to_tensor(value)
    if tensor.shape.num_elements() == 0 and tensor.dtype is dtypes.float32:
        return OPS["tf.cast"](tensor, dtypes.int64)  # an empty list says nothing about its type
    if tensor.dtype is dtypes.int64:
        return tensor
    if isinstance(value, Tensor):
        raise ValueError(
            f"Tensor conversion requested dtype int64 for Tensor with dtype {tensor.dtype.name}: "
            f"{value!r}"
        )
    return convert(value, _INT64)


def _known(size):
    """A size as a Python number; None where only the run tells."""
    found = static_value(convert(size))
    return None if found is None else int(found)


def _static(dense_shape):
    sizes = get_static_value(dense_shape)
    if sizes is None:
        rank = dense_shape.shape[0]
        return TensorShape(None if rank is None else [None] * rank)
    return TensorShape(sizes.tolist())


def _with_dense(op, sparse, dense):
    """The values of a sparse tensor combined with the elements of a dense one at their places."""
    dense = convert(dense, sparse.dtype._enum) if not isinstance(dense, Tensor) else dense
    wide = call("broadcast_to", (dense, sparse.dense_shape), {})
    return call(op, (sparse.values, call("gather_nd", (wide, sparse.indices), {})), {})


@register("tf.SparseTensorSpec")
@export("tf.SparseTensorSpec")
class SparseTensorSpec(TypeSpec):
    """Shape and dtype of a sparse tensor."""

    __slots__ = ("_shape", "_dtype")
    may_grow = True  # from round to round of a loop

    def __init__(self, shape=None, dtype=dtypes.float32):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    rank = property(lambda self: self._shape.rank)
    value_type = property(lambda self: SparseTensor)

    @classmethod
    def from_value(cls, value):
        """The spec of a sparse tensor."""
        return cls(value.shape, value.dtype)

    def _serialize(self):
        return (self._shape, self._dtype)

    def _with_shape(self, shape):
        return SparseTensorSpec(shape, self._dtype)

    @property
    def _component_specs(self):
        rank = self._shape.rank
        return [
            TensorSpec([None, rank], dtypes.int64),
            TensorSpec([None], self._dtype),
            TensorSpec([rank], dtypes.int64),
        ]

    @property
    def _flat_tensor_specs(self):
        """How TensorFlow's datasets carry one: as a single variant."""
        return [TensorSpec(None, dtypes.variant)]

    def _to_components(self, value):
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, components):
        made = SparseTensor(*components)
        made._static_shape = made._static_shape.merge_with(self._shape)
        return made

    def _batch(self, size):
        return SparseTensorSpec(TensorShape([size]).concatenate(self._shape), self._dtype)

    def _unbatch(self):
        return SparseTensorSpec(self._shape[1:], self._dtype)

    def joined(self, other):
        """The spec of what is of this one or of the other."""
        if self._shape.rank is None or self._shape.rank != other._shape.rank:
            return SparseTensorSpec(None, self._dtype)
        pairs = zip(self._shape.as_list(), other._shape.as_list(), strict=True)
        return SparseTensorSpec([a if a == b else None for a, b in pairs], self._dtype)

    def __repr__(self):
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"
