"""Graphs of functions as messages: TensorFlow's operations, and read back what they were."""

from __future__ import annotations

import flat
import numpy as np
import pytest
from tidemark._proto.framework import GraphDef
from tidemark._v1.graph_def.values import tensor_message

import tidemark as tf

v1 = tf.compat.v1
ROW = [1.0, -0.5]


class Programs:
    """Small functions over one variable."""

    def __init__(self):
        self.v = tf.Variable([1.0, 2.0], name="v")

    def plain(self, x):
        return tf.nn.relu(tf.matmul(x[None], [[1.0, 2.0], [3.0, 4.0]]) + self.v)

    def reading_branch(self, x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x * self.v[0])

    def pure_branch(self, x):
        return tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x * 2.0)

    def loop(self, x):
        return tf.while_loop(
            lambda i, y: i < 3, lambda i, y: (i + 1, y * x + self.v[0]), (tf.constant(0), x)
        )

    def bounded_loop(self, x):
        return tf.while_loop(
            lambda y: tf.reduce_sum(y) < 100.0, lambda y: (y * 2.0,), (x,), maximum_iterations=3
        )

    def update(self, x):
        self.v.assign_add(x)
        return self.v.read_value()

    def switch(self, x):
        branches = [lambda: x + 1.0, lambda: x - 1.0]
        return tf.switch_case(tf.cast(x[0], tf.int32), branches, default=lambda: x * 3.0)

    def nested(self, x):
        def body(i, y):
            return i + 1, tf.cond(y[0] > 3.0, lambda: y + self.v, lambda: y * 2.0)

        return tf.while_loop(lambda i, _: i < 4, body, (tf.constant(0), x))[1]

    def several(self, x):
        first, second = tf.split(x, 2)
        return tf.concat([second, first], 0), tf.reduce_max(x, axis=0, keepdims=True)


# What TensorFlow 2.21 writes for them; each has Placeholder and Identity, too.
EXPECTED = {
    "plain": "AddV2 Const MatMul NoOp ReadVariableOp Relu StridedSlice",
    "reading_branch": "AddV2 Const Greater If Mul NoOp ReadVariableOp StridedSlice Sum",
    "pure_branch": "AddV2 Const Greater Mul StatelessIf Sum",
    "loop": "AddV2 Const Less Mul NoOp ReadVariableOp StridedSlice While",
    "bounded_loop": "AddV2 Const Less LogicalAnd Mul StatelessWhile Sum",
    "update": "AssignAddVariableOp NoOp ReadVariableOp",
    "switch": "AddV2 Cast Const Mul StatelessCase StridedSlice Sub",
    "nested": "AddV2 Const Greater If Less Mul NoOp ReadVariableOp StridedSlice While",
    "several": "ConcatV2 Const Max Split",
}


def concrete(name):
    programs = Programs()
    function = tf.function(getattr(programs, name))
    return programs, function.get_concrete_function(tf.TensorSpec([2], tf.float32))


def operations(message):
    bodies = [node for function in message.library.function for node in function.node_def]
    return {node.op for node in (*message.node, *bodies)}


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_the_operations_are_tensorflows(name):
    _, function = concrete(name)
    message = function.graph.as_graph_def()
    assert isinstance(message, GraphDef)
    assert operations(message) == {*EXPECTED[name].split(), "Placeholder", "Identity"}
    assert message.node[0].name == "x" and message.node[0].attr["shape"].shape.dim[0].size == 2


def results_of(message, x):
    """What a session gets from the message, its variable set to [1, 2] first."""
    names = [node.name for node in message.node]
    outputs = sorted(name for name in names if name.split("_")[0] == "Identity")
    if "v/resource" in names:
        value = message.node.add(name="value", op="Const")
        value.attr["dtype"].type = 1
        value.attr["value"].tensor.CopyFrom(tensor_message(tf.constant([1.0, 2.0])))
        start = message.node.add(name="start", op="AssignVariableOp", input=["v/resource", "value"])
        start.attr["dtype"].type = 1
    with v1.Graph().as_default(), v1.Session() as sess:
        v1.import_graph_def(message, name="")
        if "v/resource" in names:
            sess.run("start")
        return sess.run([f"{name}:0" for name in outputs], {"x:0": x})


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_what_is_read_back_computes_the_same(name):
    _, function = concrete(name)
    message = GraphDef.FromString(function.graph.as_graph_def().SerializeToString())
    expected = tf.nest.flatten(function(tf.constant(ROW)))
    for got, wanted in zip(results_of(message, ROW)[-len(expected) :], expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-6)


def test_effects_stay_in_their_order():
    v = tf.Variable(1.0, name="v")

    @tf.function
    def f(x):
        before = v.read_value()
        v.assign(x)
        return before, v.read_value()

    nodes = {n.name: n for n in f.get_concrete_function(tf.constant(2.0)).graph.as_graph_def().node}
    assert list(nodes["ReadVariableOp"].input) == ["v/resource"]
    assert list(nodes["AssignVariableOp"].input) == ["v/resource", "x", "^ReadVariableOp"]
    assert list(nodes["ReadVariableOp_1"].input) == ["v/resource", "^AssignVariableOp"]


def test_effects_stay_in_order_around_a_branch_without_any():
    v = tf.Variable(1.0, name="v")

    @tf.function
    def f(x):
        v.assign(x)
        chosen = tf.cond(x > 0, lambda: x + 1.0, lambda: x - 1.0)
        return chosen + v

    message = f.get_concrete_function(tf.constant(2.0)).graph.as_graph_def()
    waits_for = {n.name: [i.lstrip("^").partition(":")[0] for i in n.input] for n in message.node}
    seen, open_ = set(), ["ReadVariableOp"]
    while open_:
        seen.add(name := open_.pop())
        open_ += [item for item in waits_for[name] if item not in seen]
    assert "AssignVariableOp" in seen


def test_branches_of_sessions_are_written_too():
    with v1.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2], name="x")
        tf.identity(tf.cond(tf.reduce_sum(x) > 0, lambda: x + 1.0, lambda: x * 2.0), name="y")
        message = graph.as_graph_def()
    assert "StatelessIf" in operations(message) and len(message.library.function) == 2
    with v1.Graph().as_default(), v1.Session() as sess:
        v1.import_graph_def(message, name="")
        assert sess.run("y:0", {"x:0": [1.0, 2.0]}).tolist() == [2.0, 3.0]
        assert sess.run("y:0", {"x:0": [-1.0, -2.0]}).tolist() == [-2.0, -4.0]


def test_names_shapes_and_operations():
    def scale(x, *, factor):
        return x * factor

    spec = tf.TensorSpec([None, 3], tf.float32)
    function = tf.function(scale).get_concrete_function(spec, factor=tf.TensorSpec([], tf.float32))
    message = function.graph.as_graph_def(add_shapes=True)
    assert [n.name for n in message.node if n.op == "Placeholder"] == ["x", "factor"]
    (product,) = [n for n in message.node if n.op == "Mul"]
    assert [d.size for d in product.attr["_output_shapes"].list.shape[0].dim] == [-1, 3]
    types = [operation.type for operation in function.graph.get_operations()]
    assert types == ["Placeholder", "Placeholder", "Mul"]
    product = function.graph.get_operations()[-1]
    assert len(product.inputs) == 2
    assert product.outputs[0].shape.as_list() == [None, 3]


def test_a_resource_of_which_nothing_is_known_is_refused():
    _, function = concrete("reading_branch")
    message = function.graph.as_graph_def()
    for node in message.node:
        if node.name == "v/resource":
            del node.attr["_handle_dtypes"]
    with v1.Graph().as_default(), pytest.raises(ValueError, match="map it to a tensor"):
        v1.import_graph_def(message, name="")


def test_writing_messages_keeps_nothing():
    _, function = concrete("nested")
    flat.assert_flat(lambda: function.graph.as_graph_def().SerializeToString(), 800, warm_up=800)
