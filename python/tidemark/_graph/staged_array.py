"""``tf.TensorArray`` in a graph: one tensor whose rows are the elements.

Written in place when nobody else needs the array as it was, grown where it lies, stacked without a
copy; see src/tidemark/ops/arrays.cpp.
"""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.tensor_array import TensorArray, TensorArraySpec
from tidemark._tidemark import Tensor, call
from tidemark.errors import InvalidArgumentError
from tidemark.tensor_shape import TensorShape


def _static(size):
    """A number of places as an int, None where only the run can tell."""
    if isinstance(size, Tensor):
        size = _tidemark.static_value(size) if _tidemark.is_symbolic(size) else size
    return None if size is None else int(size)


class StagedTensorArray(TensorArray):
    """An array that flows through conditions and loops; ``write`` returns the next one."""

    def _make_places(self, size):
        self._rows = None if self._dynamic_size else _static(size)
        known, is_text = self._element_shape.is_fully_defined(), self._dtype == dtypes.string
        sizes = self._element_shape.as_list() if known else [0]
        blank = _tidemark.convert(np.empty((0, 0), np.bytes_ if is_text else np.int8))
        blank = blank if is_text else call("cast", (blank,), {"dtype": self._dtype})
        self._array = call("array_resize", (blank, size), {"element_shape": sizes})

    @classmethod
    def over(cls, spec, tensor):
        """An array of this type whose elements are the rows of a tensor."""
        made = object.__new__(cls)
        made._dtype = spec._dtype
        made._dynamic_size = spec._dynamic_size
        made._infer_shape = spec._infer_shape
        made._element_shape = spec._element_shape
        made._rows = spec._rows
        made._array = tensor
        return made

    flow = property(lambda self: self._array)

    @property
    def _type_spec(self):
        spec = TensorArraySpec(
            self._element_shape, self._dtype, self._dynamic_size, self._infer_shape
        )
        spec._rows = self._rows
        return spec

    def _as_tensor(self):
        return self._array

    def _next(self, array, element_shape):
        made = self.over(self._type_spec, array)
        if self._infer_shape:
            made._element_shape = made._element_shape.merge_with(element_shape)
        return made

    def __repr__(self):
        return f"<tf.TensorArray of {self._dtype.name} elements of shape {self._element_shape}>"

    def _checked(self, value):
        value = convert_to_tensor(value, dtype=None if hasattr(value, "dtype") else self._dtype)
        if value.dtype != self._dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name}",
            )
        return value

    def _check_element(self, shape):
        if not self._element_shape.is_compatible_with(shape):
            raise ValueError(
                f"Inconsistent shapes: saw {shape} but expected {self._element_shape}. Elements of "
                "different shapes need TensorArray(..., infer_shape=False)"
            )

    def _announced(self):
        if self._element_shape.rank is None:
            return None
        return [-1 if size is None else size for size in self._element_shape.as_list()]

    def _size(self):
        if self._rows is not None:
            return convert_to_tensor(self._rows)
        return call("shape", (self._array,), {})[0]

    def _identity(self):
        return self.over(self._type_spec, self._array)

    def _close(self):
        """Nothing is to be done: what nobody needs is gone."""

    def _write(self, index, value):
        value = self._checked(value)
        self._check_element(value.shape)
        options = {"dynamic_size": self._dynamic_size}
        array = call("array_write", (self._array, index, value), options)
        return self._next(array, value.shape)

    def _read(self, index):
        return call("array_read", (self._array, index), {"element_shape": self._announced()})

    def _stack(self):
        rows = call("array_resize", (self._array, -1), {"element_shape": self._announced()})
        return self._with_known_rows(rows)

    def _first(self, count):
        """The first ``count`` tensors as one."""
        return call("array_resize", (self._array, count), {"element_shape": self._announced()})

    def _with_known_rows(self, stacked):
        if self._rows is not None and stacked.shape.rank is not None:
            stacked.set_shape([self._rows, *stacked.shape.as_list()[1:]])
        return stacked

    def _gather(self, indices):
        return call("gather", (self.stack(), indices), {})

    def _concat(self):
        rows = self.stack()
        sizes = call("shape", (rows,), {})
        joined = call("concat", ([convert_to_tensor([-1]), sizes[2:]],), {"axis": 0})
        return call("reshape", (rows, joined), {})

    def _unstack(self, value):
        value = self._checked(value)
        element = value.shape[1:]
        self._check_element(element)
        made = self._next(value, element)
        known = None if value.shape.rank is None else value.shape.as_list()[0]
        made._rows = None if self._dynamic_size else known
        return made

    def _scatter(self, indices, value):
        value, indices = self._checked(value), convert_to_tensor(indices)
        element = value.shape[1:]
        self._check_element(element)
        whole = self._next(self._array, element)
        if self._dynamic_size:
            last = call("max", (indices,), {"axis": None, "keepdims": False}) + 1
            last = call("maximum", (call("cast", (last,), {"dtype": "int32"}), self.size()), {})
            array = whole._first(last)
        else:
            array = whole.stack()
        if not whole._element_shape.is_fully_defined():
            # The first of them tells the array its shape.
            array = call("array_write", (array, indices[0], value[0]), {"dynamic_size": False})
        positions = call("expand_dims", (indices,), {"axis": -1})
        array = call("tensor_scatter_nd_update", (array, positions, value), {})
        return self._next(array, element)

    def _split(self, value, lengths):
        value, lengths = self._checked(value), convert_to_tensor(lengths)
        known = _tidemark.static_value(lengths) if _tidemark.is_symbolic(lengths) else lengths
        if known is None or len(set(known.numpy().tolist())) > 1:
            from tidemark._graph.uneven_array import UnevenTensorArray  # it imports this module

            uneven = UnevenTensorArray(self._dtype, 0, self._dynamic_size, infer_shape=False)
            return uneven.split(value, lengths)
        count = call("cast", (call("shape", (lengths,), {}),), {"dtype": "int32"})
        sizes = [count, call("cast", (lengths[:1],), {"dtype": "int32"})]
        sizes.append(call("shape", (value,), {})[1:])
        rows = call("reshape", (value, call("concat", (sizes,), {"axis": 0})), {})
        return self._next(rows, TensorShape([None]).concatenate(value.shape[1:]))
