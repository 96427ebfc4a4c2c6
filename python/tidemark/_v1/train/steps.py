"""The global step, learning rates that follow it, and moving averages."""

from __future__ import annotations

import math

import tidemark as tf
from tidemark._v1.graph import GraphKeys, current_place, get_default_graph
from tidemark._v1.initializers import zeros_initializer
from tidemark._v1.scopes import get_variable, group
from tidemark._v1.train.optimizer import _beside
from tidemark._v1.variables import RefVariable, global_variables, trainable_variables


def _graph(graph):
    return get_default_graph() if graph is None else graph


def get_global_step(graph=None):
    """The variable that counts training steps; None."""
    graph = _graph(graph)
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if len(found) > 1:
        raise ValueError("Multiple items found in collection global_step.")
    if found:
        return found[0]
    known = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES)]
    return next((v for v in known if v.name == "global_step:0"), None)


def create_global_step(graph=None):
    """A new variable that counts training steps; there must be none."""
    graph = _graph(graph)
    if get_global_step(graph) is not None:
        raise ValueError('"global_step" already exists.')
    if tf.executing_eagerly():  # one that counts at once; the default graph knows it
        made = tf.Variable(0, trainable=False, name="global_step", dtype=tf.int64)
        graph.add_to_collection(GraphKeys.GLOBAL_STEP, made)
        return made
    keys = [GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP]
    make = lambda: get_variable(  # noqa: E731
        "global_step", [], tf.int64, zeros_initializer(), trainable=False, collections=keys
    )
    place = current_place()
    if place is not None and place.graph is graph:
        with tf.name_scope(""):
            return make()
    with graph.as_default(), tf.name_scope(""):
        return make()


def get_or_create_global_step(graph=None):
    found = get_global_step(graph)
    return create_global_step(graph) if found is None else found


def global_step(sess, global_step_tensor):
    """The number of the step in the session."""
    return int(sess.run(global_step_tensor))


def assert_global_step(global_step_tensor):
    if not global_step_tensor.dtype.is_integer:
        raise TypeError(f"Existing 'global_step' does not have integer type: {global_step_tensor}")


# --- learning rates ------------------------------------------------------------------------------


def _decaying(compute):
    """A tensor in a graph; eagerly a function of the step as it is then."""
    return compute if tf.executing_eagerly() else compute()


def _rate_and_steps(learning_rate, global_step, *others):
    rate = tf.convert_to_tensor(learning_rate)
    return rate, *(tf.cast(value, rate.dtype) for value in (global_step, *others))


def exponential_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False,
                      name=None):  # fmt: skip
    """``learning_rate * decay_rate ** (global_step / decay_steps)``."""
    if global_step is None:
        raise ValueError("global_step is required for exponential_decay.")

    def compute():
        rate, step, steps, base = _rate_and_steps(
            learning_rate, global_step, decay_steps, decay_rate
        )
        power = tf.floor(step / steps) if staircase else step / steps
        return tf.multiply(rate, tf.pow(base, power), name=name or "ExponentialDecay")

    return _decaying(compute)


def natural_exp_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False,
                      name=None):  # fmt: skip
    """``learning_rate * exp(-decay_rate * global_step / decay_steps)``."""
    base = tf.exp(tf.negative(tf.cast(decay_rate, tf.float32)))
    return exponential_decay(learning_rate, global_step, decay_steps, base, staircase, name)


def inverse_time_decay(learning_rate, global_step, decay_steps, decay_rate, staircase=False,
                       name=None):  # fmt: skip
    """``learning_rate / (1 + decay_rate * global_step / decay_steps)``."""
    if global_step is None:
        raise ValueError("global_step is required for inverse_time_decay.")

    def compute():
        rate, step, steps, by = _rate_and_steps(learning_rate, global_step, decay_steps, decay_rate)
        part = tf.floor(step / steps) if staircase else step / steps
        return tf.divide(rate, 1 + by * part, name=name)

    return _decaying(compute)


def polynomial_decay(learning_rate, global_step, decay_steps, end_learning_rate=0.0001, power=1.0,
                     cycle=False, name=None):  # fmt: skip
    """From one rate to another in so many steps."""
    if global_step is None:
        raise ValueError("global_step is required for polynomial_decay.")

    def compute():
        rate, step, steps, end, by = _rate_and_steps(
            learning_rate, global_step, decay_steps, end_learning_rate, power
        )
        if cycle:
            steps = steps * tf.where(step == 0, tf.ones_like(step), tf.math.ceil(step / steps))
        else:
            step = tf.minimum(step, steps)
        return tf.add((rate - end) * tf.pow(1 - step / steps, by), end, name=name)

    return _decaying(compute)


def piecewise_constant(x, boundaries, values, name=None):
    """``values[i]`` up to and including ``boundaries[i]``; the last one after that."""
    if len(boundaries) != len(values) - 1:
        raise ValueError("The length of boundaries should be 1 less than the length of values")

    def compute():
        step = tf.convert_to_tensor(x)
        edges = tf.stack([tf.cast(edge, step.dtype) for edge in boundaries])
        choices = tf.stack([tf.convert_to_tensor(value) for value in values])
        at = tf.reduce_sum(tf.cast(step > edges, tf.int32))
        return tf.gather(choices, at)

    return _decaying(compute)


def cosine_decay(learning_rate, global_step, decay_steps, alpha=0.0, name=None):
    """Half a cosine from the learning rate to a part of it."""
    if global_step is None:
        raise ValueError("cosine decay requires global_step")

    def compute():
        rate, step, steps = _rate_and_steps(learning_rate, global_step, decay_steps)
        part = 0.5 * (1.0 + tf.cos(math.pi * tf.minimum(step, steps) / steps))
        return tf.multiply(rate, (1 - alpha) * part + alpha, name=name)

    return _decaying(compute)


# --- moving averages -----------------------------------------------------------------------------


class ExponentialMovingAverage:
    """Averages of variables and tensors that forget slowly."""

    def __init__(self, decay, num_updates=None, zero_debias=False, name="ExponentialMovingAverage"):
        self._decay, self._num_updates = decay, num_updates
        self._zero_debias, self._name = zero_debias, name
        self._averages = {}  # id → (what is averaged, its average)

    name = property(lambda self: self._name)

    def apply(self, var_list=None):
        """An operation that brings the averages up to date."""
        chosen = trainable_variables() if var_list is None else var_list
        for item in chosen:
            if id(item) in self._averages:
                continue
            if item.dtype.name not in ("float16", "float32", "float64", "bfloat16"):
                raise TypeError(f"The variables must be half, float, or double: {item.name}")
            self._averages[id(item)] = (item, self._average_for(item))
        decay = tf.convert_to_tensor(self._decay)
        if self._num_updates is not None:
            updates = tf.cast(self._num_updates, tf.float32)
            decay = tf.minimum(tf.cast(decay, tf.float32), (1.0 + updates) / (10.0 + updates))
        done = []
        for item in chosen:
            average = self._averages[id(item)][1]
            keep = tf.cast(decay, average.dtype)
            done.append(average.assign_sub((average - item) * (1 - keep)))
        return group(*done, name=self._name)

    def _average_for(self, item):
        name = f"{item.name.partition(':')[0]}/{self._name}"
        is_tensor = isinstance(item, tf.Tensor)
        if is_tensor:
            initial = lambda: tf.zeros(item.shape.as_list(), item.dtype)  # noqa: E731
        else:
            initial = item.initialized_value if current_place() is not None else item.read_value
        like = item
        if is_tensor and current_place() is not None:
            with tf.name_scope(""):
                made = RefVariable(initial, trainable=False, name=name)
        else:
            made = _beside(like, initial, name)
        get_default_graph().add_to_collection(GraphKeys.MOVING_AVERAGE_VARIABLES, item)
        return made

    def average(self, var):
        """The variable that holds the average; None where there is none."""
        found = self._averages.get(id(var))
        return None if found is None else found[1]

    def average_name(self, var):
        """The name the average has in checkpoints."""
        found = self.average(var)
        name = var.name.partition(":")[0] + "/" + self._name if found is None else found.name
        return name.partition(":")[0]

    def variables_to_restore(self, moving_avg_variables=None):
        """Names in checkpoints → variables, averages in the place of what they average."""
        averaged = list(
            moving_avg_variables
            or [*trainable_variables(), *(item for item, _ in self._averages.values())]
        )
        names = {self.average_name(v): v for v in averaged}
        for v in global_variables():
            if not any(v is one for one in averaged):
                names.setdefault(v.name.partition(":")[0], v)
        return names
