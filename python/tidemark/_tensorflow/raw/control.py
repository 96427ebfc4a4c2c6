"""Operations that call functions, branch and loop, and those that pass values on."""

from __future__ import annotations

import tidemark as tf


def _listed(made):
    if made is None:
        return []
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _truth(input):
    """Whether a condition of any dtype holds: a number that is not 0, a text that is not empty."""
    value = tf.convert_to_tensor(input)
    if value.shape.rank != 0:
        return tf.size(value) > 0
    if value.dtype == tf.string:
        return tf.strings.length(value) > 0
    return value if value.dtype == tf.bool else tf.not_equal(value, tf.zeros([], value.dtype))


def _called(args, f, **_):
    return _listed(f(*args))


def _branched(cond, input, then_branch, else_branch, **_):
    def of(branch):
        return lambda: tuple(_listed(branch(*input)))

    return _listed(tf.cond(_truth(cond), of(then_branch), of(else_branch)))


def _looped(input, cond, body, parallel_iterations=10, **_):
    state = tf.while_loop(
        lambda *state: _truth(_listed(cond(*state))[0]),
        lambda *state: tuple(_listed(body(*state))),
        tuple(input), parallel_iterations=parallel_iterations,
    )  # fmt: skip
    return _listed(state)


def _counted(start, limit, delta, input, body):
    def round(at, *state):
        return at + delta, *_listed(body(at, *state))

    forward = lambda at, *_: tf.where(delta > 0, at < limit, at > limit)  # noqa: E731
    return _listed(tf.while_loop(forward, round, (start, *input)))[1:]


def _mapped(arguments, captured_inputs, output_types, f, **_):
    rows = tf.map_fn(
        lambda row: tuple(_listed(f(*row, *captured_inputs))), tuple(arguments),
        fn_output_signature=tuple(output_types),
    )  # fmt: skip
    return _listed(rows)


def _switched(data, pred):
    """What TensorFlow gives eagerly: the side that is not taken has no elements."""
    nothing = tf.zeros([0], data.dtype) if data.dtype != tf.string else tf.constant([], tf.string)
    return [nothing, data] if bool(pred) else [data, nothing]


def _batched(in_tensors, captured_tensors, f, **_):
    return _listed(f(*in_tensors, *captured_tensors))


def _parallel_concat(values, shape):
    joined = tf.concat(values, 0)
    return tf.ensure_shape(joined, tf.TensorShape(shape))


def _in_place(change):
    """A new tensor with rows changed: tensors do not change here, as eagerly in TensorFlow."""

    def made(x, i, v):
        rows = tf.reshape(tf.cast(i, tf.int32), [-1, 1])
        return change(x, rows, tf.reshape(v, tf.concat([[tf.size(i)], tf.shape(x)[1:]], 0)))

    return made


def _passed(input, **_):
    return tf.identity(input)


WRITTEN = {
    "BatchFunction": _batched,
    "Copy": _passed,
    "CopyHost": _passed,
    "DebugGradientIdentity": _passed,
    "DeepCopy": lambda x: tf.identity(x),
    "DeviceIndex": lambda device_names: tf.constant(
        next((i for i, name in enumerate(device_names) if name == "CPU"), len(device_names))
    ),
    "Enter": lambda data, **_: tf.identity(data),
    "Exit": lambda data: tf.identity(data),
    "For": _counted,
    "If": _branched,
    "InplaceAdd": _in_place(tf.tensor_scatter_nd_add),
    "InplaceSub": _in_place(tf.tensor_scatter_nd_sub),
    "InplaceUpdate": _in_place(tf.tensor_scatter_nd_update),
    "LoopCond": _passed,
    "MapDefun": _mapped,
    "Merge": lambda inputs: [tf.identity(inputs[0]), tf.constant(0)],
    "ParallelConcat": _parallel_concat,
    "PartitionedCall": _called,
    "PlaceholderWithDefault": lambda input, shape: tf.compat.v1.placeholder_with_default(
        input, shape
    ),
    "StatefulPartitionedCall": _called,
    "StatelessIf": _branched,
    "StatelessWhile": _looped,
    "Switch": _switched,
    "ToBool": _truth,
    "While": _looped,
}
