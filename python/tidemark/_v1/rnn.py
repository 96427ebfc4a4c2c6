"""Recurrent networks over time: ``dynamic_rnn``, ``static_rnn`` and both ways."""

from __future__ import annotations

import tidemark as tf
from tidemark import nest
from tidemark._v1.scopes import variable_scope


def _first_state(cell, initial_state, batch, dtype):
    if initial_state is not None:
        return initial_state
    if dtype is None:
        raise ValueError("If there is no initial_state, you must give a dtype.")
    return cell.zero_state(batch, dtype)


def _where_alive(alive, new, old):
    """Rows that go on take the new value, those that have ended keep the old one."""
    return nest.map_structure(lambda n, o: tf.where(tf.expand_dims(alive, -1), n, o), new, old)


def dynamic_rnn(cell, inputs, sequence_length=None, initial_state=None, dtype=None,
                parallel_iterations=None, swap_memory=False, time_major=False,
                scope=None):  # fmt: skip
    """(outputs, last state) of a cell over the time dimension of ``inputs``."""
    with variable_scope(scope or "rnn"):
        inputs = tf.convert_to_tensor(inputs)
        steps = inputs if time_major else tf.transpose(inputs, [1, 0, 2])
        if steps.shape.rank is not None and steps.shape[2] is None:
            raise ValueError(
                "Input size (depth of inputs) must be accessible via shape inference, but saw None"
            )
        count, batch = tf.shape(steps)[0], tf.shape(steps)[1]
        known_batch = steps.shape[1]
        state = _first_state(
            cell, initial_state, batch if known_batch is None else known_batch, dtype
        )
        cell.make(steps[0])
        lengths = None if sequence_length is None else tf.cast(sequence_length, tf.int32)
        outputs, state = _loop(cell, steps, state, lengths, count, batch)
        if not time_major:
            outputs = tf.transpose(outputs, [1, 0, 2])
        static = inputs.shape.as_list()[:2]
        outputs.set_shape([*static, cell.output_size])
        return outputs, state


def _loop(cell, steps, state, lengths, count, batch):
    # One tensor of all outputs, each round writing its own in place.
    outputs = tf.zeros(tf.stack([count, batch, cell.output_size]), steps.dtype)
    free = lambda t: tf.TensorShape([None, *t.shape.as_list()[1:]])  # noqa: E731
    invariants = nest.map_structure(free, state)

    def body(time, state, outputs):
        output, new_state = cell(steps[time], state)
        if lengths is not None:
            alive = time < lengths
            output = tf.where(tf.expand_dims(alive, -1), output, tf.zeros_like(output))
            new_state = _where_alive(alive, new_state, state)
        at = tf.reshape(time, [1, 1])
        outputs = tf.tensor_scatter_nd_update(outputs, at, tf.expand_dims(output, 0))
        return time + 1, new_state, outputs

    _, state, outputs = tf.while_loop(
        lambda time, *_: time < count,
        body,
        [tf.constant(0), state, outputs],
        shape_invariants=[
            tf.TensorShape([]),
            invariants,
            tf.TensorShape([None, None, cell.output_size]),
        ],
    )
    return outputs, state


def static_rnn(cell, inputs, initial_state=None, dtype=None, sequence_length=None, scope=None):
    """(a list of outputs, last state) of a cell over a list of inputs."""
    if not isinstance(inputs, (list, tuple)):
        raise TypeError("inputs must be a sequence")
    if not inputs:
        raise ValueError("inputs must not be empty")
    with variable_scope(scope or "rnn"):
        first = tf.convert_to_tensor(inputs[0])
        batch = tf.shape(first)[0] if first.shape[0] is None else first.shape[0]
        state = _first_state(cell, initial_state, batch, dtype)
        lengths = None if sequence_length is None else tf.cast(sequence_length, tf.int32)
        outputs = []
        for time, step in enumerate(inputs):
            output, new_state = cell(step, state)
            if lengths is not None:
                alive = time < lengths
                output = tf.where(tf.expand_dims(alive, -1), output, tf.zeros_like(output))
                new_state = _where_alive(alive, new_state, state)
            state = new_state
            outputs.append(output)
        return outputs, state


def _reversed(inputs, sequence_length, time_axis, batch_axis):
    if sequence_length is None:
        return tf.reverse(inputs, axis=[time_axis])
    return tf.reverse_sequence(inputs, sequence_length, seq_axis=time_axis, batch_axis=batch_axis)


def bidirectional_dynamic_rnn(cell_fw, cell_bw, inputs, sequence_length=None,
                              initial_state_fw=None, initial_state_bw=None, dtype=None,
                              parallel_iterations=None, swap_memory=False, time_major=False,
                              scope=None):  # fmt: skip
    """((outputs forward, outputs backward), (state forward, state backward))."""
    with variable_scope(scope or "bidirectional_rnn"):
        forward, state_fw = dynamic_rnn(
            cell_fw, inputs, sequence_length, initial_state_fw, dtype, time_major=time_major,
            scope="fw",
        )  # fmt: skip
        axes = (0, 1) if time_major else (1, 0)
        turned = _reversed(tf.convert_to_tensor(inputs), sequence_length, *axes)
        backward, state_bw = dynamic_rnn(
            cell_bw, turned, sequence_length, initial_state_bw, dtype, time_major=time_major,
            scope="bw",
        )  # fmt: skip
        backward = _reversed(backward, sequence_length, *axes)
    return (forward, backward), (state_fw, state_bw)


def static_bidirectional_rnn(cell_fw, cell_bw, inputs, initial_state_fw=None,
                             initial_state_bw=None, dtype=None, sequence_length=None,
                             scope=None):  # fmt: skip
    """(outputs of both ways joined, state forward, state backward)."""
    if sequence_length is not None:
        raise NotImplementedError("sequence_length: use bidirectional_dynamic_rnn")
    with variable_scope(scope or "bidirectional_rnn"):
        forward, state_fw = static_rnn(cell_fw, inputs, initial_state_fw, dtype, scope="fw")
        backward, state_bw = static_rnn(
            cell_bw, list(reversed(inputs)), initial_state_bw, dtype, scope="bw"
        )
    joined = [tf.concat(pair, 1) for pair in zip(forward, reversed(backward), strict=True)]
    return joined, state_fw, state_bw
