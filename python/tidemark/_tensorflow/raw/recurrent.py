"""Recurrent layers as cuDNN has them, made of ops: products of all steps first, then a loop.

TensorFlow has these operations on GPUs alone. Keras's LSTM and GRU call them wherever there is one.
"""

from __future__ import annotations

import itertools

import tidemark as tf

# The gates of a mode, in cuDNN's order.
_GATES = {"lstm": 4, "gru": 3, "rnn_relu": 1, "rnn_tanh": 1}


def _lstm(x, h, c, products, bias):
    parts = tf.split(x + products + bias, 4, -1)
    i, f, o = (tf.sigmoid(parts[k]) for k in (0, 1, 3))
    c = f * c + i * tf.tanh(parts[2])
    return o * tf.tanh(c), c


def _gru(x, h, c, products, bias):
    x_reset, x_update, x_new = tf.split(x, 3, -1)
    reset, update, new = tf.split(products + bias, 3, -1)
    reset, update = tf.sigmoid(x_reset + reset), tf.sigmoid(x_update + update)
    return (1 - update) * tf.tanh(x_new + reset * new) + update * h, c


def _simple(activation):
    def step(x, h, c, products, bias):
        return activation(x + products + bias), c

    return step


_STEPS = {
    "lstm": _lstm, "gru": _gru, "rnn_relu": _simple(tf.nn.relu), "rnn_tanh": _simple(tf.tanh),
}  # fmt: skip


def _weights(params, mode, sizes, units):
    """For each layer and direction (W, R, bias of W, bias of R): cuDNN keeps the transposed
    matrices of all gates of all layers first, then all biases."""
    gates = _GATES[mode]
    columns = [columns for size in sizes for columns in (size, units)]
    each = [gates * units * n for n in columns] + [gates * units] * len(columns)
    parts = tf.split(params, each)
    matrices = [
        tf.transpose(tf.reshape(part, [gates * units, n]))
        for part, n in zip(parts, columns, strict=False)
    ]
    biases = parts[len(columns) :]
    return [(*matrices[k : k + 2], *biases[k : k + 2]) for k in range(0, len(columns), 2)]


def _run(mode, x, alive, h, c, weights):
    """Outputs [steps, batch, units] of one layer in one direction, and the last states. A row that
    is not alive in a step keeps its state."""
    w, r, of_inputs, of_states = weights
    projected = tf.tensordot(x, w, 1) + of_inputs

    def step(before, now):
        given, is_alive = now
        h, c = before
        new = _STEPS[mode](given, h, c, tf.matmul(h, r), of_states)
        return tuple(tf.where(is_alive, a, b) for a, b in zip(new, (h, c), strict=True))

    hs, cs = tf.scan(step, (projected, alive), (h, c))
    return tf.where(alive, hs, tf.zeros_like(hs)), hs[-1], cs[-1]


def _layers(input, input_h, input_c, params, alive, lengths, rnn_mode, direction):
    """All layers over time-major inputs; states are [layers × directions, batch, units]."""
    directions = 2 if direction == "bidirectional" else 1
    units, count = input_h.shape[2], input_h.shape[0] // directions
    sizes = [input.shape[2]] * directions + [units * directions] * (directions * (count - 1))
    weights = _weights(params, rnn_mode, sizes, units)
    last_h, last_c, x = [], [], input
    for layer in range(count):
        outputs = []
        for way in range(directions):
            k = layer * directions + way
            c = input_c[k] if rnn_mode == "lstm" else tf.zeros_like(input_h[k])
            given = tf.reverse_sequence(x, lengths, 0, 1) if way else x
            y, h, c = _run(rnn_mode, given, alive, input_h[k], c, weights[k])
            outputs.append(tf.reverse_sequence(y, lengths, 0, 1) if way else y)
            last_h.append(h)
            last_c.append(c)
        x = outputs[0] if directions == 1 else tf.concat(outputs, -1)
    return x, tf.stack(last_h), tf.stack(last_c)


def _refuse(rnn_mode, input_mode, direction, dropout, num_proj, is_training):
    reasons = {
        f"rnn_mode={rnn_mode!r} is none of {', '.join(_GATES)}": rnn_mode not in _GATES,
        f"input_mode={input_mode!r}: inputs go through weights here, 'linear_input'":
            input_mode not in ("linear_input", "auto_select"),
        f"num_proj={num_proj}: there are no projections here": num_proj,
        f"dropout={dropout}: drop between layers of their own": dropout and is_training,
    }  # fmt: skip
    for reason in itertools.compress(reasons, reasons.values()):
        raise tf.errors.UnimplementedError(None, None, f"CudnnRNN: {reason}")


def _computed(
    input, input_h, input_c, params, sequence_lengths=None, rnn_mode="lstm",
    input_mode="linear_input", direction="unidirectional", dropout=0.0, num_proj=0,
    is_training=True, time_major=True, **_,
):  # fmt: skip
    _refuse(rnn_mode, input_mode, direction, dropout, num_proj, is_training)
    input, input_h, params = (tf.convert_to_tensor(one) for one in (input, input_h, params))
    if not time_major:
        input, input_h = tf.transpose(input, [1, 0, 2]), tf.transpose(input_h, [1, 0, 2])
        input_c = tf.transpose(input_c, [1, 0, 2]) if rnn_mode == "lstm" else input_c
    steps, batch = tf.shape(input)[0], tf.shape(input)[1]
    lengths = tf.fill([batch], steps) if sequence_lengths is None else sequence_lengths
    alive = tf.expand_dims(tf.transpose(tf.sequence_mask(lengths, steps)), -1)
    output, h, c = _layers(
        input, input_h, input_c, params, alive, lengths, rnn_mode, direction
    )  # fmt: skip
    if not time_major:
        output, h, c = (tf.transpose(one, [1, 0, 2]) for one in (output, h, c))
    return output, h, c if rnn_mode == "lstm" else tf.zeros([0], c.dtype)


def _with_space(count):
    """The outputs, and what cuDNN keeps for its own gradients: nothing here, tapes have theirs."""

    def computed(**given):
        output, h, c = _computed(**given)
        return [output, h, c, tf.zeros([0], output.dtype), tf.zeros([0], tf.int8)][:count]

    return computed


ON_GPUS = {
    "CudnnRNN": _with_space(4), "CudnnRNNV2": _with_space(5), "CudnnRNNV3": _with_space(5),
}  # fmt: skip
