"""Jacobians by the tape and by differences: ``tf.test.compute_gradient``."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes, zeros_like
from tidemark._graph.scopes import executing_eagerly
from tidemark._tensor.creation import convert_to_tensor, is_symbolic_tensor
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


def _prepared(f, like):
    """f as a function from arrays to an array: run now or, in a graph, by the default session.

    like: arrays of the dtypes and shapes that it will be given.
    """
    if executing_eagerly():
        return lambda *arrays: f(*map(convert_to_tensor, arrays)).numpy()
    from tidemark._v1.names import placeholder  # TensorFlow 1 is loaded on first use
    from tidemark._v1.session import default_session

    places = [placeholder(array.dtype, array.shape) for array in like]
    y, session = f(*places), default_session()
    return lambda *arrays: session.run(y, dict(zip(places, arrays, strict=True)))


def _by_tape(f, xs, which):
    """One row of y's Jacobian after the other."""

    def gradient(*given):
        *inputs, seed = given
        with GradientTape() as tape:
            tape.watch(inputs)
            y = f(*inputs)
        found = tape.gradient(y, inputs[which], seed)
        return zeros_like(inputs[which]) if found is None else convert_to_tensor(found)

    y = _prepared(f, xs)(*xs)
    run = _prepared(gradient, (*xs, y))
    size = _parts(y).size
    rows = []
    for i in range(size):
        flat = np.zeros_like(_parts(y))
        flat[i] = 1
        seed = flat.view(y.dtype).reshape(y.shape)
        rows.append(_parts(run(*xs, seed)).astype(np.float64))
    return np.array(rows).reshape(size, _parts(xs[which]).size)


def _by_differences(f, xs, which, delta):
    run = _prepared(f, xs)
    steps = _parts(xs[which])
    columns = []
    for i in range(steps.size):
        ends = []
        for sign in (1, -1):
            moved = steps.copy()
            moved[i] += sign * delta
            shifted = moved.view(xs[which].dtype).reshape(xs[which].shape)
            arrays = (x if k != which else shifted for k, x in enumerate(xs))
            ends.append(_parts(run(*arrays)).astype(np.float64))
        columns.append((ends[0] - ends[1]) / (2 * delta))
    return np.array(columns).T.reshape(_parts(run(*xs)).size, steps.size)


def _array(value):
    """The values of an argument, whatever graph is being built."""
    if is_symbolic_tensor(value):
        from tidemark._v1.session import default_session  # TensorFlow 1 is loaded on first use

        value = default_session().run(value)
    return np.asarray(_tidemark.convert(value).numpy())


def compute_gradient(f, x, delta=None):
    """The Jacobians of f with respect to each of the arguments x, a list: by the tape, and by
    differences of width ``delta``. A pair of tuples of arrays [numbers of y, numbers of x]."""
    if not isinstance(x, (list, tuple)):
        raise ValueError(
            "`x` must be a list or tuple of values convertible to a Tensor (arguments to `f`), "
            f"not a {type(x)}"
        )
    delta = 1.0 / 1024 if delta is None else delta
    xs = [_array(value) for value in x]
    for value in xs:
        if dtypes.as_dtype(value.dtype) not in _ALLOWED:
            raise TypeError(
                f"compute_gradient: an argument is {value.dtype}; allowed are floating-point "
                "and complex tensors"
            )
    theoretical = tuple(_by_tape(f, xs, i) for i in range(len(xs)))
    numeric = tuple(_by_differences(f, xs, i, delta) for i in range(len(xs)))
    return theoretical, numeric
