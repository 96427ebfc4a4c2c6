"""Checks of values, shapes and types that raise when they do not hold.

tf.debugging.assert_positive(x, message="weights must be positive")
tf.debugging.check_numerics(loss, "the loss")        # InvalidArgumentError on NaN or infinity
"""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._export import dispatching, export
from tidemark._graph.scopes import control_dependencies
from tidemark._graph.tracing import is_symbolic, lifted
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor, call
from tidemark.dtypes import as_dtype
from tidemark.errors import FailedPreconditionError, InvalidArgumentError


def _fail(text):
    raise InvalidArgumentError(None, None, text)


def _require(condition, explain, *tensors, waits=False):
    """Fails with ``explain(*tensors)`` unless all of the condition holds: now, or when the graph
    runs; where its value is known while the graph is being built, then, unless it ``waits`` for the
    run all the same. In graphs of sessions the operation that checks is given, and runs when it is
    asked for."""
    holds = call("all", (condition,), {})
    if not is_symbolic(holds):
        if not bool(holds):
            _fail(explain(*tensors))
        return None
    if _tidemark.builds_for_sessions():
        _require_of_constants(holds, explain, tensors)
        return _checking_operation(holds, explain, tensors)
    known = None if waits else _tidemark.static_value(holds)
    if known is not None:
        if bool(known):
            return None
        values = [_tidemark.static_value(t) if is_symbolic(t) else t for t in tensors]
        if all(value is not None for value in values):
            with lifted():
                text = explain(*values)
            _fail(text)
    from tidemark._graph import staged  # only graphs need it

    def report():
        staged.effect(lambda *values: _fail(explain(*values)), *tensors)
        return ()

    staged.cond(holds, lambda: (), report)
    return None


def _require_of_constants(holds, explain, tensors):
    """What depends on constants alone fails at once."""
    values = [_tidemark.static_value(t) if is_symbolic(t) else t for t in tensors]
    if not tensors or any(value is None for value in values):
        return
    with lifted():
        try:
            failed = not bool(_tidemark.evaluate(holds))
        except FailedPreconditionError:  # it depends on a variable after all
            return
    if failed:
        _fail(explain(*values))


def _checking_operation(holds, explain, tensors):
    from tidemark._graph import staged  # only graphs need it

    def check(holds, *values):
        if not bool(holds):
            _fail(explain(*values))
        return holds

    return staged.python_call(check, [holds, *tensors], [(dtypes.bool, ())])[0].op


def _passed():
    """What a check gives that has been made: in graphs of sessions an operation that does
    nothing."""
    if not _tidemark.builds_for_sessions():
        return None
    from tidemark._v1.scopes import no_op  # only sessions need it

    return no_op()


# --- comparing two -------------------------------------------------------------------------------


def _compare(symbol, op, x, y, message, summarize):
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    condition = call(op, (x, y), {})
    return _require(
        condition,
        lambda x, y, condition: _comparison(symbol, x, y, condition, message, summarize),
        x, y, condition,
    )  # fmt: skip


def _comparison(symbol, x, y, condition, message, summarize):
    shown = 3 if summarize is None else summarize
    shown = None if shown < 0 else shown
    lines = [message] if message else []
    lines.append(f"Condition x {symbol} y did not hold.")
    if x.shape == y.shape and x.ndim:
        wrong = np.argwhere(np.logical_not(condition.numpy()))[:shown]
        at = tuple(wrong.T)
        lines += [f"Indices of first {len(wrong)} different values:", str(wrong)]
        lines += ["Corresponding x values:", str(x.numpy()[at])]
        lines += ["Corresponding y values:", str(y.numpy()[at])]
    for name, tensor in (("x", x), ("y", y)):
        first = np.ravel(tensor.numpy())[:shown]
        lines += [f"First {len(first)} elements of {name}:", str(first)]
    return "\n".join(lines)


@export("tf.debugging.assert_equal", "tf.assert_equal")
@dispatching
def assert_equal(x, y, message=None, summarize=None, name=None):
    """Raises unless ``x == y`` everywhere."""
    return _compare("==", "equal", x, y, message, summarize)


@export("tf.debugging.assert_none_equal")
@dispatching
def assert_none_equal(x, y, summarize=None, message=None, name=None):
    """Raises unless ``x != y`` everywhere."""
    return _compare("!=", "not_equal", x, y, message, summarize)


@export("tf.debugging.assert_less", "tf.assert_less")
@dispatching
def assert_less(x, y, message=None, summarize=None, name=None):
    """Raises unless ``x < y`` everywhere."""
    return _compare("<", "less", x, y, message, summarize)


@export("tf.debugging.assert_less_equal")
@dispatching
def assert_less_equal(x, y, message=None, summarize=None, name=None):
    """Raises unless ``x <= y`` everywhere."""
    return _compare("<=", "less_equal", x, y, message, summarize)


@export("tf.debugging.assert_greater", "tf.assert_greater")
@dispatching
def assert_greater(x, y, message=None, summarize=None, name=None):
    """Raises unless ``x > y`` everywhere."""
    return _compare(">", "greater", x, y, message, summarize)


@export("tf.debugging.assert_greater_equal")
@dispatching
def assert_greater_equal(x, y, message=None, summarize=None, name=None):
    """Raises unless ``x >= y`` everywhere."""
    return _compare(">=", "greater_equal", x, y, message, summarize)


@export("tf.debugging.assert_near")
@dispatching
def assert_near(x, y, rtol=None, atol=None, message=None, summarize=None, name=None):
    """Raises unless ``|x - y| <= atol + rtol * |y|`` everywhere."""
    x, y = convert_to_tensor(x), convert_to_tensor(y)
    real = x.dtype.real_dtype
    step = 2.0**-7 if real is dtypes.bfloat16 else float(np.finfo(real.as_numpy_dtype).eps)
    rtol = 10 * step if rtol is None else rtol
    atol = 10 * step if atol is None else atol
    distance = call("abs", (x - y,), {})
    allowed = call("abs", (y,), {}) * rtol + atol
    return _require(
        call("less_equal", (distance, allowed), {}),
        lambda x, y: (
            f"{message or ''}\nx and y not equal to tolerance rtol = {rtol}, atol = {atol}\n"
            f"{_shown('x', x, summarize)}\n{_shown('y', y, summarize)}"
        ),
        x, y,
    )  # fmt: skip


# --- signs ---------------------------------------------------------------------------------------


def _sign(symbol, op, x, message, summarize):
    x = convert_to_tensor(x)
    return _require(
        call(op, (x, 0), {}),
        lambda x: (
            f"{message or ''}\nCondition x {symbol} 0 did not hold element-wise:\n"
            f"{_shown('x', x, summarize)}"
        ),
        x,
    )


def _shown(name, tensor, summarize):
    count = 3 if summarize is None else summarize
    values = np.ravel(tensor.numpy())[: None if count < 0 else count]
    return f"{name} (shape={tensor.shape} dtype={tensor.dtype.name}) = \n{[str(v) for v in values]}"


@export("tf.debugging.assert_positive")
def assert_positive(x, message=None, summarize=None, name=None):
    """Raises unless ``x > 0`` everywhere."""
    return _sign(">", "greater", x, message, summarize)


@export("tf.debugging.assert_negative")
def assert_negative(x, message=None, summarize=None, name=None):
    """Raises unless ``x < 0`` everywhere."""
    return _sign("<", "less", x, message, summarize)


@export("tf.debugging.assert_non_negative")
def assert_non_negative(x, message=None, summarize=None, name=None):
    """Raises unless ``x >= 0`` everywhere."""
    return _sign(">=", "greater_equal", x, message, summarize)


@export("tf.debugging.assert_non_positive")
def assert_non_positive(x, message=None, summarize=None, name=None):
    """Raises unless ``x <= 0`` everywhere."""
    return _sign("<=", "less_equal", x, message, summarize)


@export("tf.debugging.Assert", "tf.Assert")
def Assert(condition, data, summarize=None, name=None):
    """Raises with the data unless the condition is true."""
    if not isinstance(condition, Tensor):
        condition = convert_to_tensor(bool(condition))
    data = [convert_to_tensor(item) for item in data]
    if is_symbolic(condition) and _tidemark.builds_for_sessions():  # whatever is known by now
        return _checking_operation(condition, lambda *data: _assertion(data, summarize), data)
    # In a branch that is not taken it may well be false.
    return _require(condition, lambda *data: _assertion(data, summarize), *data, waits=True)


def _assertion(data, summarize):
    count = 3 if summarize is None else summarize
    parts = []
    for item in data:
        values = np.ravel(np.asarray(item.numpy() if isinstance(item, Tensor) else item))
        values = [v.encode() if isinstance(v, str) else v for v in values.tolist()]
        parts.append(" ".join(map(str, values[: None if count < 0 else count])))
    return "Expected 'False' to be true. Summarized data: " + "\n".join(parts)


# --- numbers -------------------------------------------------------------------------------------


@export("tf.debugging.check_numerics")
@dispatching
def check_numerics(tensor, message, name=None):
    """The tensor itself, if it holds neither NaN nor infinity."""
    tensor = convert_to_tensor(tensor)
    if not tensor.dtype.is_floating:
        _fail(f"[check_numerics] takes floating types, got {tensor.dtype.name}")

    def explain(tensor):
        has_nan = bool(call("any", (call("is_nan", (tensor,), {}),), {}))
        has_inf = bool(call("any", (call("is_inf", (tensor,), {}),), {}))
        kinds = " and ".join(["Inf"] * has_inf + ["NaN"] * has_nan)
        return f"{message} : Tensor had {kinds} values"

    checked = _require(call("is_finite", (tensor,), {}), explain, tensor)
    if checked is None:
        return tensor
    with control_dependencies([checked]):
        return call("identity", (tensor,), {})


@export("tf.debugging.assert_all_finite")
def assert_all_finite(x, message, name=None):
    """The tensor itself, if it holds neither NaN nor infinity."""
    return check_numerics(x, message)


# --- shapes and types ----------------------------------------------------------------------------


def _when_run(check, tensor, *rest):
    """Checks a tensor whose shape only the run of the graph tells."""
    from tidemark._graph import staged  # only graphs need it

    if _tidemark.builds_for_sessions():
        return staged.python_call(
            lambda value: check(value, *rest) is None, [tensor], [(dtypes.bool, ())]
        )[0].op
    return staged.effect(lambda value: check(value, *rest), tensor)


def _prefix(message):
    return f"{message} " if message else ""


def _rank(value):
    """A rank as a number; a tensor of a graph gives it where it is a constant."""
    if is_symbolic(value):
        known = _tidemark.static_value(value)
        value = value if known is None else known
    return int(value)


@export("tf.debugging.assert_rank", "tf.assert_rank")
def assert_rank(x, rank, message=None, name=None):
    """Raises ValueError unless ``x`` has the rank."""
    x, rank = convert_to_tensor(x), _rank(rank)
    if x.ndim is None:
        return _when_run(assert_rank, x, rank, message)
    if x.ndim != rank:
        raise ValueError(
            f"{_prefix(message)}Tensor  must have rank {rank}.  Received rank {x.ndim}, "
            f"shape {x.shape}"
        )
    return _passed()


@export("tf.debugging.assert_rank_at_least")
def assert_rank_at_least(x, rank, message=None, name=None):
    """Raises ValueError unless ``x`` has the rank or more."""
    x, rank = convert_to_tensor(x), _rank(rank)
    if x.ndim is None:
        return _when_run(assert_rank_at_least, x, rank, message)
    if x.ndim < rank:
        raise ValueError(
            f"{_prefix(message)}Tensor  must have rank at least {rank}.  Received rank {x.ndim}, "
            f"shape {x.shape}"
        )
    return _passed()


@export("tf.debugging.assert_rank_in")
def assert_rank_in(x, ranks, message=None, name=None):
    """Raises ValueError unless ``x`` has one of the ranks."""
    x, ranks = convert_to_tensor(x), [_rank(r) for r in ranks]
    if x.ndim is None:
        return _when_run(assert_rank_in, x, ranks, message)
    if x.ndim not in ranks:
        raise ValueError(
            f"{_prefix(message)}Tensor  must have rank in {tuple(ranks)}.  Received rank "
            f"{x.ndim}, shape {x.shape}"
        )
    return _passed()


@export("tf.debugging.assert_scalar")
def assert_scalar(tensor, message=None, name=None):
    """The tensor itself, if it is a scalar."""
    tensor = convert_to_tensor(tensor)
    if tensor.ndim is None:
        _when_run(assert_scalar, tensor, message)
    elif tensor.ndim:
        raise ValueError(f"{message or ''}Expected scalar shape, saw shape: {tensor.shape}.")
    return tensor


@export("tf.debugging.assert_shapes")
def assert_shapes(shapes, data=None, summarize=None, message=None, name=None):
    """Checks tensors against shapes whose letters stand for sizes alike: ``(x, ("N", 3))``."""
    sizes = {}
    items = shapes.items() if isinstance(shapes, dict) else shapes
    items = [(convert_to_tensor(tensor), symbols) for tensor, symbols in items]
    if not all(tensor.shape.is_fully_defined() for tensor, _ in items):
        from tidemark._graph import staged  # only graphs need it

        symbols = [part[1] for part in items]
        staged.effect(
            lambda *values: assert_shapes(
                list(zip(values, symbols, strict=True)), data, summarize, message
            ),
            *(part[0] for part in items),
        )
        return _passed()
    for tensor, symbols in items:
        _check_symbols(tensor, _symbols_of(symbols), sizes, _prefix(message))
    return _passed()


def _symbols_of(symbols):
    if isinstance(symbols, (str, int)) or symbols is None:
        return list(symbols) if isinstance(symbols, str) else [symbols]
    return list(symbols)


def _check_symbols(tensor, symbols, sizes, prefix):
    actual = tensor._shape_tuple()
    about = f"shape={tensor.shape} dtype={tensor.dtype.name}"
    if symbols and symbols[0] in (Ellipsis, "*", "..."):
        symbols = symbols[1:]
        actual_part = actual[len(actual) - len(symbols) :] if len(actual) >= len(symbols) else None
    elif symbols and symbols[-1] in (Ellipsis, "*", "..."):
        symbols = symbols[:-1]
        actual_part = actual[: len(symbols)] if len(actual) >= len(symbols) else None
    else:
        actual_part = actual if len(actual) == len(symbols) else None
    if actual_part is None:
        raise ValueError(
            f"{prefix}Tensor {about} must have rank {len(symbols)}.  Received rank {len(actual)}, "
            f"shape {tensor.shape}"
        )
    for dimension, (symbol, size) in enumerate(zip(symbols, actual_part, strict=True)):
        if symbol is None or symbol == ".":
            continue
        fixed = isinstance(symbol, int) or str(symbol).isdigit()
        wanted, place = (
            (int(symbol), "explicitly")
            if fixed
            else sizes.setdefault(symbol, (size, f"by tensor {about} dimension {dimension}"))
        )
        if wanted != size:
            raise ValueError(
                f"{prefix}Specified {place}.  Tensor {about} dimension {dimension} must have size "
                f"{wanted}.  Received size {size}, shape {tensor.shape}"
            )


@export("tf.debugging.assert_type")
def assert_type(tensor, tf_type, message=None, name=None):
    """Raises TypeError unless the tensor has the type."""
    tensor, wanted = convert_to_tensor(tensor), as_dtype(tf_type)
    if tensor.dtype != wanted:
        raise TypeError(
            f"{_prefix(message)}tensor must be of type {wanted!r}; got {tensor.dtype!r}"
        )
    return _passed()


@export("tf.debugging.assert_integer")
def assert_integer(x, message=None, name=None):
    """Raises TypeError unless the tensor holds integers."""
    x = convert_to_tensor(x)
    if not x.dtype.is_integer:
        raise TypeError(f"{_prefix(message)}Expected 'x' to be integer type.  Found: {x.dtype!r}")
    return _passed()


@export("tf.debugging.assert_same_float_dtype")
def assert_same_float_dtype(tensors=None, dtype=None):
    """The one floating type of all tensors and of ``dtype``; float32 when nothing says."""
    found = None if dtype is None else as_dtype(dtype)
    for tensor in tensors or []:
        if tensor is None:
            continue
        own = convert_to_tensor(tensor).dtype
        if found is not None and own != found:
            raise ValueError(f"Tensor type {own!r} differs from the expected type {found!r}.")
        found = own
    found = found or dtypes.float32
    if not found.is_floating:
        raise ValueError(f"Expected floating point type, got {found!r}.")
    return found


@export("tf.debugging.assert_proper_iterable")
def assert_proper_iterable(values):
    """Raises TypeError for strings, arrays, tensors and what cannot be iterated over."""
    if isinstance(values, (Tensor, np.ndarray, str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(
            "Expected argument 'values' to be an iterable of tensors, a list or a tuple. "
            f"Found: {type(values)}"
        )


@export("tf.debugging.is_numeric_tensor")
def is_numeric_tensor(tensor):
    """Whether the value is a tensor of numbers."""
    return isinstance(tensor, Tensor) and tensor.dtype.is_numeric
