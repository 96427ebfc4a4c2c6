"""Python's built-in functions over tensors that are not known yet."""

from __future__ import annotations

import functools
import inspect
import re

import tidemark as tf
from tidemark.autograph import _iteration
from tidemark.autograph._lists import StagedList
from tidemark.autograph._staging import is_staged
from tidemark.autograph._variables import is_undefined

_MISSING = object()


def abs_(x):
    return tf.abs(x) if is_staged(x) else abs(x)


def float_(x=0.0):
    if not is_staged(x):
        return float(x)
    return tf.strings.to_number(x) if x.dtype == tf.string else tf.cast(x, tf.float32)


def int_(x=0, base=_MISSING):
    if not is_staged(x):
        return int(x) if base is _MISSING else int(x, base)
    if base not in (_MISSING, 10):
        raise NotImplementedError("a tensor becomes an integer in base 10 only")
    return tf.strings.to_number(x, tf.int32) if x.dtype == tf.string else tf.cast(x, tf.int32)


def len_(x):
    if isinstance(x, StagedList):
        return x.length()
    if hasattr(x, "_is_tensor_array"):
        return x.size()
    if not is_staged(x):
        return len(x)
    x = tf.convert_to_tensor(x)
    if x.shape.rank == 0:
        raise ValueError("len requires a tensor of at least one dimension, got a scalar")
    known = None if x.shape.rank is None else x.shape.as_list()[0]
    return tf.shape(x)[0] if known is None else known


def print_(*values, **options):
    """Prints when the graph runs if a tensor is among the values, else now."""
    if not any(is_staged(value) for value in values):
        return print(*values, **options)
    unknown = set(options) - {"sep", "end", "file", "flush"}
    if unknown:
        raise ValueError(f"invalid keyword arguments: {sorted(unknown)}")
    given = {name: options[name] for name in ("sep", "end") if options.get(name) is not None}
    if options.get("file") is not None:
        given["output_stream"] = options["file"]
    return tf.print(*values, **given)


def range_(start_or_stop, stop=_MISSING, step=_MISSING):
    given = [value for value in (start_or_stop, stop, step) if value is not _MISSING]
    return tf.range(*given) if any(map(is_staged, given)) else range(*given)


def enumerate_(values, start=0):
    sequence = _iteration.as_sequence(values)
    if sequence is not None:
        return _iteration.counted(sequence, start)
    if _iteration.handler_of(values) is not None and hasattr(values, "enumerate"):
        return values.enumerate(start)
    return enumerate(values, start)


def zip_(*values, **options):
    sequences = [_iteration.as_sequence(value) for value in values]
    if sequences and all(sequence is not None for sequence in sequences):
        return _iteration.joined(sequences)
    return zip(*values, **options)  # noqa: B905  as the user says


def map_(function, *values):
    sequences = [_iteration.as_sequence(value) for value in values]
    if not sequences or any(sequence is None for sequence in sequences):
        return map(function, *values)
    rows = _iteration.joined(sequences)
    return _iteration.StagedSequence(rows.length, lambda index: function(*rows.element(index)))


def any_(values):
    return tf.reduce_any(_vector(values, "any")) if is_staged(values) else any(values)


def all_(values):
    return tf.reduce_all(_vector(values, "all")) if is_staged(values) else all(values)


def _vector(values, function):
    if values.shape.rank not in (None, 1):
        raise ValueError(f"{function} requires a tensor of one dimension, got shape {values.shape}")
    return tf.cast(values, tf.bool)


def sorted_(values, *, key=None, reverse=False):
    if not is_staged(values):
        return sorted(values, key=key, reverse=reverse)
    direction = "DESCENDING" if reverse else "ASCENDING"
    if key is None:
        return tf.sort(values, direction=direction)
    keys = tf.map_fn(key, values)
    return tf.gather(values, tf.argsort(keys, direction=direction, stable=True))


def _extreme(plain, pairwise, reduced):
    def extreme(*values, **options):
        if len(values) == 1 and is_staged(values[0]):
            if options:
                raise ValueError(f"{plain.__name__} of a tensor takes no {sorted(options)}")
            return reduced(values[0])
        if len(values) > 1 and any(is_staged(value) for value in values) and not options:
            return functools.reduce(pairwise, values)
        return plain(*values, **options)

    return extreme


min_ = _extreme(min, lambda a, b: tf.minimum(a, b), lambda x: tf.reduce_min(x, axis=0))
max_ = _extreme(max, lambda a, b: tf.maximum(a, b), lambda x: tf.reduce_max(x, axis=0))


def sum_(values, /, start=0):
    return tf.reduce_sum(values, axis=0) + start if is_staged(values) else sum(values, start)


OVERLOADS = {
    abs: abs_, all: all_, any: any_, enumerate: enumerate_, float: float_, int: int_, len: len_,
    map: map_, max: max_, min: min_, print: print_, range: range_, sorted: sorted_, sum: sum_,
    zip: zip_,
}  # fmt: skip


# --- functions that look at the frame they are called from ----------------------------------------


def _frames(scope):
    """The frames of the function that the scope stands around and of its parts, innermost first."""
    frame = inspect.currentframe()
    while frame is not None:
        if frame.f_locals.get(scope.name) is scope:
            yield frame
        frame = frame.f_back


def super_(scope):
    """``super()`` in a converted method."""
    *_, frame = _frames(scope)
    return super(frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]])


def eval_(args, scope):
    """``eval`` with the variables of the function that calls it."""
    return eval(args[0], *(args[1:] or (globals_(scope), locals_(scope))))


_MADE = re.compile(
    r"(ag__|fscope|lscope|vars_|itr|get_state|set_state|if_body|else_body|loop_body|loop_test"
    r"|extra_test|do_return|retval_|break_|continue_)(_\d+)?$"
)


def locals_(scope):
    """The variables of the function, without those that the conversion added."""
    found = {}
    for frame in _frames(scope):
        for name, value in frame.f_locals.items():
            if not _MADE.match(name) and not is_undefined(value):
                found.setdefault(name, value)
    return found


def globals_(scope):
    return next(_frames(scope)).f_globals
