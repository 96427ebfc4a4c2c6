"""Graphs as TensorFlow writes them: exchanged with it, rewritten, refused where they are broken."""

from __future__ import annotations

import json
from pathlib import Path

import flat
import graph_exchange
import graph_programs
import numpy as np
import pytest
import tidemark.compat.v1 as tf
from tidemark._v1.graph_def import op_defs, table

from tidemark import _tidemark

DATA = Path(__file__).parent / "data"
MODELS = sorted(graph_exchange.MODELS)
NAMES = json.loads((DATA / "graph_names.json").read_text())
# What has another name here, and why.
OTHER_NAMES = {
    "linspace/Slice:0",  # one op
    "SparseSoftmaxCrossEntropyWithLogits/SparseSoftmaxCrossEntropyWithLogits:0",
    "global_norm/global_norm:0",  # computed inside the clipping
    "einsum/Einsum:0",
    "MatMul_3:0",  # the contraction above is a product here
}


def stored(name):
    return tf.GraphDef.FromString((DATA / "graphs" / name).read_bytes())


def results(graph_def, names, feeds):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        tf.import_graph_def(graph_def, name="")
        fetches = [graph.get_tensor_by_name(name + ":0") for name in names]
        return sess.run(fetches, {name + ":0": value for name, value in feeds.items()})


def expected_of(name):
    with np.load(DATA / f"graphs/{name}.npz") as file:
        return {key: file[key] for key in file.files}


def frozen(name):
    with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
        names = graph_exchange.MODELS[name][1](tf)
        sess.run(tf.global_variables_initializer())
        return tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), names)


# --- with TensorFlow -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("source", ["tensorflow", "ours"])
def test_frozen_graphs_give_tensorflows_results(name, source):
    expected = expected_of(name)
    feeds = graph_exchange.fed(graph_exchange.MODELS[name][0])
    found = results(stored(f"{name}.{source}.pb"), list(expected), feeds)
    for (key, value), got in zip(expected.items(), found, strict=True):
        np.testing.assert_allclose(got, value, rtol=2e-5, atol=2e-6, err_msg=key)


@pytest.mark.parametrize("name", MODELS)
def test_what_tensorflow_read_is_what_is_written_now(name):
    """TensorFlow's results for these bytes are recorded: they hold for what is written today."""
    assert frozen(name) == stored(f"{name}.ours.pb")


@pytest.mark.parametrize("name", sorted(graph_programs.PROGRAMS))
def test_operations_have_tensorflows_names(name):
    with tf.Graph().as_default() as graph:
        made = graph_programs.PROGRAMS[name](tf)
        for item, (expected, _) in zip(made, NAMES[name], strict=True):
            if expected not in OTHER_NAMES:
                assert item.name == expected
                found = graph.as_graph_element(expected)
                assert found.name == expected


def test_types_are_tensorflows_where_one_op_is_one_op():
    same = total = 0
    for name, build in graph_programs.PROGRAMS.items():
        with tf.Graph().as_default():
            for item, (_, kind) in zip(build(tf), NAMES[name], strict=True):
                operation = item if isinstance(item, tf.Operation) else item.op
                same += operation.type == kind
                total += 1
    assert same / total > 0.8


@pytest.mark.parametrize("name", sorted(graph_programs.PROGRAMS))
def test_round_trip(name):
    with tf.Graph().as_default() as graph:
        made = graph_programs.PROGRAMS[name](tf)
        message = graph.as_graph_def()
        names = [item.name for item in made]
        operations = {op.name for op in graph.get_operations()}
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(message, name="")
        for item in names:
            assert graph.as_graph_element(item).name == item
        kept = {node.name for node in graph.as_graph_def().node}
    assert operations <= kept
    assert operations <= {node.name for node in message.node}


# --- messages ------------------------------------------------------------------------------------


def test_bytes_and_text_come_back():
    for path in sorted((DATA / "graphs").glob("*.pb")):
        data = path.read_bytes()
        message = tf.GraphDef.FromString(data)
        assert tf.GraphDef.FromString(message.SerializeToString()) == message
        from tidemark._proto.text import from_text

        assert str(from_text(str(message), tf.GraphDef())) == str(message)


def test_messages_behave():
    node = tf.NodeDef(name="x", op="Placeholder")
    assert not node.HasField("op") or node.op == "Placeholder"
    assert "dtype" not in node.attr
    node.attr["dtype"].type = tf.float32.as_datatype_enum
    node.attr["shape"].shape.dim.add(size=3)
    node.input.extend(["a", "^b"])
    copy = tf.NodeDef()
    copy.CopyFrom(node)
    assert copy == node and copy is not node
    copy.attr["dtype"].type = tf.int32.as_datatype_enum
    assert copy != node
    assert node.attr["dtype"].WhichOneof("value") == "type"
    node.attr["dtype"].i = 3
    assert node.attr["dtype"].WhichOneof("value") == "i"
    with pytest.raises(AttributeError, match="no 'nome' field"):
        node.nome = "y"
    with pytest.raises(TypeError, match="is a string"):
        node.name = 3
    with pytest.raises(ValueError, match="out of its range"):
        tf.AttrValue(i=1 << 70)


def test_written_files(tmp_path):
    with tf.Graph().as_default() as graph:
        tf.add(tf.placeholder(tf.float32, [2], name="x"), 1.0, name="y")
        path = tf.io.write_graph(graph, str(tmp_path), "graph.pb", as_text=False)
        text = tf.train.write_graph(graph, str(tmp_path), "graph.pbtxt")
    message = tf.GraphDef.FromString(Path(path).read_bytes())
    assert [node.name for node in message.node] == ["x", "y/y", "y"]
    assert 'name: "x"' in Path(text).read_text()


# --- parts and maps ------------------------------------------------------------------------------


def test_sub_graphs():
    message = stored("mlp.tensorflow.pb")
    part = tf.graph_util.extract_sub_graph(message, ["probabilities"])
    names = {node.name for node in part.node}
    assert "probabilities" in names and "best" not in names
    with pytest.raises(AssertionError, match="nowhere is not in graph"):
        tf.graph_util.extract_sub_graph(message, ["nowhere"])


def test_inputs_are_mapped_and_elements_returned():
    message = stored("mlp.tensorflow.pb")
    with tf.Graph().as_default() as graph, tf.Session():
        x = tf.constant(graph_exchange.fed(graph_exchange.MODELS["mlp"][0])["x"])
        tensor, operation = tf.import_graph_def(
            message, {"x:0": x}, ["probabilities:0", "best"], name="model"
        )
        assert tensor.name == "model/probabilities:0" and operation.name == "model/best"
        np.testing.assert_allclose(tensor.eval(), expected_of("mlp")["probabilities"], rtol=2e-5)
        with pytest.raises(KeyError):
            graph.get_operation_by_name("model/x")
        with pytest.raises(ValueError, match="not found in graph_def"):
            tf.import_graph_def(message, {"nowhere:0": x})
        with pytest.raises(ValueError, match="already exists"):
            tf.import_graph_def(message, name="model/")
        with pytest.raises(ValueError, match="not found"):
            tf.import_graph_def(message, return_elements=["nowhere:0"])


def test_variables_travel_with_their_initializers():
    with tf.Graph().as_default() as graph:
        v = tf.get_variable("v", initializer=[1.0, 2.0])
        tf.multiply(v, 3.0, name="y")
        step = tf.assign_add(v, [1.0, 1.0])
        names = v.initializer.name, step.op.name
        message = graph.as_graph_def()
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(message, name="")
        with pytest.raises(tf.errors.FailedPreconditionError, match="v"):
            sess.run("y:0")
        sess.run(graph.get_operation_by_name(names[0]))
        assert sess.run("y:0").tolist() == [3.0, 6.0]
        sess.run(names[1])
        assert sess.run("y:0").tolist() == [6.0, 9.0]


def test_attributes_by_tensorflows_names():
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3], name="x")
        y = tf.matmul(x, x, transpose_b=True, name="y")
        assert y.op.type == "MatMul" and y.op.get_attr("transpose_b") is True
        assert y.op.get_attr("T") == tf.float32
        assert list(y.op.node_def.input) == ["x", "x"]
        assert [a.name for a in y.op.op_def.input_arg] == ["a", "b"]
        assert x.op.node_def.attr["shape"].shape.dim[1].size == 3
        with pytest.raises(ValueError, match="no attr named 'stride'"):
            y.op.get_attr("stride")


def test_branches_and_loops_of_functions_are_read():
    message = tf.GraphDef()
    message.node.add(name="x", op="Placeholder").attr["dtype"].type = 1
    call = message.node.add(name="y", op="PartitionedCall", input=["x"])
    call.attr["f"].func.name = "double"
    call.attr["Tin"].list.type.append(1)
    call.attr["Tout"].list.type.append(1)
    function = message.library.function.add()
    function.signature.name = "double"
    function.signature.input_arg.add(name="a", type=1)
    function.signature.output_arg.add(name="b", type=1)
    inner = function.node_def.add(name="sum", op="AddV2", input=["a", "a"])
    inner.attr["T"].type = 1
    function.ret.add(key="b", value="sum:z:0")
    assert results(message, ["y"], {"x": np.float32([1, 2])})[0].tolist() == [2.0, 4.0]
    function.node_def[0].op = "PartitionedCall"
    function.node_def[0].ClearField("input")
    function.node_def[0].ClearField("attr")
    function.node_def[0].input.extend(["a"])
    for key in ("f", "Tin", "Tout"):
        function.node_def[0].attr[key].CopyFrom(call.attr[key])
    with pytest.raises(ValueError, match="calls itself"):
        results(message, ["y"], {"x": np.float32([1, 2])})


# --- broken graphs -------------------------------------------------------------------------------


def good():
    message = tf.GraphDef()
    for name in "ab":
        node = message.node.add(name=name, op="Placeholder")
        node.attr["dtype"].type = 1
        node.attr["shape"].shape.dim.add(size=2)
    total = message.node.add(name="total", op="AddV2", input=["a", "b"])
    total.attr["T"].type = 1
    return message


def refuse(message, error, *words):
    with tf.Graph().as_default() as graph:
        with pytest.raises(error) as raised:
            tf.import_graph_def(message, name="")
        for word in words:
            assert word in str(raised.value)
        return graph


def test_cycles():
    message = good()
    message.node[2].input[1] = "total"
    refuse(message, ValueError, "cycle", "total")


def test_unknown_ops_and_nodes():
    message = good()
    message.node[2].op = "Teleport"
    refuse(message, tf.errors.NotFoundError, "Op type not registered 'Teleport'", "total")
    message = good()
    message.node[2].input[1] = "nobody"
    refuse(message, ValueError, "Unknown input node 'nobody'", "total")
    message = good()
    message.node[2].input[1] = "b:7"
    refuse(message, ValueError, "invalid output 7", "total")
    message = good()
    message.node[2].input[1] = "b:x:y"
    refuse(message, ValueError, "b:x:y", "total")
    message = good()
    message.node[1].name = "a"
    refuse(message, ValueError, "'a' is not unique")
    message = good()
    message.node[1].name = "?"
    refuse(message, ValueError, "invalid characters")


def test_bad_attributes():
    message = good()
    message.node[2].attr["speed"].i = 3
    refuse(message, ValueError, "mentions attr 'speed'", "total")
    message = good()
    del message.node[0].attr["dtype"]
    refuse(message, ValueError, "missing attr 'dtype'", "a")
    message = good()
    message.node[0].attr["dtype"].i = 1
    refuse(message, ValueError, "'dtype'", "a")
    message = good()
    message.node[0].attr["dtype"].type = 77
    refuse(message, ValueError, "77", "a")


def test_wrong_types_counts_and_shapes():
    message = good()
    message.node[1].attr["dtype"].type = 3
    refuse(message, ValueError, "Input 'y'", "int32", "float32", "total")
    message = good()
    message.node[2].input.append("a")
    refuse(message, ValueError, "do not match 3 inputs", "total")
    message = good()
    message.node[1].attr["shape"].shape.dim[0].size = 5
    refuse(message, ValueError, "total")
    message = good()
    for size in (1 << 40, 1 << 40):
        message.node[0].attr["shape"].shape.dim.add(size=size)
    refuse(message, ValueError, "more than any memory holds", "a")
    message = good()
    message.node[0].attr["shape"].shape.dim[0].size = -5
    refuse(message, ValueError, "-5", "a")


def test_bad_constants():
    message = tf.GraphDef()
    node = message.node.add(name="c", op="Const")
    node.attr["dtype"].type = 1
    value = node.attr["value"].tensor
    value.dtype = 1
    value.tensor_shape.dim.add(size=3)
    value.tensor_content = b"1234"
    refuse(message, ValueError, "4 bytes", "c")
    value.tensor_content = b""
    value.float_val.extend([1, 2, 3, 4])
    refuse(message, ValueError, "4 values for 3 elements", "c")
    value.ClearField("float_val")
    value.float_val.extend([1, 2])
    assert results(message, ["c"], {})[0].tolist() == [1, 2, 2]
    value.dtype = 3
    refuse(message, ValueError, "dtype", "c")


def test_no_message_at_all():
    from tidemark._proto.fields import DecodeError

    for data in (b"\xff" * 20, b"\x0a\xff", b"\x08", b"\x0a\x05\x0a\x09abc"):
        with pytest.raises(DecodeError):
            tf.GraphDef.FromString(data)
    with tf.Graph().as_default(), pytest.raises(TypeError, match="GraphDef"):
        tf.import_graph_def({"node": []})
    with pytest.raises(RuntimeError, match="needs a graph"):
        tf.import_graph_def(good())


@pytest.mark.parametrize("name", ["mlp", "cnn", "lstm"])
def test_damaged_bytes_are_refused_or_read_never_worse(name):
    """Bytes changed at random: every outcome is a graph or one of TensorFlow's errors."""
    from tidemark._proto.fields import DecodeError

    data = (DATA / f"graphs/{name}.tensorflow.pb").read_bytes()
    random = np.random.RandomState(7)
    outcomes = {"read": 0, "refused": 0, "malformed": 0}
    for _ in range(400):
        changed = bytearray(data)
        for _ in range(random.randint(1, 4)):
            at = random.randint(len(changed))
            kind = random.randint(3)
            if kind == 0:
                changed[at] = random.randint(256)
            elif kind == 1:
                del changed[at : at + random.randint(1, 9)]
            else:
                changed[at:at] = bytes(random.randint(0, 256, random.randint(1, 5)).tolist())
        try:
            message = tf.GraphDef.FromString(bytes(changed))
        except DecodeError:
            outcomes["malformed"] += 1
            continue
        with tf.Graph().as_default():
            try:
                tf.import_graph_def(message, name="")
                outcomes["read"] += 1
            except (ValueError, tf.errors.NotFoundError, tf.errors.UnimplementedError):
                outcomes["refused"] += 1
    assert min(outcomes.values()) > 0, outcomes


def test_graphs_come_and_go_without_growing():
    message = stored("mlp.tensorflow.pb")
    feeds = graph_exchange.fed(graph_exchange.MODELS["mlp"][0])

    def round_trip():
        with tf.Graph().as_default() as graph, tf.Session(graph=graph) as sess:
            tf.import_graph_def(message, name="")
            sess.run("probabilities:0", {"x:0": feeds["x"]})
            tf.GraphDef.FromString(graph.as_graph_def().SerializeToString())

    flat.assert_flat(round_trip, rounds=120)


def test_definitions_name_ops_as_tensorflow_has_them():
    schemas = [schema for schema in _tidemark.list_ops() if schema["tensorflow"] is not None]
    assert len(schemas) > 150
    for schema in schemas:
        rule = table.rule_of(schema["name"])
        definition = op_defs.find(rule.theirs)
        if definition is None:
            continue  # of a library that another test loaded
        assert table.rule_by_theirs(rule.theirs) is rule
        assert len(rule.inputs) == len(definition.inputs), rule.ours
        assert set(rule.attrs) <= set(definition.attrs), rule.ours
    assert table.rule_of("gelu") is None and table.rule_by_theirs("Gelu") is None
