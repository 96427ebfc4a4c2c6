"""What a staged ``for`` goes over besides tensors."""

from __future__ import annotations

import tidemark as tf
from tidemark import _tidemark
from tidemark._tidemark import call
from tidemark.autograph import _staging
from tidemark.autograph._lists import StagedList
from tidemark.autograph._staged_loop import staged_for, staged_for_dataset, staged_for_iterator

_HANDLERS = []  # (whether it takes a value, how it runs the loop), the last one asked first


def register_iterable(takes, for_stmt):
    """Lets ``for`` over other values be staged.

    ``takes(value)`` says whether a value is meant; ``for_stmt(iterated, extra_test, body,
    get_state, set_state, names, options)`` builds the loop.
    """
    _HANDLERS.append((takes, for_stmt))


def handler_of(value):
    """What builds a loop over the value; None if Python iterates it."""
    for takes, for_stmt in reversed(_HANDLERS):
        if takes(value):
            return for_stmt
    return None


class StagedSequence:
    """Elements by number, computed by the graph: what ``enumerate`` and ``zip`` of tensors give."""

    def __init__(self, length, element, counts=False):
        self.length = length
        self.element = element
        self.counts = counts  # numbers of a range, as TensorFlow tells them from other tensors

    def __iter__(self):
        raise TypeError("a tensor that is not known yet can be iterated by a for statement only")


def as_sequence(value):
    """A staged sequence of the elements of a tensor or a list; None of other values."""
    if isinstance(value, StagedSequence):
        return value
    if isinstance(value, StagedList):
        return StagedSequence(value.length(), value.__getitem__)
    if _staging.is_staged(value):
        return _rows(tf.convert_to_tensor(value))
    if _is_staged_ragged(value):
        return _ragged_rows(value)
    return None


def _rows(tensor):
    shape = tensor.shape
    if shape.rank == 0:
        raise ValueError("cannot iterate over a scalar tensor; use tf.range of it")
    known = None if shape.rank is None else shape.as_list()[0]
    length = tf.shape(tensor)[0] if known is None else known

    def row(index):
        # A view: nobody writes to the tensor meanwhile.
        made = call("array_read", (tensor, index), {"share": True})
        if shape.rank is not None:
            made.set_shape(shape.as_list()[1:])
        return made

    counts = _tidemark.is_symbolic(tensor) and _tidemark.node_of(tensor).kind == "range"
    return StagedSequence(length, row, counts)


def _ragged_rows(value):
    from tidemark._graph.staged_maps import ragged_row  # few programs go over ragged tensors

    known = value.shape.as_list()[0]
    length = tf.cast(value.nrows(), tf.int32) if known is None else known
    return StagedSequence(length, lambda index: ragged_row(value, index))


def counting(function):
    """The function that a ``for`` calls to get what it goes over.

    ``for i in tf.range(n)`` counts; the tensor of all numbers is not made.
    """
    return _counted_range if function is tf.range and _staging.is_tracing() else function


def _counted_range(*bounds, **options):
    start, limit = (0, *bounds) if len(bounds) == 1 else (*bounds, None)[:2]
    step = bounds[2] if len(bounds) == 3 else 1
    plain = 1 <= len(bounds) <= 3 and isinstance(step, int) and step != 0 and not options
    if not plain or not all(_is_count(bound) for bound in (start, limit)):
        return tf.range(*bounds, **options)
    start, limit = (b if isinstance(b, int) else tf.convert_to_tensor(b) for b in (start, limit))
    length = limit - start
    if step != 1:
        length = (length + (step - 1 if step > 0 else step + 1)) // step
    length = max(length, 0) if isinstance(length, int) else tf.maximum(length, 0)

    def element(index):
        index = index if step == 1 else index * step
        return index if isinstance(start, int) and start == 0 else index + start

    return StagedSequence(length, element, counts=True)


def _is_count(value):
    """Whether it is an integer of 32 bits, as the counter of a loop is."""
    if isinstance(value, bool):
        return False
    if isinstance(value, int):
        return -(2**31) <= value < 2**31
    if not hasattr(type(value), "__tf_tensor__"):
        return False
    return value.dtype == tf.int32 and value.shape.rank == 0


def counted(sequence, start):
    """``enumerate(sequence, start)``."""
    return StagedSequence(sequence.length, lambda index: (index + start, sequence.element(index)))


def joined(sequences):
    """``zip(*sequences)``, as long as the shortest."""
    lengths = [sequence.length for sequence in sequences]
    if all(isinstance(length, int) for length in lengths):
        length = min(lengths)
    else:
        length = tf.reduce_min(tf.stack(lengths))
    return StagedSequence(
        length, lambda index: tuple(sequence.element(index) for sequence in sequences)
    )


def _over_sequence(iterated, extra_test, body, get_state, set_state, names, options):
    sequence = as_sequence(iterated)
    staged_for(sequence, extra_test, body, get_state, set_state, names, options)


def _is_staged_ragged(value):
    return hasattr(type(value), "with_flat_values") and any(
        _staging.is_staged(part) for part in (value.flat_values, *value.nested_row_splits)
    )


def _is_dataset(value):
    kind = type(value)
    return all(hasattr(kind, name) for name in ("reduce", "element_spec", "__iter__"))


def _is_dataset_iterator(value):
    return hasattr(type(value), "next_if")


register_iterable(lambda value: _staging.is_tracing() and _is_dataset(value), staged_for_dataset)
register_iterable(
    lambda value: _staging.is_tracing() and _is_dataset_iterator(value), staged_for_iterator
)
register_iterable(
    lambda value: (
        isinstance(value, (StagedSequence, StagedList))
        or _staging.is_staged(value)
        or _is_staged_ragged(value)
    ),
    _over_sequence,
)
