"""What generators yield, as tensors of a signature; what they raise, as TensorFlow's errors."""

from __future__ import annotations

import functools

from tidemark import nest
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import TensorSpec
from tidemark._tidemark import Tensor
from tidemark.errors import (
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)

_KINDS = (
    ((ValueError, TypeError), InvalidArgumentError),
    ((MemoryError,), ResourceExhaustedError),
    ((NotImplementedError,), UnimplementedError),
)


@functools.lru_cache(maxsize=64)
def _both(kind):
    """TensorFlow's error for one of Python's, which is of that type, too: either may be caught."""
    named = next((error for kinds, error in _KINDS if issubclass(kind, kinds)), UnknownError)
    return type(named.__name__, (named, kind), {"__module__": named.__module__})


def _typed(error):
    try:
        return _both(type(error))(None, None, f"{type(error).__name__}: {error}")
    except TypeError:  # a class of the user's that cannot be made like this
        return UnknownError(None, None, f"{type(error).__name__}: {error}")


def values_of(generator, arguments):
    """The values that ``generator(*arguments)`` yields."""
    try:
        yield from generator(*arguments)
    except OpError:
        raise
    except Exception as error:
        raise _typed(error) from error


def fit(value, signature, specs):
    """What a generator yielded as tensors of the signature; raises where it does not fit."""
    try:
        leaves = nest.flatten_up_to(signature, value)
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(
            None, None,
            f"`generator` yielded an element that did not match the expected structure. The "
            f"expected structure was {signature}, but the yielded element was {value!r}. {error}",
        ) from None  # fmt: skip
    out = []
    for leaf, spec in zip(leaves, specs, strict=True):
        if not isinstance(spec, TensorSpec):
            out.append(leaf)
            continue
        try:
            tensor = convert_to_tensor(leaf, dtype=None if isinstance(leaf, Tensor) else spec.dtype)
        except (TypeError, ValueError) as error:
            raise InvalidArgumentError(
                None, None,
                f"`generator` yielded an element that could not be converted to the expected type. "
                f"The expected type was {spec.dtype.name}, but the yielded element was {leaf!r}. "
                f"{error}",
            ) from None  # fmt: skip
        if not spec.shape.is_compatible_with(tensor.shape):
            raise InvalidArgumentError(
                None, None,
                f"`generator` yielded an element of shape {tensor.shape} where an element of shape "
                f"{spec.shape} was expected.",
            )  # fmt: skip
        out.append(tensor)
    return nest.pack_sequence_as(signature, out)
