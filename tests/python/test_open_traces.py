"""What functions hold whose traces leave ranks, axes, first values or gradients open."""

import gc
import weakref

import pytest
from flat import assert_flat

import tidemark as tf


def test_a_function_of_any_rank_and_axis_does_not_grow():
    spec = [tf.TensorSpec(None), tf.TensorSpec([], tf.int32)]

    @tf.function(input_signature=spec)
    def f(x, axis):
        return tf.reduce_sum(tf.concat([x, x], axis), axis) + tf.reduce_max(tf.transpose(x))

    shapes = [(2,), (2, 3), (1, 2, 3)]
    assert_flat(lambda: [f(tf.ones(shape), 0) for shape in shapes], 1000)
    assert len(f.traces()) == 1


def test_first_values_from_arguments_hold_no_arguments():
    class Scaled(tf.Module):
        v = None

        @tf.function
        def __call__(self, x):
            if self.v is None:
                self.v = tf.Variable(tf.reduce_sum(x))
            return x * self.v

    scaled = Scaled()
    before = tf.memory.stats()["live"]
    scaled(tf.ones([1 << 18]))
    gc.collect()
    assert tf.memory.stats()["live"] - before < 1 << 16


def test_a_gradient_that_cannot_be_traced_holds_nothing_and_raises_each_time():
    class Held:
        pass

    def ask_three_times():
        held = Held()

        @tf.custom_gradient
        def failing(x):
            def grad(dy, held=held):
                raise LookupError("no gradient")

            return x * 2.0, grad

        f = tf.function(lambda x: failing(x))
        x = tf.Variable(2.0)
        for _ in range(3):
            with tf.GradientTape() as tape:
                y = f(x)
            with pytest.raises(LookupError, match="no gradient"):
                tape.gradient(y, x)
        return weakref.ref(held)

    gone = ask_three_times()
    gc.collect()
    assert gone() is None


def test_a_critical_section_goes_with_its_function():
    def use():
        section = tf.CriticalSection()
        f = tf.function(lambda x: section.execute(lambda: x + 1))
        assert f(tf.constant(1)) == 2
        with pytest.raises(ValueError, match="already running"):
            section.execute(lambda: section.execute(lambda: 1))
        return weakref.ref(section)

    gone = use()
    gc.collect()
    assert gone() is None
