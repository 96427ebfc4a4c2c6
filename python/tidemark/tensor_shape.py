"""``tf.TensorShape``: a tuple of dimensions, some of which, or all, may be unknown.

tf.TensorShape([2, None]).merge_with([None, 3])     # TensorShape([2, 3])
tf.zeros([2, 3]).shape == (2, 3)                    # True
"""

from __future__ import annotations

import operator

from tidemark import _tidemark


class Dimension:
    """One dimension of a shape, known or not: what TensorFlow 1 gives for ``shape[0]``."""

    __slots__ = ("_value",)

    def __init__(self, value):
        self._value = _dimension(value)

    value = property(lambda self: self._value, doc="The size, or None.")

    def __reduce__(self):
        return Dimension, (self._value,)

    def __truediv__(self, other):
        raise TypeError(
            f"unsupported operand type(s) for /: 'Dimension' and '{type(other).__name__}', please "
            "use // instead"
        )

    def __rtruediv__(self, other):
        raise TypeError(
            f"unsupported operand type(s) for /: '{type(other).__name__}' and 'Dimension', please "
            "use // instead"
        )

    def __repr__(self):
        return f"Dimension({self._value!r})"

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __eq__(self, other):
        return self._compare(operator.eq, other)

    def __ne__(self, other):
        return self._compare(operator.ne, other)

    def __lt__(self, other):
        return self._compare(operator.lt, other)

    def __le__(self, other):
        return self._compare(operator.le, other)

    def __gt__(self, other):
        return self._compare(operator.gt, other)

    def __ge__(self, other):
        return self._compare(operator.ge, other)

    def _compare(self, compare, other):
        """None where a size is unknown: neither true nor false."""
        try:
            other = _dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or other is None else compare(self._value, other)

    def __hash__(self):
        return hash(self._value)

    def __bool__(self):
        return bool(self._value)

    def __int__(self):
        return self._value

    __index__ = __int__

    def is_compatible_with(self, other):
        """Whether both could be the same size."""
        other = _dimension(other)
        return self._value is None or other is None or self._value == other

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other):
        """The known one of two sizes that may not differ."""
        self.assert_is_compatible_with(other)
        return Dimension(_dimension(other) if self._value is None else self._value)


def _arithmetic(compute, swapped=False):
    def method(self, other):
        try:
            other = _dimension(other)
        except (TypeError, ValueError):
            return NotImplemented
        if self._value is None or other is None:
            return Dimension(None)
        return Dimension(compute(other, self._value) if swapped else compute(self._value, other))

    return method


for _name in ("add", "sub", "mul", "floordiv", "mod"):
    setattr(Dimension, f"__{_name}__", _arithmetic(getattr(operator, _name)))
    setattr(Dimension, f"__r{_name}__", _arithmetic(getattr(operator, _name), swapped=True))


def _dimension(value):
    """A size as an int, or None for an unknown one."""
    if value.__class__ is int:
        size = value
    elif value is None:
        return None
    elif isinstance(value, Dimension):
        return value._value
    else:
        try:
            size = value.__index__()
        except AttributeError:
            raise TypeError(
                "Dimension value must be integer or None or have an __index__ method, "
                f"got value '{value!r}' with type '{type(value)!r}'"
            ) from None
    if size < 0:
        raise ValueError(f"Dimension {size} must be >= 0")
    return size


def sizes_of(shape):
    """The sizes as a tuple, unknown ones None; None where the rank is unknown."""
    return None if shape is None or shape.rank is None else tuple(shape.as_list())


def as_shape(shape):
    """What is given as a TensorShape: a shape, an iterable of sizes, a size, None."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def as_dimension(value):
    return value if isinstance(value, Dimension) else Dimension(value)


def dimension_value(dimension):
    """The size in a Dimension, or what is given when it is a plain size."""
    return dimension._value if isinstance(dimension, Dimension) else dimension


class TensorShape:
    """The sizes of a tensor. A size may be None (unknown), and so may the rank."""

    __slots__ = ("_dims", "__weakref__")

    def __init__(self, dims):
        if dims.__class__ is tuple or dims.__class__ is list:
            # Every tensor's shape comes this way: a plain loop, no call for a plain size.
            for d in dims:
                if d.__class__ is not int or d < 0:
                    break
            else:
                self._dims = tuple(dims)
                return
            self._dims = tuple([_dimension(d) for d in dims])
        elif dims is None:
            self._dims = None
        elif isinstance(dims, TensorShape):
            self._dims = dims._dims
        else:
            self._dims = self._from_other(dims)

    @staticmethod
    def _from_other(dims):
        if hasattr(dims, "unknown_rank"):  # a message
            if dims.unknown_rank:
                return None
            return tuple(None if dim.size == -1 else dim.size for dim in dims.dim)
        if hasattr(dims, "__iter__") and not (hasattr(dims, "ndim") and dims.ndim == 0):
            sizes = []
            for d in dims:
                try:
                    sizes.append(_dimension(d))
                except TypeError as error:
                    raise TypeError(
                        f"Failed to convert '{dims!r}' to a shape: '{d!r}' could not be converted "
                        "to a dimension. A shape should either be single dimension (e.g. 10), or "
                        "an iterable of dimensions (e.g. [1, 10, None])."
                    ) from error
            return tuple(sizes)
        return (_dimension(dims),)

    @classmethod
    def _of(cls, sizes):
        """From a tuple of checked sizes; how the extension makes the shape of a tensor."""
        self = cls.__new__(cls)
        self._dims = sizes
        return self

    # --- reading ---------------------------------------------------------------------------------

    rank = property(lambda self: None if self._dims is None else len(self._dims))
    ndims = property(lambda self: None if self._dims is None else len(self._dims))

    @property
    def dims(self):
        """The sizes as Dimensions, or None when the rank is unknown."""
        return None if self._dims is None else [Dimension(d) for d in self._dims]

    def as_list(self):
        """The sizes as a list, None where unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def num_elements(self):
        """The product of the sizes, or None when one is unknown."""
        if not self.is_fully_defined():
            return None
        product = 1
        for d in self._dims:
            product *= d
        return product

    def is_fully_defined(self):
        """Whether the rank and every size are known."""
        return self._dims is not None and None not in self._dims

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __bool__(self):
        return self._dims is not None

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key):
        if self._dims is not None:
            part = self._dims[key]
            return TensorShape._of(part) if isinstance(key, slice) else part
        if not isinstance(key, slice):
            return None
        start, stop = key.start or 0, key.stop
        if key.step is not None or stop is None or start < 0 or stop < 0:
            return TensorShape(None)
        return TensorShape([None] * max(0, stop - start))

    def __repr__(self):
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self):
        return "<unknown>" if self._dims is None else str(self._dims)

    def as_proto(self):
        """A TensorShapeProto: of ``tensorflow.core``, where the package protobuf is."""
        from tidemark._tensorflow.inner.messages import shape_message  # few programs ask

        return shape_message(self)

    def __reduce__(self):
        return TensorShape, (None if self._dims is None else list(self._dims),)

    def __hash__(self):
        return hash(self._dims)

    # --- comparing and combining -----------------------------------------------------------------

    def __eq__(self, other):
        if other.__class__ is TensorShape:
            return self._dims == other._dims
        if other.__class__ is tuple and self._dims == other:
            return True
        try:
            return self._dims == as_shape(other)._dims
        except (TypeError, ValueError):
            return NotImplemented

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def concatenate(self, other):
        """The sizes of this shape, then the other's."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape._of(self._dims + other._dims)

    def is_compatible_with(self, other):
        """Whether some shape could be both."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims, strict=True)
        )

    def assert_is_compatible_with(self, other):
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def merge_with(self, other):
        """A shape that knows what either of the two knows."""
        other = as_shape(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape(
            [b if a is None else a for a, b in zip(self._dims, other._dims, strict=True)]
        )

    def most_specific_compatible_shape(self, other):
        """A shape that knows what both know alike."""
        other = as_shape(other)
        if self._dims is None or other._dims is None or len(self._dims) != len(other._dims):
            return TensorShape(None)
        return TensorShape(
            [a if a == b else None for a, b in zip(self._dims, other._dims, strict=True)]
        )

    def most_specific_common_supertype(self, others):
        shape = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            shape = shape.most_specific_compatible_shape(other)
        return shape

    def is_subtype_of(self, other):
        """Whether every shape this one could be, the other could be, too."""
        if not isinstance(other, TensorShape):
            return False
        if other._dims is None:
            return True
        if self._dims is None or len(self._dims) != len(other._dims):
            return False
        return all(b is None or a == b for a, b in zip(self._dims, other._dims, strict=True))

    # --- asserting a rank ------------------------------------------------------------------------

    def assert_same_rank(self, other):
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank):
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def assert_is_fully_defined(self):
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def with_rank(self, rank):
        """This shape, known to have the rank."""
        try:
            return self.merge_with(unknown_shape(rank))
        except ValueError:
            raise ValueError(f"Shape {self} must have rank {rank}") from None

    def with_rank_at_least(self, rank):
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self


def unknown_shape(rank=None):
    """A shape of which at most the rank is known."""
    return TensorShape(None if rank is None else [None] * rank)


def broadcast_shape(shape_x, shape_y):
    """The shape two broadcast together to; ValueError when they do not."""
    x, y = as_shape(shape_x), as_shape(shape_y)
    if x._dims is None or y._dims is None:
        return TensorShape(None)
    rank = max(len(x._dims), len(y._dims))
    sizes = []
    for a, b in zip(
        (1,) * (rank - len(x)) + x._dims, (1,) * (rank - len(y)) + y._dims, strict=True
    ):
        if a == 1 or a == b or (a is None and b != 1):
            sizes.append(b)
        elif b == 1 or b is None:
            sizes.append(a)
        else:
            raise ValueError(f"Incompatible shapes for broadcasting: {x} and {y}.")
    return TensorShape(sizes)


_tidemark.set_shape_class(TensorShape)
