"""``tf.compat.v1.nn.rnn_cell``: one step of recurrent networks."""

from __future__ import annotations

import collections

import tidemark as tf
from tidemark import nest
from tidemark._v1.initializers import constant_initializer, zeros_initializer
from tidemark._v1.layers.base import Layer, last_size
from tidemark._v1.scopes import variable_scope

LSTMStateTuple = collections.namedtuple("LSTMStateTuple", ("c", "h"))


class RNNCell(Layer):
    """Subclasses define ``state_size``, ``output_size`` and ``call(inputs, state)``."""

    def __call__(self, inputs, state, scope=None):
        inputs = tf.convert_to_tensor(inputs)
        with self.ready(inputs, scope):
            return self.call(inputs, state)

    def make(self, inputs, scope=None):
        """Makes the variables: loops need them before their first round."""
        with self.ready(inputs, scope):
            pass

    def zero_state(self, batch_size, dtype):
        """Zeros in the structure of the state."""
        return nest.map_structure(
            lambda size: tf.zeros(tf.stack([batch_size, size]) if isinstance(batch_size, tf.Tensor)
                                  else [batch_size, size], dtype),
            self.state_size,
        )  # fmt: skip

    def get_initial_state(self, inputs=None, batch_size=None, dtype=None):
        if inputs is not None:
            batch_size, dtype = tf.shape(inputs)[0], inputs.dtype
        return self.zero_state(batch_size, dtype)


def _activation(given):
    return given if callable(given) else tf.tanh if given is None else getattr(tf.nn, given)


class BasicRNNCell(RNNCell):
    """``activation(W @ [inputs, state] + b)``."""

    def __init__(self, num_units, activation=None, reuse=None, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units, self._activation = num_units, _activation(activation)

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, shape):
        size = last_size(shape, -1, "last dimension")
        self._kernel = self.add_variable("kernel", [size + self._num_units, self._num_units])
        self._bias = self.add_variable("bias", [self._num_units], initializer=zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        both = tf.matmul(tf.concat([inputs, state], 1), self._kernel)
        output = self._activation(tf.nn.bias_add(both, self._bias))
        return output, output


class GRUCell(RNNCell):
    """A gated recurrent unit."""

    def __init__(self, num_units, activation=None, reuse=None, kernel_initializer=None,
                 bias_initializer=None, name=None, dtype=None, **kwargs):  # fmt: skip
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units, self._activation = num_units, _activation(activation)
        self._kernel_initializer, self._bias_initializer = kernel_initializer, bias_initializer

    state_size = property(lambda self: self._num_units)
    output_size = property(lambda self: self._num_units)

    def build(self, shape):
        rows, units = last_size(shape, -1, "last dimension") + self._num_units, self._num_units
        kernel, bias = self._kernel_initializer, self._bias_initializer
        self._gate_kernel = self.add_variable("gates/kernel", [rows, 2 * units], None, kernel)
        self._gate_bias = self.add_variable(
            "gates/bias", [2 * units], None, bias or constant_initializer(1.0)
        )
        self._kernel = self.add_variable("candidate/kernel", [rows, units], None, kernel)
        self._bias = self.add_variable("candidate/bias", [units], None, bias or zeros_initializer())
        self.built = True

    def call(self, inputs, state):
        gates = tf.matmul(tf.concat([inputs, state], 1), self._gate_kernel)
        gates = tf.sigmoid(tf.nn.bias_add(gates, self._gate_bias))
        r, u = tf.split(gates, 2, axis=1)
        candidate = tf.matmul(tf.concat([inputs, r * state], 1), self._kernel)
        candidate = self._activation(tf.nn.bias_add(candidate, self._bias))
        state = u * state + (1 - u) * candidate
        return state, state


class LSTMCell(RNNCell):
    """Long short-term memory, with peepholes, clipping and projection where asked for."""

    def __init__(self, num_units, use_peepholes=False, cell_clip=None, initializer=None,
                 num_proj=None, proj_clip=None, num_unit_shards=None, num_proj_shards=None,
                 forget_bias=1.0, state_is_tuple=True, activation=None, reuse=None, name=None,
                 dtype=None, **kwargs):  # fmt: skip
        super().__init__(name=name, dtype=dtype, _reuse=reuse, **kwargs)
        self._num_units, self._peep, self._clip = num_units, use_peepholes, cell_clip
        self._initializer, self._num_proj, self._proj_clip = initializer, num_proj, proj_clip
        self._forget_bias, self._is_tuple = forget_bias, state_is_tuple
        self._activation = _activation(activation)

    output_size = property(lambda self: self._num_proj or self._num_units)

    @property
    def state_size(self):
        if self._is_tuple:
            return LSTMStateTuple(self._num_units, self.output_size)
        return self._num_units + self.output_size

    def build(self, shape):
        rows, units = last_size(shape, -1, "last dimension") + self.output_size, self._num_units
        self._kernel = self.add_variable("kernel", [rows, 4 * units], None, self._initializer)
        self._bias = self.add_variable("bias", [4 * units], None, zeros_initializer())
        if self._peep:
            self._peepholes = [
                self.add_variable(f"w_{gate}_diag", [units], None, self._initializer)
                for gate in "fio"
            ]
        if self._num_proj is not None:
            self._projection = self.add_variable(
                "projection/kernel", [units, self._num_proj], None, self._initializer
            )
        self.built = True

    def call(self, inputs, state):
        if self._is_tuple:
            c, h = state
        else:
            c, h = tf.split(state, [self._num_units, self.output_size], axis=1)
        gates = tf.nn.bias_add(tf.matmul(tf.concat([inputs, h], 1), self._kernel), self._bias)
        i, j, f, o = tf.split(gates, 4, axis=1)
        if self._peep:
            of_forget, of_input, of_output = self._peepholes
            f, i = f + of_forget * c, i + of_input * c
        c = tf.sigmoid(f + self._forget_bias) * c + tf.sigmoid(i) * self._activation(j)
        if self._clip is not None:
            c = tf.clip_by_value(c, -self._clip, self._clip)
        if self._peep:
            o = o + of_output * c
        h = tf.sigmoid(o) * self._activation(c)
        if self._num_proj is not None:
            h = tf.matmul(h, self._projection)
            if self._proj_clip is not None:
                h = tf.clip_by_value(h, -self._proj_clip, self._proj_clip)
        return h, LSTMStateTuple(c, h) if self._is_tuple else tf.concat([c, h], 1)


class BasicLSTMCell(LSTMCell):
    """Long short-term memory without extras."""

    def __init__(self, num_units, forget_bias=1.0, state_is_tuple=True, activation=None,
                 reuse=None, name=None, dtype=None, **kwargs):  # fmt: skip
        super().__init__(num_units, forget_bias=forget_bias, state_is_tuple=state_is_tuple,
                         activation=activation, reuse=reuse, name=name, dtype=dtype,
                         **kwargs)  # fmt: skip


class MultiRNNCell(RNNCell):
    """Cells one after the other."""

    def __init__(self, cells, state_is_tuple=True):
        super().__init__()
        if not cells:
            raise ValueError("Must specify at least one cell for MultiRNNCell.")
        if not isinstance(cells, (list, tuple)):
            raise TypeError(f"cells must be a list or tuple, but saw: {cells}.")
        if not state_is_tuple:
            raise NotImplementedError("MultiRNNCell keeps its states in a tuple")
        self._cells = list(cells)

    state_size = property(lambda self: tuple(cell.state_size for cell in self._cells))
    output_size = property(lambda self: self._cells[-1].output_size)

    @property
    def variables(self):
        return [v for cell in self._cells for v in cell.variables]

    def build(self, shape):
        width = shape
        for i, cell in enumerate(self._cells):
            with variable_scope(f"cell_{i}"):
                # No node: cells look at the shape and the type alone.
                cell.make(_Width(width, self._dtype))
            width = tf.TensorShape([None, cell.output_size])
        self.built = True

    def call(self, inputs, state):
        states = []
        for cell, part in zip(self._cells, state, strict=True):
            inputs, part = cell(inputs, part)
            states.append(part)
        return inputs, tuple(states)


class _Width:
    """Stands for inputs of a shape and type."""

    def __init__(self, shape, dtype):
        self.shape, self.dtype = shape, dtype


class _Wrapper(RNNCell):
    """A cell around another."""

    def __init__(self, cell, **kwargs):
        super().__init__(**kwargs)
        self._cell = cell

    state_size = property(lambda self: self._cell.state_size)
    output_size = property(lambda self: self._cell.output_size)
    variables = property(lambda self: self._cell.variables)

    def make(self, inputs, scope=None):
        self._cell.make(inputs, scope)

    def zero_state(self, batch_size, dtype):
        return self._cell.zero_state(batch_size, dtype)


class DropoutWrapper(_Wrapper):
    """Drops parts of what goes in and out, and of the state."""

    def __init__(self, cell, input_keep_prob=1.0, output_keep_prob=1.0, state_keep_prob=1.0,
                 variational_recurrent=False, input_size=None, dtype=None, seed=None,
                 dropout_state_filter_visitor=None, **kwargs):  # fmt: skip
        super().__init__(cell, **kwargs)
        if variational_recurrent:
            raise NotImplementedError("variational_recurrent of DropoutWrapper is not offered")
        self._keep = (input_keep_prob, output_keep_prob, state_keep_prob)
        self._seed = seed

    def _dropped(self, value, keep):
        if isinstance(keep, (int, float)) and keep >= 1.0:
            return value
        drop = lambda t: tf.nn.dropout(t, rate=1.0 - keep, seed=self._seed)  # noqa: E731
        return nest.map_structure(drop, value)

    def __call__(self, inputs, state, scope=None):
        inputs = self._dropped(tf.convert_to_tensor(inputs), self._keep[0])
        output, new_state = self._cell(inputs, state, scope)
        if isinstance(new_state, LSTMStateTuple):  # memory is kept, what is shown is not
            new_state = LSTMStateTuple(new_state.c, self._dropped(new_state.h, self._keep[2]))
        else:
            new_state = self._dropped(new_state, self._keep[2])
        return self._dropped(output, self._keep[1]), new_state


class ResidualWrapper(_Wrapper):
    """Adds the inputs to the outputs."""

    def __init__(self, cell, residual_fn=None, **kwargs):
        super().__init__(cell, **kwargs)
        self._residual = residual_fn or (lambda i, o: nest.map_structure(tf.add, i, o))

    def __call__(self, inputs, state, scope=None):
        output, state = self._cell(inputs, state, scope)
        return self._residual(inputs, output), state


class DeviceWrapper(_Wrapper):
    """A cell on a device; there is one."""

    def __init__(self, cell, device, **kwargs):
        super().__init__(cell, **kwargs)

    def __call__(self, inputs, state, scope=None):
        return self._cell(inputs, state, scope)
