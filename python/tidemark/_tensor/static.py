"""Numbers that have to be known while a function is traced: sizes, axes, diagonals."""

from __future__ import annotations

from tidemark._tensor.creation import get_static_value
from tidemark._tidemark import Tensor


def static_array(value, what):
    """The array behind a list, an array, or a tensor whose value is known already."""
    import numpy as np  # here: importing the package does not load it

    if not isinstance(value, Tensor):
        if isinstance(value, (list, tuple)):
            value = [static_array(v, what) if isinstance(v, Tensor) else v for v in value]
        return np.asarray(value)
    found = get_static_value(value)
    if found is None:
        raise ValueError(
            f"{what} must be known when the function is traced, got a tensor without a value yet, "
            f"of shape {value.shape}"
        )
    return np.asarray(found)


def static_ints(value, what):
    """Its elements as integers, in one list."""
    return [int(v) for v in static_array(value, what).ravel().tolist()]
