"""``tf.autograph.experimental``."""

from __future__ import annotations

from tidemark.autograph._context import Feature

__all__ = ["Feature", "do_not_convert", "set_loop_options"]

_UNSPECIFIED = object()


def do_not_convert(func=None):
    """Decorator of functions that AutoGraph leaves as they are, with all that they call."""
    if func is None:
        return do_not_convert
    from tidemark.autograph._impl import unconverted  # it imports this module

    return unconverted(func)


def set_loop_options(
    parallel_iterations=_UNSPECIFIED,
    swap_memory=_UNSPECIFIED,
    maximum_iterations=_UNSPECIFIED,
    shape_invariants=_UNSPECIFIED,
):
    """Options of the ``tf.while_loop`` that the loop around becomes; its first statement.

    ``shape_invariants`` is a list of pairs of a variable and its shape. Without effect where the
    loop is Python's.
    """
