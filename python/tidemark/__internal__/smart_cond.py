"""``tf.__internal__.smart_cond``: a condition that is decided at once where it can be."""

from __future__ import annotations

from tidemark._graph.control_flow import cond
from tidemark._tensor.creation import get_static_value
from tidemark._tidemark import Tensor


def smart_constant_value(pred):
    """The truth of a Python value or of a tensor whose value is known; None if it is not."""
    if isinstance(pred, bool):
        return pred
    if isinstance(pred, int) and pred in (0, 1):
        return bool(pred)
    if not isinstance(pred, Tensor):
        raise TypeError(
            "Argument `pred` must be a Tensor, or a Python bool, or 1 or 0. "
            f"Received: pred={pred} of type {type(pred).__name__}"
        )
    known = get_static_value(pred)
    return None if known is None else bool(known)


def smart_cond(pred, true_fn=None, false_fn=None, name=None):
    """``true_fn()`` or ``false_fn()``; both are looked at only if ``pred`` is not known yet."""
    if not callable(true_fn) or not callable(false_fn):
        raise TypeError("Arguments `true_fn` and `false_fn` must be callable.")
    known = smart_constant_value(pred)
    if known is None:
        return cond(pred, true_fn, false_fn, name)
    return true_fn() if known else false_fn()
