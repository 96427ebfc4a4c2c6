"""tf.Module: finding variables and parts."""

import pytest

import tidemark as tf


class Dense(tf.Module):
    def __init__(self, size, name=None):
        super().__init__(name=name)
        self.w = tf.Variable(tf.ones([size, size]), name="w")
        self.b = tf.Variable(tf.zeros([size]), name="b", trainable=False)

    @tf.Module.with_name_scope
    def made_inside(self):
        return tf.Variable(1.0, name="v")


class Stack(tf.Module):
    def __init__(self):
        super().__init__()
        self.layers = [Dense(2), {"inner": Dense(3)}]
        self.again = self.layers[0]


def test_finds_variables_and_parts():
    stack = Stack()
    assert len(stack.submodules) == 2
    assert [v.name for v in stack.variables] == ["b:0", "w:0", "b:0", "w:0"]
    assert len(stack.trainable_variables) == 2
    assert len(stack.non_trainable_variables) == 2
    assert stack.name == "stack" and stack.layers[0].name == "dense"


def test_name_scope():
    assert Dense(2, name="first").made_inside().name == "first/v:0"
    with pytest.raises(ValueError, match="not a valid module name"):
        tf.Module(name="1 a")


def test_differentiates_by_its_variables():
    layer = Dense(2)
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.ones([1, 2]) @ layer.w)
    (dw,) = tape.gradient(y, layer.trainable_variables)
    assert dw.numpy().tolist() == [[1, 1], [1, 1]]
