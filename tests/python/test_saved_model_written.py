"""SavedModels that are written: TensorFlow loaded them, and its answers were recorded by
tools/record_written_models.py."""

from __future__ import annotations

import collections
import os
import re
import warnings
import zipfile
from pathlib import Path

import flat
import numpy as np
import pytest
import saved_model_programs as programs
from tidemark._proto.saved_model import SavedModel

import tidemark as tf

DATA = Path(__file__).parent / "data/written_models"


def read_message(folder):
    return SavedModel.FromString((Path(folder) / "saved_model.pb").read_bytes())


def likeness(folder):
    """What a model is made of, whatever its nodes are called: how often there is which node."""
    found = collections.Counter()
    for meta in read_message(folder).meta_graphs:
        places = {"": meta.graph_def.node}
        for function in meta.graph_def.library.function:
            places[re.sub(r"\d+", "", function.signature.name)] = function.node_def
        for nodes in places.values():
            for node in nodes:
                attrs = {k: v for k, v in node.attr.items() if k not in ("value", "shared_name")}
                values = ((k, v.WhichOneof("value"), v.type, v.i, v.b) for k, v in attrs.items())
                found[(node.op, len(node.input), str(sorted(values)))] += 1
        for item in meta.object_graph_def.nodes:
            found[(item.WhichOneof("kind"), len(item.children))] += 1
        for key, signature in meta.signature_def.items():
            found[(key, *sorted(signature.inputs), *sorted(signature.outputs))] += 1
    return found


def recorded_calls(name):
    """(signature, inputs, outputs) of each recorded call."""
    recorded = np.load(DATA / f"{name}.npz")
    for signature in sorted({key.split("/")[0] for key in recorded}):
        parts = {"in": {}, "out": {}}
        for key in recorded:
            at, kind, item = key.split("/")
            if at == signature:
                parts[kind][item] = recorded[key]
        yield signature, parts["in"], parts["out"]


def check(given, wanted):
    assert sorted(given) == sorted(wanted)
    for name, value in wanted.items():
        array = np.asarray(given[name])
        if value.dtype.kind == "S":
            assert array.astype("S").tolist() == value.tolist(), name
        else:
            assert array.dtype == value.dtype, name
            np.testing.assert_allclose(array, value, rtol=2e-5, atol=2e-6, err_msg=name)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_what_tensorflow_answered_is_what_is_answered_here(name, tmp_path):
    with zipfile.ZipFile(DATA / f"{name}.zip") as file:
        file.extractall(tmp_path)
    for signature, inputs, outputs in recorded_calls(name):
        model = tf.saved_model.load(str(tmp_path), tags=["serve"])
        given = {key: tf.constant(value) for key, value in inputs.items()}
        made = model.signatures[signature](**given)
        check({key: value.numpy() for key, value in made.items()}, outputs)


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_what_is_written_now_is_what_tensorflow_loaded(name, tmp_path):
    tf.keras.utils.set_random_seed(1)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        programs.PROGRAMS[name](tf, str(tmp_path / "now"))
    with zipfile.ZipFile(DATA / f"{name}.zip") as file:
        file.extractall(tmp_path / "then")
    assert likeness(tmp_path / "now") == likeness(tmp_path / "then"), (
        "record what TensorFlow answers again: tools/record_written_models.py"
    )


class Words(tf.Module):
    def __init__(self):
        super().__init__()
        keys = tf.constant(["a", "bb"])
        self.table = tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer(keys, tf.constant([1, 2], tf.int64)), -1
        )
        self.seen = tf.lookup.experimental.MutableHashTable(tf.string, tf.float32, [0.0, 0.0])
        self.seen.insert(keys, tf.constant([[1.0, 2.0], [3.0, 4.0]]))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def __call__(self, words):
        return {"ids": self.table.lookup(words), "rows": self.seen.lookup(words)}

    @tf.function(input_signature=[tf.TensorSpec([], tf.string), tf.TensorSpec([2])])
    def learn(self, word, row):
        if tf.reduce_sum(row) > 0:
            self.seen.insert(word, row)
        return self.seen.size()


def test_tables_change_as_before(tmp_path):
    folder = str(tmp_path / "model")
    tf.saved_model.save(Words(), folder)
    model = tf.saved_model.load(folder)
    assert model(tf.constant(["bb", "zz"]))["rows"].numpy().tolist() == [[3, 4], [0, 0]]
    assert int(model.learn("zz", tf.constant([5.0, 6.0]))) == 3
    assert int(model.learn("no", tf.constant([-5.0, 0.0]))) == 3
    assert model(tf.constant(["bb", "zz"]))["rows"].numpy().tolist() == [[3, 4], [5, 6]]
    assert model(tf.constant(["bb", "zz"]))["ids"].numpy().tolist() == [2, -1]


def test_ops_of_ours_come_back_as_they_were(tmp_path):
    """TensorFlow has neither; it runs what they are made of."""
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.nn.gelu(x, approximate=True),
        input_signature=[tf.TensorSpec([None, 4], tf.float32)],
    )
    tf.saved_model.save(module, str(tmp_path / "model"))
    (call,) = [
        node
        for function in read_message(tmp_path / "model").meta_graphs[0].graph_def.library.function
        for node in function.node_def
        if "_tidemark_op" in node.attr
    ]
    assert (call.op, call.attr["_tidemark_op"].s) == ("PartitionedCall", b"gelu")
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    concrete = loaded.f.concrete_functions[0]
    assert [o.type for o in concrete.graph.get_operations()].count("Tidemark>gelu") == 1
    x = np.linspace(-3, 3, 8, dtype=np.float32).reshape(2, 4)
    np.testing.assert_array_equal(loaded.f(x), module.f(x))


def test_what_tensorflow_has_no_form_for_is_named(tmp_path):
    module = tf.Module()
    module.f = tf.function(
        lambda x: tf.linalg.logm(x), input_signature=[tf.TensorSpec([2, 2], tf.complex64)]
    )
    with pytest.warns(UserWarning, match=r"has no op for logm \(.*test_saved_model_written.py:\d+"):
        tf.saved_model.save(module, str(tmp_path / "model"))
    assert os.listdir(tmp_path / "model") == ["saved_model.tidemark"]
    np.testing.assert_allclose(
        tf.saved_model.load(str(tmp_path / "model")).f(np.eye(2, dtype=np.complex64)), 0
    )


def test_other_files_stay_where_a_model_is_written_again(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(1.0)
    folder = tmp_path / "model"
    tf.saved_model.save(module, str(folder))
    (folder / "assets.extra").mkdir()
    (folder / "assets.extra" / "notes.txt").write_text("kept")
    module.v.assign(2.0)
    tf.saved_model.save(module, str(folder) + "/")
    assert sorted(os.listdir(folder)) == ["assets", "assets.extra", "saved_model.pb", "variables"]
    assert (folder / "assets.extra" / "notes.txt").read_text() == "kept"
    assert float(tf.saved_model.load(str(folder)).v) == 2.0
    assert os.listdir(tmp_path) == ["model"]


def test_the_checkpoint_inside_is_one(tmp_path):
    module = tf.Module()
    module.inner = tf.Module()
    module.inner.w = tf.Variable([1.0, 2.0], name="w")
    tf.saved_model.save(module, str(tmp_path / "model"))
    prefix = str(tmp_path / "model/variables/variables")
    assert dict(tf.train.list_variables(prefix))["inner/w/.ATTRIBUTES/VARIABLE_VALUE"] == [2]
    module.inner.w.assign([0.0, 0.0])
    tf.train.Checkpoint(module).restore(prefix).expect_partial()
    assert module.inner.w.numpy().tolist() == [1.0, 2.0]


def test_saving_again_and_again_is_flat(tmp_path):
    words = Words()
    flat.assert_flat(lambda: tf.saved_model.save(words, str(tmp_path / "model")), 20)


class Greeter(tf.Module):
    def __init__(self, path):
        super().__init__()
        self.words = tf.saved_model.Asset(path)

    @tf.function(input_signature=[])
    def greet(self):
        return {"words": tf.io.read_file(self.words.asset_path)}


def test_files_of_a_model_go_with_it(tmp_path):
    (tmp_path / "words.txt").write_text("hello")
    tf.saved_model.save(Greeter(str(tmp_path / "words.txt")), str(tmp_path / "one"))
    (tmp_path / "words.txt").unlink()
    (tmp_path / "one").rename(tmp_path / "elsewhere")
    loaded = tf.saved_model.load(str(tmp_path / "elsewhere"))
    copy = str(tmp_path / "elsewhere/assets/words.txt")
    assert loaded.words.asset_path.numpy().decode() == copy
    assert loaded.greet()["words"].numpy() == b"hello"
    tf.saved_model.save(loaded, str(tmp_path / "two"))  # with the file, though it was only loaded
    (tmp_path / "elsewhere").rename(tmp_path / "gone")
    again = tf.saved_model.load(str(tmp_path / "two"))
    assert again.greet()["words"].numpy() == b"hello"


def test_a_missing_file_of_a_model_is_named(tmp_path):
    with pytest.raises(tf.errors.NotFoundError, match="none.txt is no file"):
        tf.saved_model.save(Greeter(str(tmp_path / "none.txt")), str(tmp_path / "model"))
    assert not (tmp_path / "model").exists()


WINDOWS = [
    (kind, rank, padding, step)
    for kind in ("convolution", "max_pool", "avg_pool")
    for rank in (3, 4, 5)
    for padding in ("SAME", "VALID", "EXPLICIT")
    for step in (1, 2)
]


@pytest.mark.parametrize(("kind", "rank", "padding", "step"), WINDOWS)
def test_windows_are_made_of_what_tensorflow_has(kind, rank, padding, step, tmp_path):
    """What TensorFlow has no op for is a function of its ops, which computes the same."""
    from tidemark._tidemark import call

    count = rank - 2
    x = np.random.default_rng(rank).normal(size=(2, 7, 6, 5, 4)[-rank:]).astype(np.float32)
    inputs = [x]
    attrs = {"strides": [step] * count, "padding": padding}
    if padding == "EXPLICIT":
        attrs["explicit_paddings"] = [1, 0, 1, 1, 0, 1][: 2 * count]
    if kind == "convolution":  # of two groups
        inputs.append(np.random.default_rng(1).normal(size=(*(3, 2, 2)[:count], 2, 6)))
        inputs[1] = inputs[1].astype(np.float32)
    else:
        attrs["ksize"] = [3, 2, 2][:count]
    module = tf.Module()
    signature = [tf.TensorSpec([None, *value.shape[1:]], tf.float32) for value in inputs[:1]]
    module.f = tf.function(lambda x: call(kind, (x, *inputs[1:]), attrs), signature)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that TensorFlow has no form for it
        tf.saved_model.save(module, tmp_path)
    message = read_message(tmp_path)
    for function in message.meta_graphs[0].graph_def.library.function:
        for node in function.node_def:  # as if nobody knew which op of ours it was
            for name in [name for name in node.attr if name.startswith("_tidemark")]:
                del node.attr[name]
    (tmp_path / "saved_model.pb").write_bytes(message.SerializeToString())
    made = tf.saved_model.load(tmp_path).f(tf.constant(x))
    np.testing.assert_allclose(made, call(kind, inputs, attrs), rtol=1e-5, atol=1e-5)


def test_a_list_of_one_is_joined(tmp_path):
    module = tf.Module()
    module.f = tf.function(lambda x: tf.concat([x], 0) + 1.0, [tf.TensorSpec([None], tf.float32)])
    tf.saved_model.save(module, tmp_path)
    functions = read_message(tmp_path).meta_graphs[0].graph_def.library.function
    assert not [n for f in functions for n in f.node_def if n.op == "ConcatV2" and len(n.input) < 3]
    assert tf.saved_model.load(tmp_path).f(tf.constant([1.0])).numpy() == [2.0]
