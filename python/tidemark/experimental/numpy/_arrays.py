"""NumPy's functions that make arrays, and that cut, join and order them, over tensors."""

from __future__ import annotations

import numpy as _np

import tidemark as _tf
from tidemark import dtypes as _dtypes
from tidemark.experimental.numpy._kinds import array_of as _array
from tidemark.experimental.numpy._kinds import floating as _floating
from tidemark.experimental.numpy._kinds import kind_of as _kind
from tidemark.experimental.numpy._kinds import together as _together

# --- made ----------------------------------------------------------------------------------------


def _sizes(shape):
    if getattr(shape, "shape", None) is not None and len(shape.shape) == 0:
        return _tf.reshape(shape, [1])  # a size in a tensor
    return [shape] if isinstance(shape, (int, _np.integer)) else shape


def zeros(shape, dtype=float):
    """Zeros; empty strings."""
    kind = _kind(dtype)
    if kind == _dtypes.string:
        return _tf.fill(_sizes(shape), "")
    return _tf.zeros(_sizes(shape), kind)


def ones(shape, dtype=float):
    """Ones."""
    return _tf.ones(_sizes(shape), _kind(dtype))


empty = zeros


def full(shape, fill_value, dtype=None):
    """One value, or values that are repeated."""
    return _tf.broadcast_to(_array(fill_value, dtype), _sizes(shape))


def zeros_like(a, dtype=None):
    """Zeros of the same shape."""
    a = _array(a)
    return zeros(_tf.shape(a), a.dtype if dtype is None else dtype)


def ones_like(a, dtype=None):
    """Ones of the same shape."""
    a = _array(a)
    return _tf.ones(_tf.shape(a), a.dtype if dtype is None else _kind(dtype))


empty_like = zeros_like


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """One value in the same shape."""
    if order != "K" or not subok:
        raise ValueError("full_like knows order='K' and subok=True alone")
    a = _array(a)
    kind = a.dtype if dtype is None else _kind(dtype)
    return _tf.broadcast_to(_array(fill_value, kind), _tf.shape(a) if shape is None else shape)


def eye(N, M=None, k=0, dtype=float):
    """Ones on a diagonal."""
    return _tf.constant(_np.eye(N, M, k, dtype=_kind(dtype).as_numpy_dtype))


def identity(n, dtype=float):
    """Ones on the diagonal of a square."""
    return eye(n, n, dtype=dtype)


def arange(start, stop=None, step=1, dtype=None):
    """Numbers at equal distances, the end left out."""
    if not step:
        raise ValueError("step must be non-zero.")
    if stop is None:
        start, stop = 0, start
    if not any(hasattr(x, "numpy") for x in (start, stop, step)):
        kind = None if dtype is None else _kind(dtype).as_numpy_dtype
        return _tf.constant(_np.arange(start, stop, step, dtype=kind))
    start, stop, step = _together(start, stop, step)
    found = _tf.range(start, stop, step)
    return found if dtype is None else _tf.cast(found, _kind(dtype))


def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """As many numbers at equal distances between two."""
    start, stop = (_floating(x) for x in _together(start, stop))
    if endpoint:
        step = (stop - start) / (num - 1) if num > 1 else (stop - start) * float("nan")
        found = _tf.linspace(start, stop, num, axis=axis)
    else:
        step = (stop - start) / max(num, 1)
        found = _tf.linspace(start, stop - step, num, axis=axis)
    found = found if dtype is None else _tf.cast(found, _kind(dtype))
    return (found, step) if retstep else found


def logspace(start, stop, num=50, endpoint=True, base=10.0, dtype=None, axis=0):
    """Powers of the base with exponents at equal distances."""
    exponents = linspace(start, stop, num, endpoint, dtype=None, axis=axis)
    found = _tf.pow(_tf.cast(base, exponents.dtype), exponents)
    return found if dtype is None else _tf.cast(found, _kind(dtype))


def geomspace(start, stop, num=50, endpoint=True, dtype=None, axis=0):
    """Numbers each as many times the one before."""
    start, stop = (_floating(x) for x in _together(start, stop))
    signs = _tf.sign(start)
    found = logspace(_log10(start / signs), _log10(stop / signs), num, endpoint, axis=axis)
    found = found * signs
    return found if dtype is None else _tf.cast(found, _kind(dtype))


def _log10(x):
    return _tf.math.log(x) / _tf.math.log(_tf.constant(10, x.dtype))


def tri(N, M=None, k=0, dtype=None):
    """Ones on and below a diagonal."""
    kind = _dtypes.float64 if dtype is None else _kind(dtype)
    return _tf.constant(_np.tri(N, M, k, dtype=kind.as_numpy_dtype))


def _triangle(m, k, lower):
    m = _array(m)
    if m.shape.rank < 2:
        raise ValueError("Argument to tril and triu must have at least 2 dimensions")
    rows, columns = (_tf.range(_tf.shape(m)[axis]) for axis in (-2, -1))
    inside = columns[None, :] - rows[:, None]
    return _tf.where(inside <= k if lower else inside >= k, m, _tf.zeros_like(m))


def tril(m, k=0):
    """What lies on and below a diagonal."""
    return _triangle(m, k, True)


def triu(m, k=0):
    """What lies on and above a diagonal."""
    return _triangle(m, k, False)


def diag(v, k=0):
    """A matrix with the diagonal, or the diagonal of a matrix."""
    v = _array(v)
    if v.shape.rank == 1:
        return _tf.linalg.diag(v, k=k)
    if v.shape.rank != 2:
        raise ValueError(f"Input must be 1- or 2-d, but it has {v.shape.rank} dimensions")
    rows, columns = v.shape.as_list()
    if not -rows < k < columns:
        return _tf.zeros([0], v.dtype)
    return _tf.linalg.diag_part(v, k=k)


def diagflat(v, k=0):
    """A matrix with all values as a diagonal."""
    return diag(_tf.reshape(_array(v), [-1]), k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """A diagonal of two axes, as the last axis."""
    a = moveaxis(_array(a), (axis1, axis2), (-2, -1))
    rows, columns = a.shape.as_list()[-2:]
    if not -rows < offset < columns:
        return _tf.zeros([*a.shape.as_list()[:-2], 0], a.dtype)
    return _tf.linalg.diag_part(a, k=offset)


def diag_indices(n, ndim=2):
    """The indices of a diagonal."""
    if n < 0 or ndim < 0:
        raise ValueError(f"n and ndim must not be negative, but they are {n} and {ndim}")
    return (_tf.range(n),) * ndim


def vander(x, N=None, increasing=False):
    """Powers of the elements, a row each."""
    x = _array(x)
    if x.shape.rank != 1:
        raise ValueError(f"Vandermonde needs a vector, but x has {x.shape.rank} dimensions")
    count = x.shape[0] if N is None else N
    if count < 0:
        raise ValueError(f"N must not be negative, but it is {count}")
    powers = _tf.range(count) if increasing else _tf.range(count - 1, -1, -1)
    return _tf.pow(x[:, None], _tf.cast(powers, x.dtype)[None, :])


def meshgrid(*xi, copy=True, sparse=False, indexing="xy"):
    """Coordinates on a grid."""
    if not copy or sparse:
        raise ValueError("meshgrid knows copy=True and sparse=False alone")
    return _tf.meshgrid(*(_array(x) for x in xi), indexing=indexing)


def ix_(*args):
    """Vectors that index the rows and columns of their products."""
    found = []
    for place, one in enumerate(args):
        one = _array(one)
        if one.shape.rank != 1:
            raise ValueError("Arguments must be 1-d")
        if one.dtype == _dtypes.bool:
            one = nonzero(one)[0]
        found.append(_tf.reshape(one, [-1 if i == place else 1 for i in range(len(args))]))
    return found


# --- shapes --------------------------------------------------------------------------------------


def shape(a):
    """The sizes, as a tuple where they are known."""
    a = _array(a)
    return tuple(a.shape.as_list()) if a.shape.is_fully_defined() else _tf.shape(a)


def ndim(a):
    """How many dimensions there are."""
    return _array(a).shape.rank


def size(x, axis=None):
    """How many elements there are."""
    if axis is not None:
        raise NotImplementedError("size counts the elements of all axes; see shape for one")
    x = _array(x)
    return x.shape.num_elements() if x.shape.is_fully_defined() else _tf.size(x)


def isscalar(num):
    """Whether it has no dimensions."""
    return _np.isscalar(num) if not hasattr(num, "shape") else len(num.shape) == 0


def iscomplexobj(x):
    """Whether its type is complex."""
    return _array(x).dtype.is_complex


def isrealobj(x):
    """Whether its type is not complex."""
    return not iscomplexobj(x)


def iscomplex(x):
    """Where there is an imaginary part."""
    x = _array(x)
    if not x.dtype.is_complex:
        return _tf.zeros(_tf.shape(x), _tf.bool)
    return _tf.not_equal(_tf.math.imag(x), 0)


def isreal(x):
    """Where there is no imaginary part."""
    return _tf.logical_not(iscomplex(x))


def reshape(a, newshape, order="C"):
    """The elements in another shape."""
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}: it is 'C' or 'F'")
    a = _array(a)
    newshape = _sizes(newshape)
    if order == "C":
        return _tf.reshape(a, newshape)
    return _tf.transpose(_tf.reshape(_tf.transpose(a), list(newshape)[::-1]))


def ravel(a):
    """The elements in a row."""
    return _tf.reshape(_array(a), [-1])


def flatten(a, order="C"):
    """The elements in a row."""
    if order not in ("C", "F", "A", "K"):
        raise ValueError(f"order must be one of 'C', 'F', 'A' and 'K', but it is {order!r}")
    return reshape(a, -1, "F" if order == "F" else "C")


def transpose(a, axes=None):
    """Axes in another order."""
    return _tf.transpose(_array(a), None if axes is None else list(axes))


def swapaxes(a, axis1, axis2):
    """Two axes for each other."""
    a = _array(a)
    order = list(range(a.shape.rank))
    order[axis1], order[axis2] = order[axis2], order[axis1]
    return _tf.transpose(a, order)


def moveaxis(a, source, destination):
    """Axes moved to other places."""
    a = _array(a)
    rank = a.shape.rank
    source = [axis % rank for axis in _np.atleast_1d(source)]
    destination = [axis % rank for axis in _np.atleast_1d(destination)]
    if len(source) != len(destination):
        raise ValueError("The lengths of source and destination must equal")
    order = [axis for axis in range(rank) if axis not in source]
    for to, axis in sorted(zip(destination, source, strict=True)):
        order.insert(to, axis)
    return _tf.transpose(a, order)


def expand_dims(a, axis):
    """An axis of size one more."""
    return _tf.expand_dims(_array(a), axis)


def squeeze(a, axis=None):
    """Without axes of size one."""
    return _tf.squeeze(_array(a), axis)


def _at_least(rank, places):
    def widen(*arys):
        found = []
        for one in arys:
            one = _array(one)
            while one.shape.rank < rank:
                one = _tf.expand_dims(one, places[one.shape.rank])
            found.append(one)
        return found if len(found) != 1 else found[0]

    widen.__doc__ = f"The arrays with at least {rank} dimensions."
    return widen


atleast_1d, atleast_2d = _at_least(1, [0]), _at_least(2, [0, 0])
atleast_3d = _at_least(3, [0, 0, -1])


def broadcast_to(array, shape):
    """The elements repeated to a shape."""
    return full(shape, array)


def broadcast_arrays(*args, subok=False):
    """All arrays in the shape they have together."""
    if subok:
        raise ValueError("`subok=True` is not supported")
    args = [_array(one) for one in args]
    common = args[0].shape
    for one in args[1:]:
        common = _tf.broadcast_static_shape(common, one.shape)
    return [_tf.broadcast_to(one, common) for one in args]


# --- joined and cut ------------------------------------------------------------------------------


def concatenate(arys, axis=0):
    """Joined along an axis."""
    arys = _together(*arys)
    if axis is None:
        arys, axis = [_tf.reshape(one, [-1]) for one in arys], 0
    return _tf.concat(arys, axis)


def append(arr, values, axis=None):
    """Values behind those of an array."""
    return concatenate([arr, values], axis)


def stack(arrays, axis=0):
    """Laid over each other along a new axis."""
    if hasattr(arrays, "dtype"):
        return swapaxes(arrays, 0, axis)
    return _tf.stack(_together(*arrays), axis)


def hstack(tup):
    """Side by side."""
    arrays = [atleast_1d(one) for one in tup]
    return concatenate(arrays, 0 if arrays[0].shape.rank == 1 else 1)


def vstack(tup):
    """One below the other."""
    return concatenate([atleast_2d(one) for one in tup], 0)


def dstack(tup):
    """One behind the other."""
    return concatenate([atleast_3d(one) for one in tup], 2)


def split(ary, indices_or_sections, axis=0):
    """Cut along an axis, into as many parts or at places."""
    ary = _array(ary)
    if isinstance(indices_or_sections, (int, _np.integer)):
        return _tf.split(ary, int(indices_or_sections), axis)
    count = ary.shape[axis]
    places = [0, *(min(int(place), count) for place in indices_or_sections), count]
    lengths = [max(b - a, 0) for a, b in zip(places, places[1:], strict=False)]
    return _tf.split(ary, lengths, axis)


def hsplit(ary, indices_or_sections):
    """Cut into parts side by side."""
    ary = _array(ary)
    return split(ary, indices_or_sections, 0 if ary.shape.rank == 1 else 1)


def vsplit(ary, indices_or_sections):
    """Cut into parts one below the other."""
    return split(ary, indices_or_sections, 0)


def dsplit(ary, indices_or_sections):
    """Cut into parts one behind the other."""
    return split(ary, indices_or_sections, 2)


def pad(array, pad_width, mode, **kwargs):
    """With elements around it."""
    value = kwargs.get("constant_values", 0)
    array = _array(array)
    widths = _np.broadcast_to(pad_width, (array.shape.rank, 2))
    return _tf.pad(array, widths, mode, _tf.cast(value, array.dtype))


def tile(A, reps):
    """The whole repeated."""
    A, reps = _array(A), [int(r) for r in _np.atleast_1d(reps)]
    while A.shape.rank < len(reps):
        A = A[None]
    return _tf.tile(A, [1] * (A.shape.rank - len(reps)) + reps)


def repeat(a, repeats, axis=None):
    """Each element repeated."""
    return _tf.repeat(_array(a), repeats, axis)


# --- taken and ordered ---------------------------------------------------------------------------


def take(a, indices, axis=None, out=None, mode="clip"):
    """Elements at indices along an axis."""
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take: it is 'raise', 'clip' or 'wrap'")
    a, indices = _array(a), _array(indices)
    if axis is None:
        a, axis = _tf.reshape(a, [-1]), 0
    count = _tf.cast(_tf.shape(a)[axis], indices.dtype)
    if mode == "clip":
        indices = _tf.clip_by_value(indices, _tf.zeros_like(count), count - 1)
    elif mode == "wrap":
        indices = indices % count
    else:
        indices = _tf.where(indices < 0, indices + count, indices)
    return _tf.gather(a, indices, axis=axis)


def take_along_axis(arr, indices, axis):
    """Elements at an index each along an axis."""
    arr, indices = _array(arr), _array(indices)
    if axis is None:
        return take_along_axis(ravel(arr), indices, 0)
    rank = arr.shape.rank
    axis = axis % rank
    count = _tf.cast(_tf.shape(arr)[axis], indices.dtype)
    indices = _tf.where(indices < 0, indices + count, indices)
    sizes = [max(m, n) for m, n in zip(arr.shape.as_list(), indices.shape.as_list(), strict=True)]
    to = [*sizes]
    to[axis] = arr.shape[axis]
    arr = _tf.broadcast_to(arr, to)
    to[axis] = indices.shape[axis]
    indices = _tf.broadcast_to(indices, to)
    last = [a for a in range(rank) if a != axis] + [axis]
    found = _tf.gather(_tf.transpose(arr, last), _tf.transpose(indices, last), batch_dims=rank - 1)
    return moveaxis(found, -1, axis)


def where(condition, x=None, y=None):
    """One or the other, by a condition; without both the places where it holds."""
    condition = _array(condition, bool)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    return _tf.where(condition, *_together(x, y))


def nonzero(a):
    """The places that are not zero, a tensor an axis."""
    a = atleast_1d(a)
    places = _tf.where(_tf.cast(a, _tf.bool))
    return _tf.unstack(places, a.shape.rank, axis=1)


def compress(condition, a, axis=None):
    """What a vector of conditions leaves along an axis."""
    condition, a = _array(condition, bool), _array(a)
    if condition.shape.rank != 1:
        raise ValueError("condition must be a 1-d array.")
    if axis is None:
        a, axis = ravel(a), 0
    places = nonzero(condition)[0]
    return _tf.gather(a, places, axis=axis)


def flip(m, axis=None):
    """In the reverse order along axes."""
    m = _array(m)
    axes = list(range(m.shape.rank)) if axis is None else [int(a) for a in _np.atleast_1d(axis)]
    return _tf.reverse(m, [a % m.shape.rank for a in axes]) if axes else m


def flipud(m):
    """Upside down."""
    return flip(m, 0)


def fliplr(m):
    """Left and right for each other."""
    return flip(m, 1)


def roll(a, shift, axis=None):
    """Moved along, what leaves at the end coming in at the front."""
    a = _array(a)
    if axis is not None:
        return _tf.roll(a, shift, axis)
    return _tf.reshape(_tf.roll(_tf.reshape(a, [-1]), shift, 0), _tf.shape(a))


def rot90(m, k=1, axes=(0, 1)):
    """Turned by right angles."""
    m = _array(m)
    first, second = (axis % m.shape.rank for axis in axes)
    k %= 4
    if k == 0:
        return m
    if k == 2:
        return flip(m, (first, second))
    if k == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


def _in_order(a, kind, order):
    if kind not in ("quicksort", "stable", "mergesort", "heapsort"):
        raise ValueError(f"Invalid kind {kind!r}: it is quicksort, mergesort, heapsort or stable")
    if order is not None:
        raise ValueError("The `order` argument is not supported.")
    return _array(a)


def sort(a, axis=-1, kind="quicksort", order=None):
    """Elements in order."""
    a = _in_order(a, kind, order)
    return _tf.sort(ravel(a), 0) if axis is None else _tf.sort(a, axis)


def argsort(a, axis=-1, kind="quicksort", order=None):
    """Where the elements in order stand."""
    a = _in_order(a, kind, order)
    if axis is None:
        a, axis = ravel(a), 0
    found = _tf.argsort(atleast_1d(a), axis, stable=kind in ("stable", "mergesort"))
    return _tf.cast(found, _dtypes.int64)


def diff(a, n=1, axis=-1):
    """Differences of neighbours, taken n times."""
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    a = _array(a)
    axis = axis % a.shape.rank
    for _ in range(n):
        count = _tf.shape(a)[axis]
        later, earlier = (
            _tf.gather(a, _tf.range(begin, count - 1 + begin), axis=axis) for begin in (1, 0)
        )
        a = _tf.not_equal(later, earlier) if a.dtype == _dtypes.bool else later - earlier
    return a


def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """Cross products of vectors."""
    a, b = _together(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = moveaxis(a, axisa, -1), moveaxis(b, axisb, -1)
    flat = a.shape[-1] == 2 and b.shape[-1] == 2
    a, b = (
        x if x.shape[-1] == 3 else _tf.concat([x, _tf.zeros_like(x[..., :1])], -1) for x in (a, b)
    )
    a, b = broadcast_arrays(a, b)
    found = _tf.linalg.cross(a, b)
    return found[..., 2] if flat else moveaxis(found, -1, axisc)
