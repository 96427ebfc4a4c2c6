"""Making tensors: ``tf.constant``, ``tf.zeros``, ``tf.range``, ``tf.cast`` and their kin."""

from __future__ import annotations

from tidemark import _tidemark, dtypes
from tidemark._export import OPS, dispatching, export
from tidemark._graph.scopes import is_building_for_sessions
from tidemark._tidemark import Tensor, call, convert
from tidemark.dtypes import as_dtype, enum_of
from tidemark.errors import InvalidArgumentError

cast = OPS["tf.cast"]
_INT32 = dtypes.int32._enum


@export("tf.constant")
def constant(value, dtype=None, shape=None, name="Const"):
    """A tensor with a copy of the given values; one value fills a given shape."""
    return _tidemark.made_constant(convert(value, enum_of(dtype), shape))


@export("tf.convert_to_tensor")
def convert_to_tensor(value, dtype=None, dtype_hint=None, name=None):
    """The value as a tensor: itself if it is one. Arrays are shared where layout allows it."""
    if dtype is None and dtype_hint is not None and not isinstance(value, Tensor):
        try:
            return _traced(value, convert(value, enum_of(dtype_hint), None, False))
        except (TypeError, ValueError):
            pass
    return _traced(value, convert(value, enum_of(dtype), None, False))


def _traced(value, made):
    """What stands for a value in the graph being built, if one is."""
    if made is value or not _tidemark.is_tracing():
        return made
    return _tidemark.traced_constant(made)


def shape_tensor(shape):
    """A shape, given in any form, as a one-dimensional integer tensor."""
    if isinstance(shape, Tensor):
        if shape.ndim == 0:
            return call("reshape", (shape, (1,)), {})
        return shape
    if isinstance(shape, int):
        shape = (shape,)
    elif hasattr(shape, "as_list"):
        shape = shape.as_list()
    try:
        if len(shape) == 0:
            return convert((), _INT32)
    except TypeError:
        shape = (shape,)
    sizes = convert(shape)
    # Sizes that are no integers raise as TensorFlow does, naming the value.
    return sizes if sizes.dtype.is_integer else convert(shape, _INT32)


@export("tf.saturate_cast", "tf.dtypes.saturate_cast")
@dispatching
def saturate_cast(value, dtype, name=None):
    """As cast, but values beyond the range of the type become its smallest or largest."""
    value, dtype = convert(value), as_dtype(dtype)
    own = value.dtype
    if own.is_integer and dtype.is_integer:
        # cast wraps integers around; bounds that lie outside of their own type do not bind.
        low, high = max(dtype.min, own.min), min(dtype.max, own.max)
        bounds = convert(low, own._enum), convert(high, own._enum)
        value = call("clip_by_value", (value, *bounds), {})
    elif own.is_floating and dtype.is_floating and float(dtype.max) < float(own.max):
        bounds = convert(float(dtype.min), own._enum), convert(float(dtype.max), own._enum)
        value = call("clip_by_value", (value, *bounds), {})
    return cast(value, dtype)


@export("tf.fill")
def fill(dims, value, name=None, layout=None):
    """A tensor of the given shape, every element the scalar ``value``."""
    return call("fill", (shape_tensor(dims), value), {})


@export("tf.zeros")
def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of zeros; empty strings for the type string, False for bool."""
    return _filled(shape, as_dtype(dtype), 0)


@export("tf.ones")
def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of ones; True for bool."""
    return _filled(shape, as_dtype(dtype), 1)


_fill = _tidemark.op_function("fill")


def _filled(shape, dtype, value):
    plain = shape.__class__ in (list, tuple) and shape and shape[0].__class__ is int
    dims = shape if plain else shape_tensor(shape)
    return _fill(dims, float(value) if dtype is dtypes.float32 else _scalar(dtype, value))


def _scalar(dtype, value):
    if dtype.is_bool:
        value = bool(value)
    elif dtype is dtypes.string:
        if value:
            raise TypeError("there is no one among strings; use tf.fill")
        value = ""
    return convert(value, dtype._enum)


@export("tf.zeros_like")
@dispatching
def zeros_like(input, dtype=None, name=None, layout=None):
    """Zeros of the shape, and unless another is given the type, of ``input``."""
    return _like("zeros_like", input, dtype, 0)


@export("tf.ones_like")
@dispatching
def ones_like(input, dtype=None, name=None, layout=None):
    """Ones of the shape, and unless another is given the type, of ``input``."""
    return _like("ones_like", input, dtype, 1)


def _like(op, input, dtype, value):
    """The op; of a function's tensor whose sizes are known it takes these alone, so that the tensor
    may be gone by then, or not be there yet for the variable that begins with the result."""
    is_known = _tidemark.is_symbolic(input) and input.shape.is_fully_defined()
    if is_known and not is_building_for_sessions():
        dtype = input.dtype if dtype is None else as_dtype(dtype)
        if dtype.is_bool or dtype.is_floating or dtype.is_integer or dtype.is_complex:
            return _filled(input.shape.as_list(), dtype, value)
    return call(op, (input,), {"dtype": dtype})


def _eye_of_tensors(num_rows, num_columns, batch_shape, dtype):
    """Of sizes that only the run of the graph tells."""
    rows, columns = num_rows, num_rows if num_columns is None else num_columns
    down = call("reshape", (call("range", (0, rows, 1), {}), (-1, 1)), {})
    matrix = call("equal", (down, call("range", (0, columns, 1), {})), {})
    matrix = call("cast", (matrix,), {"dtype": as_dtype(dtype)._enum})
    if batch_shape is None:
        return matrix
    shape = call(
        "concat", ([shape_tensor(batch_shape), call("shape", (matrix,), {})],), {"axis": 0}
    )
    return call("broadcast_to", (matrix, shape), {})


@export("tf.eye", "tf.linalg.eye")
def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """Ones on the diagonal, zeros elsewhere; one such matrix for each batch."""
    if _tidemark.is_symbolic(num_rows) or _tidemark.is_symbolic(num_columns):
        return _eye_of_tensors(num_rows, num_columns, batch_shape, dtype)
    rows = int(num_rows)
    columns = rows if num_columns is None else int(num_columns)
    if rows < 0 or columns < 0:
        size = min(rows, columns)
        raise InvalidArgumentError(None, None, f"[eye] Dimension {size} must be >= 0")
    row = call("range", (0, rows, 1), {})
    column = call("range", (0, columns, 1), {})
    ones_where = call("equal", (call("expand_dims", (row,), {"axis": 1}), column), {})
    matrix = cast(ones_where, dtype)
    if batch_shape is None:
        return matrix
    sizes = (shape_tensor(batch_shape), shape_tensor([rows, columns]))
    return call("broadcast_to", (matrix, call("concat", sizes, {"axis": 0})), {})


@export("tf.range")
def range(start, limit=None, delta=1, dtype=None, name="range"):
    """The numbers from ``start`` up to, not including, ``limit`` in steps of ``delta``."""
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        number = as_dtype(dtype)._enum
        return call("range", [cast_or_convert(v, number) for v in (start, limit, delta)], {})
    return call("range", [convert(v) for v in (start, limit, delta)], {})


def cast_or_convert(value, number):
    """A tensor of the type with this number, from a tensor of any or from a Python value."""
    return cast(value, number) if isinstance(value, Tensor) else convert(value, number)


@export("tf.linspace")
def linspace(start, stop, num, name=None, axis=0):
    """``num`` values from ``start`` to ``stop``, both included, at even distances."""
    start, stop = convert(start), convert(stop)
    if start.dtype.is_integer and stop.dtype.is_integer:
        start, stop = cast(start, dtypes.float64), cast(stop, dtypes.float64)
    return call("linspace", (start, stop, num), {"axis": axis})


@export("tf.one_hot")
@dispatching
def one_hot(indices, depth, on_value=None, off_value=None, axis=None, dtype=None, name=None):
    """``on_value`` where the position along a new axis is the index, ``off_value`` elsewhere."""
    on = None if on_value is None else _value_of(on_value, dtype, "on_value")
    off = None if off_value is None else _value_of(off_value, dtype, "off_value")
    if on is not None and off is not None and on._dtype_enum != off._dtype_enum:
        raise TypeError(
            f"dtype {on.dtype} of on_value does not match dtype {off.dtype} of off_value"
        )
    if on is not None or off is not None:
        kind = (off if on is None else on).dtype
    else:
        kind = dtypes.float32 if dtype is None else as_dtype(dtype)
    on = _scalar(kind, 1) if on is None else on
    off = _scalar(kind, 0) if off is None else off
    return call("one_hot", (indices, depth, on, off), {"axis": -1 if axis is None else axis})


def _value_of(value, dtype, which):
    tensor = convert(value)
    if dtype is None or tensor.dtype == dtype:
        return tensor
    if isinstance(value, Tensor):
        raise TypeError(
            f"dtype {tensor.dtype} of {which} does not match dtype parameter {as_dtype(dtype)}"
        )
    return convert(value, enum_of(dtype))


@export("tf.is_tensor")
def is_tensor(x):
    """Whether the value is a tensor, or of a class that says of itself that it is like one."""
    if isinstance(x, (Tensor, _tidemark.VariableBase)) or hasattr(x, "__tf_is_tensor__"):
        return True
    return hasattr(x, "is_tensor_like")


@export("tf.get_static_value")
def get_static_value(tensor, partial=False):
    """The value of a tensor as a NumPy array, if it is known."""
    if not isinstance(tensor, Tensor):
        return None if is_tensor(tensor) else tensor  # a variable may have another value any time
    value = _tidemark.static_value(tensor)
    if value is None and _is_of_constants(tensor):
        value = _tidemark.evaluate(tensor)
    return None if value is None else value.__array__()


# op names: those that TensorFlow looks through while a graph is built.
_LOOKED_THROUGH = ("broadcast_to", "cast", "concat", "equal", "fill", "not_equal", "split", "stack",
                   "stop_gradient", "unstack", "zeros_like")  # fmt: skip


def _is_of_constants(tensor):
    """Whether a tensor of a graph is made of nothing but constants, by ops that tell as much."""
    if not _tidemark.is_symbolic(tensor) or _tidemark.static_value(tensor) is not None:
        return True
    if _tidemark.node_kind(tensor) not in _LOOKED_THROUGH:
        return False
    return all(map(_is_of_constants, _tidemark.node_inputs(tensor)))


@export("tf.is_symbolic_tensor")
def is_symbolic_tensor(tensor):
    """Whether the tensor stands for a value of a graph being built."""
    return _tidemark.is_symbolic(tensor)


@export("tf.load_op_library")
def load_op_library(library_filename):
    """Loads a library of custom ops; an object with one function for each op."""
    import types  # few programs load libraries of ops

    library = types.SimpleNamespace()
    for op in _tidemark.load_op_library(str(library_filename)):
        setattr(library, op, _tidemark.op_function(op))
    return library


@export("tf.load_library")
def load_library(library_location):
    """Loads a library of custom ops for its effect: its ops are there afterwards."""
    load_op_library(library_location)


_conversions = []  # (priority, types, function), lowest priority first


@export("tf.register_tensor_conversion_function")
def register_tensor_conversion_function(base_type, conversion_func, priority=100):
    """Lets instances of a type become tensors: ``conversion_func(value, dtype, name, as_ref)``."""
    types = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(t, type) for t in types):
        raise TypeError(f"base_type must be a type or a tuple of types, got {base_type!r}")
    if not callable(conversion_func):
        raise TypeError(f"conversion_func must be callable, got {conversion_func!r}")
    _conversions.append((priority, types, conversion_func))
    _conversions.sort(key=lambda entry: entry[0])
    _tidemark.set_conversion_hook(_converted)


def _converted(value, number):
    """What the first registered function that takes the value makes of it."""
    for _, types, function in _conversions:
        if isinstance(value, types):
            dtype = as_dtype(number) if number else None
            result = function(value, dtype=dtype, name=None, as_ref=False)
            if result is not NotImplemented:
                return result
    return NotImplemented


def check_one_dtype(op, first, second):
    """Raises what TensorFlow raises for tensors of two dtypes, where these are not promoted; of
    functions that hand them to the extension themselves, which takes them for its own calls."""
    if _tidemark.promotes_dtypes():
        return
    wanted, given = getattr(first, "dtype", None), getattr(second, "dtype", None)
    if wanted is None or given is None or as_dtype(wanted) == as_dtype(given):
        return
    hint = "Convert one with tf.cast, or see tidemark.experimental.set_dtype_promotion."
    wanted, given = as_dtype(wanted).name, as_dtype(given).name
    if any(_tidemark.is_symbolic(value) for value in (first, second) if isinstance(value, Tensor)):
        raise TypeError(
            f"Input of '{op}' Op has type {given} that does not match type {wanted} of another "
            f"argument. {hint}"
        )
    raise InvalidArgumentError(
        None, None, f"cannot compute {op} as an input was expected to be a {wanted} tensor but is "
        f"a {given} tensor [Op:{op}]. {hint}"
    )  # fmt: skip
