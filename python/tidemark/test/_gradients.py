"""Jacobians by the tape and by differences: ``tf.test.compute_gradient``."""

from __future__ import annotations

import numpy as np

from tidemark import dtypes
from tidemark._tensor.creation import convert_to_tensor
from tidemark.autodiff._tape import GradientTape

_ALLOWED = (
    dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64, dtypes.complex64,
    dtypes.complex128,
)  # fmt: skip


def _parts(array):
    """The numbers of an array one after the other, complex ones as pairs."""
    array = np.ascontiguousarray(array).reshape(-1)
    if array.dtype.kind == "c":
        return array.view(np.float32 if array.dtype == np.complex64 else np.float64)
    return array


def _dense(gradient, like):
    if gradient is None:
        return np.zeros(like.shape, like.dtype.as_numpy_dtype)
    return np.asarray(convert_to_tensor(gradient).numpy())


def _by_tape(f, xs, which):
    """One column of y's Jacobian after the other."""
    with GradientTape(persistent=True) as tape:
        tape.watch(xs)
        y = f(*xs)
    size = _parts(y.numpy()).size
    rows = []
    for i in range(size):
        seed = np.zeros(y.shape, y.dtype.as_numpy_dtype)
        flat = _parts(seed).copy()
        flat[i] = 1
        seed = flat.view(seed.dtype).reshape(seed.shape)
        gradient = tape.gradient(y, xs[which], convert_to_tensor(seed))
        rows.append(_parts(_dense(gradient, xs[which])).astype(np.float64))
    return np.array(rows).reshape(size, _parts(xs[which].numpy()).size)


def _by_differences(f, xs, which, delta):
    values = [np.array(x.numpy()) for x in xs]
    steps = _parts(values[which])
    columns = []
    for i in range(steps.size):
        ends = []
        for sign in (1, -1):
            moved = steps.copy()
            moved[i] += sign * delta
            shifted = moved.view(values[which].dtype).reshape(values[which].shape)
            arguments = [
                convert_to_tensor(v if k != which else shifted) for k, v in enumerate(values)
            ]
            ends.append(_parts(f(*arguments).numpy()).astype(np.float64))
        columns.append((ends[0] - ends[1]) / (2 * delta))
    size = _parts(f(*xs).numpy()).size
    return np.array(columns).T.reshape(size, steps.size)


def compute_gradient(f, x, delta=None):
    """The Jacobians of f with respect to each of the arguments x, a list: by the tape, and by
    differences of width ``delta``. A pair of tuples of arrays [numbers of y, numbers of x]."""
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), "
            f"not a {type(x)}"
        )
    delta = 1.0 / 1024 if delta is None else delta
    xs = [convert_to_tensor(value) for value in x]
    for value in xs:
        if value.dtype not in _ALLOWED:
            raise TypeError(
                f"compute_gradient: an argument is {value.dtype.name}; allowed are floating-point "
                "and complex tensors"
            )
    theoretical = tuple(_by_tape(f, xs, i) for i in range(len(xs)))
    numeric = tuple(_by_differences(f, xs, i, delta) for i in range(len(xs)))
    return theoretical, numeric
