"""``tf.IndexedSlices``: some rows of a tensor that is zero elsewhere, as of gather's gradient."""

from __future__ import annotations

from typing import NamedTuple

from tidemark import dtypes
from tidemark._export import OPS, dispatching, export
from tidemark._tidemark import call, convert, is_symbolic, static_value
from tidemark.tensor_shape import TensorShape


class SlicesParts(NamedTuple):
    """How IndexedSlices are made of tensors: what functions take and give."""

    has_shape: bool

    @property
    def _component_specs(self):
        return (None,) * (3 if self.has_shape else 2)

    def _to_components(self, value):
        parts = (value.values, value.indices)
        return (*parts, convert(value.dense_shape)) if self.has_shape else parts

    def _from_components(self, parts):
        return IndexedSlices(*parts)


@export("tf.IndexedSlices")
class IndexedSlices:
    """``values[i]`` stands at row ``indices[i]``; rows named several times add up."""

    __tf_is_tensor__ = True

    def __init__(self, values, indices, dense_shape=None):
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    values = property(lambda self: self._values)
    indices = property(lambda self: self._indices)
    dense_shape = property(lambda self: self._dense_shape)
    dtype = property(lambda self: self._values.dtype)
    device = property(lambda self: self._values.device)
    name = property(lambda self: self._values.name)
    op = property(lambda self: self._values.op)
    graph = property(lambda self: self._values.graph)

    @property
    def shape(self):
        """The shape of the whole tensor; unknown unless it was given."""
        if self._dense_shape is None:
            return TensorShape(None)
        sizes = convert(self._dense_shape)
        if is_symbolic(sizes):
            sizes = static_value(sizes)
        return TensorShape(None if sizes is None else sizes.numpy().tolist())

    @property
    def _type_spec(self):
        return SlicesParts(self._dense_shape is not None)

    def get_shape(self):
        return self.shape

    def consumers(self):
        return self._values.consumers()

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def __tf_tensor__(self, dtype=None, name=None):
        """All elements: zeros with the rows added."""
        if self._dense_shape is None:
            raise ValueError(
                "Tensor conversion requested for IndexedSlices for which dense_shape is None: "
                f"{self}"
            )
        if dtype is not None and dtype != self.dtype:
            raise ValueError(
                f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                f"{self.dtype.name}"
            )
        inputs = (self._indices, self._values, self._dense_shape)
        return call("gather_grad", inputs, {"axis": 0})

    def __str__(self):
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"


_cast = OPS["tf.cast"]


@export("tf.cast", "tf.dtypes.cast")
@dispatching
def cast(x, dtype, name=None):
    """The values as another type; of IndexedSlices, the rows that are there."""
    if x.__class__ is IndexedSlices:
        return IndexedSlices(_cast(x.values, dtype), x.indices, x.dense_shape)
    if dtype is dtypes.string or dtype == "string":
        given = convert(x)
        if given.dtype is dtypes.string:  # no other type can become strings, or strings another
            return given
    return _cast(x, dtype)
