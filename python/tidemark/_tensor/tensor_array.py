"""``tf.TensorArray``: a list of tensors that loops write and read."""

from __future__ import annotations

from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import CompositeTensor, TensorSpec, TypeSpec
from tidemark._tidemark import call, is_symbolic, is_tracing
from tidemark.dtypes import as_dtype
from tidemark.errors import InvalidArgumentError, OutOfRangeError
from tidemark.tensor_shape import as_shape


@export("tf.TensorArray")
class TensorArray(CompositeTensor):
    """Tensors of one type by number; each is dropped when it is read unless told otherwise.

    Its methods call those that eager arrays and arrays of graphs each have of their own, so that
    ``tf.TensorArray.stack(array)`` takes either.
    """

    _is_tensor_array = True

    def __new__(cls, *args, **kwargs):
        if cls is TensorArray and is_tracing():
            if _is_uneven(kwargs.get("infer_shape", True), kwargs.get("element_shape")):
                # It imports this module.
                from tidemark._graph.uneven_array import UnevenTensorArray as cls
            else:
                # It imports this module.
                from tidemark._graph.staged_array import StagedTensorArray as cls
        elif cls is TensorArray:
            cls = EagerTensorArray
        return object.__new__(cls)

    def __init__(
        self,
        dtype,
        size=None,
        dynamic_size=None,
        clear_after_read=None,
        tensor_array_name=None,
        handle=None,
        flow=None,
        infer_shape=True,
        element_shape=None,
        colocate_with_first_write_call=True,
        name=None,
    ):
        self._dtype = as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = bool(infer_shape)
        self._element_shape = as_shape(element_shape)
        self._clear_after_read = True if clear_after_read is None else bool(clear_after_read)
        self._make_places(0 if size is None else size)

    dtype = property(lambda self: self._dtype)
    element_shape = property(lambda self: self._element_shape)
    dynamic_size = property(lambda self: self._dynamic_size)
    flow = property(lambda self: convert_to_tensor(0.0))
    handle = property(lambda self: None)

    @property
    def _type_spec(self):
        return TensorArraySpec(
            self._element_shape, self._dtype, self._dynamic_size, self._infer_shape
        )

    @classmethod
    def _from_tensor(cls, spec, tensor):
        """An array over the rows of a tensor; a staged one if that is symbolic."""
        if is_symbolic(tensor):
            from tidemark._graph.staged_array import StagedTensorArray  # it imports this module

            return StagedTensorArray.over(spec, tensor)
        count, *sizes = tensor._shape_tuple()
        made = EagerTensorArray(
            spec._dtype,
            size=count,
            dynamic_size=spec._dynamic_size,
            infer_shape=spec._infer_shape,
            element_shape=spec._element_shape,
        )
        if sizes != [0]:
            made.unstack(tensor)
        return made

    def size(self, name=None):
        """The number of places."""
        return self._size()

    def identity(self):
        """The same array; in graphs, one that waits for all that was written."""
        return self._identity()

    def close(self, name=None):
        """Drops all tensors."""
        self._close()

    def mark_used(self):
        """For TensorFlow's warnings about results that nobody takes; here nothing is to be done."""

    def write(self, index, value, name=None):
        """Puts a tensor at a place; returns the array to go on with."""
        return self._write(index, value)

    def read(self, index, name=None):
        """The tensor at a place, which is then free unless clear_after_read is False."""
        return self._read(index)

    def stack(self, name=None):
        """All tensors as one, along a new first axis."""
        return self._stack()

    def gather(self, indices, name=None):
        """The tensors at the given places, stacked."""
        return self._gather(indices)

    def concat(self, name=None):
        """All tensors as one, along their first axis."""
        return self._concat()

    def unstack(self, value, name=None):
        """Puts the elements along the first axis at their places."""
        return self._unstack(value)

    def scatter(self, indices, value, name=None):
        """Puts the elements along the first axis at the given places."""
        return self._scatter(indices, value)

    def split(self, value, lengths, name=None):
        """Cuts a tensor along its first axis into pieces of the given lengths."""
        return self._split(value, lengths)


class EagerTensorArray(TensorArray):
    """An array of tensors that are there; each is written and read at once."""

    def _make_places(self, size):
        count = int(size)
        if count < 0:
            raise InvalidArgumentError(None, None, f"[TensorArray] size must be >= 0, got {count}")
        self._tensors = [None] * count
        self._cleared = set()

    def _as_tensor(self):
        """All places as one tensor; of no width while nobody knows the shape of an element."""
        if any(tensor is not None for tensor in self._tensors):
            return self._stacked([self._written(i) for i in range(len(self._tensors))])
        known = self._element_shape.is_fully_defined()
        sizes = self._element_shape.as_list() if known else [0]
        return call("fill", ([len(self._tensors), *sizes], zero_of(self._dtype)), {})

    def _parts(self):
        from tidemark._graph.uneven_array import parts_of  # it imports this module

        return parts_of(self)

    def __repr__(self):
        return f"<tf.TensorArray of {len(self._tensors)} {self._dtype.name}>"

    def _size(self):
        return convert_to_tensor(len(self._tensors))

    def _identity(self):
        return self

    def _close(self):
        self._tensors.clear()

    def _write(self, index, value):
        index = int(index)
        count = len(self._tensors)
        if index < 0:
            raise OutOfRangeError(None, None, f"Writing to negative indices (index {index}) is not "
                                  "allowed.")  # fmt: skip
        if index >= count and not self._dynamic_size:
            raise OutOfRangeError(
                None,
                None,
                f"Tried to write to index {index} but array is not resizeable and size is: {count}",
            )
        value = convert_to_tensor(value, dtype=None if hasattr(value, "dtype") else self._dtype)
        if value.dtype != self._dtype:
            raise InvalidArgumentError(
                None,
                None,
                f"TensorArray dtype is {self._dtype.name} but Op is trying to write dtype "
                f"{value.dtype.name}",
            )
        if not self._element_shape.is_compatible_with(value.shape):
            raise ValueError(
                f"Incompatible shape for value ({value.shape}), expected ({self._element_shape})"
            )
        if self._infer_shape:
            self._element_shape = self._element_shape.merge_with(value.shape)
        self._tensors.extend([None] * (index + 1 - count))
        self._tensors[index] = value
        self._cleared.discard(index)
        return self

    def _read(self, index):
        index = int(index)
        if not 0 <= index < len(self._tensors):
            raise OutOfRangeError(
                None,
                None,
                f"Tried to read from index {index} but array size is: {len(self._tensors)}",
            )
        if index in self._cleared:
            raise InvalidArgumentError(
                None,
                None,
                f"Could not read index {index} twice because it was cleared after a previous read "
                "(perhaps try setting clear_after_read = False?).",
            )
        tensor = self._written(index)
        if self._clear_after_read:
            self._tensors[index] = None
            self._cleared.add(index)
        return tensor

    def _written(self, index):
        """The tensor at a place; zeros where nothing was written, if their shape is known."""
        tensor = self._tensors[index]
        if tensor is not None:
            return tensor
        if not self._element_shape.is_fully_defined():
            raise InvalidArgumentError(
                None,
                None,
                f"Could not read from TensorArray index {index} before it was written, and its "
                "shape is not known",
            )
        tensor = call("fill", (self._element_shape.as_list(), zero_of(self._dtype)), {})
        self._tensors[index] = tensor  # from now on it is what was written
        self._cleared.discard(index)
        return tensor

    def _stack(self):
        tensors = [self._written(i) for i in range(len(self._tensors))]
        return self._stacked(tensors)

    def _gather(self, indices):
        places = [int(i) for i in convert_to_tensor(indices).numpy().ravel()]
        tensors = [self._written(i) for i in places]
        return self._stacked(tensors)

    def _first(self, count):
        """The first tensors, stacked."""
        return self.gather(list(range(int(count))))

    def _concat(self):
        tensors = [self._written(i) for i in range(len(self._tensors))]
        if not tensors:
            return self._stacked(tensors)
        return call("concat", (tensors,), {"axis": 0})

    def _stacked(self, tensors):
        if tensors:
            return call("stack", (tensors,), {"axis": 0})
        known = self._element_shape.is_fully_defined()
        shape = [0, *(self._element_shape.as_list() if known else [])]
        return call("fill", (shape, zero_of(self._dtype)), {})

    def _unstack(self, value):
        value = convert_to_tensor(value, dtype=None if hasattr(value, "dtype") else self._dtype)
        count = value._shape_tuple()[0]
        if count > len(self._tensors) and not self._dynamic_size:
            raise InvalidArgumentError(
                None, None, f"[TensorArray] {count} elements do not fit in {len(self._tensors)}"
            )
        for index in range(count):
            self.write(index, value[index])
        return self

    def _scatter(self, indices, value):
        value = convert_to_tensor(value, dtype=None if hasattr(value, "dtype") else self._dtype)
        places = [int(i) for i in convert_to_tensor(indices).numpy().ravel()]
        for row, index in enumerate(places):
            self.write(index, value[row])
        return self

    def _split(self, value, lengths):
        value = convert_to_tensor(value, dtype=None if hasattr(value, "dtype") else self._dtype)
        self._infer_shape, begin = False, 0
        for index, length in enumerate(convert_to_tensor(lengths).numpy().tolist()):
            self.write(index, value[begin : begin + length])
            begin += length
        return self


def _is_uneven(infer_shape, element_shape):
    """Whether the elements may differ in shape: in graphs their numbers are kept in one row."""
    return not infer_shape and not as_shape(element_shape).is_fully_defined()


def zero_of(dtype):
    """What an element is that nobody wrote."""
    return convert_to_tensor("" if dtype == dtypes.string else 0, dtype=dtype)


@export("tf.TensorArraySpec")
class TensorArraySpec(TypeSpec):
    """The type of a tensor array: that of its elements, and whether it may grow."""

    __slots__ = ("_element_shape", "_dtype", "_dynamic_size", "_infer_shape", "_rows")

    # Its contents are one tensor, whose shape may change from round to round of a loop.
    has_open_shape = True

    def __init__(
        self, element_shape=None, dtype=dtypes.float32, dynamic_size=False, infer_shape=True
    ):
        self._element_shape = as_shape(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = bool(dynamic_size)
        self._infer_shape = bool(infer_shape)
        self._rows = None  # the number of places, if it is fixed; not a part of the type

    value_type = property(lambda self: TensorArray)

    @staticmethod
    def from_value(value):
        """The spec of an array."""
        if not isinstance(value, TensorArray):
            raise TypeError(f"Expected value to be a TensorArray, but got: `{type(value)}`.")
        return value._type_spec

    def _serialize(self):
        return (self._element_shape, self._dtype, self._dynamic_size, self._infer_shape)

    def is_compatible_with(self, other):
        """Whether the array, or one of the given spec, has such elements and grows alike."""
        if isinstance(other, TensorArray):
            other = other._type_spec
        return (
            isinstance(other, TensorArraySpec)
            and self._dtype == other._dtype
            and self._dynamic_size == other._dynamic_size
            and self._element_shape.is_compatible_with(other._element_shape)
        )

    def joined(self, other):
        """The spec of what is one or the other: the elements of an array all have one shape."""
        if not isinstance(other, TensorArraySpec):
            return self
        try:
            shape = self._element_shape.merge_with(other._element_shape)
        except ValueError:
            shape = None
        made = TensorArraySpec(shape, self._dtype, self._dynamic_size, self._infer_shape)
        made._rows = self._rows if self._rows == other._rows else None
        return made

    @property
    def _is_uneven(self):
        return _is_uneven(self._infer_shape, self._element_shape)

    @property
    def _component_specs(self):
        contents = [TensorSpec(None, self._dtype)]
        return [*contents, TensorSpec(None, dtypes.int64)] if self._is_uneven else contents

    def _to_components(self, value):
        return value._parts() if self._is_uneven else [value._as_tensor()]

    def _from_components(self, components):
        if self._is_uneven:
            from tidemark._graph.uneven_array import array_of  # it imports this module

            return array_of(self, *components)
        return TensorArray._from_tensor(self, components[0])

    def __repr__(self):
        return (
            f"TensorArraySpec({self._element_shape!r}, {self._dtype!r}, {self._dynamic_size}, "
            f"{self._infer_shape})"
        )
