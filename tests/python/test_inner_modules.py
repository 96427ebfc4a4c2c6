"""TensorFlow's inner modules over public things, as packages import them."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", "import tidemark; tidemark.install_as_tensorflow()\n"
         + textwrap.dedent(code)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_inner_names_are_the_public_things():
    run("""
        import tensorflow as tf
        from tensorflow.python.framework import dtypes, ops, tensor_shape
        from tensorflow.python.ops import array_ops, math_ops, nn_ops
        import tensorflow.python.util.nest as nest
        assert math_ops.reduce_sum is tf.reduce_sum and dtypes.float32 is tf.float32
        assert array_ops.concat is tf.concat and nest.flatten is tf.nest.flatten
        assert tensor_shape.TensorShape is tf.TensorShape
        assert ops.convert_to_tensor is tf.convert_to_tensor
        assert isinstance(tf.constant(1), ops.EagerTensor)
        with tf.Graph().as_default():
            assert not isinstance(tf.constant(1), ops.EagerTensor)
        from tensorflow.compat.v2 import reduce_sum
        assert reduce_sum is tf.reduce_sum
    """)


def test_every_home_is_there():
    run("""
        from tidemark._tensorflow import inner
        from tidemark._tensorflow.inner.homes import HOMES
        for module, homes in HOMES.items():
            for home in homes:
                inner._loaded(home)
    """)


def test_generated_functions_are_raw_ops_by_position():
    run("""
        import tensorflow as tf
        from tensorflow.python.ops import gen_math_ops
        two = gen_math_ops.mat_mul(tf.ones([2, 2]), tf.ones([2, 2]), transpose_b=True)
        assert two.numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]
    """)


def test_what_is_not_known_says_so():
    run("""
        from tensorflow.python.ops import math_ops
        try:
            math_ops.no_such_function
        except AttributeError as error:
            assert "tensorflow.python.ops.math_ops" in str(error)
        else:
            raise SystemExit("found")
        try:
            from tensorflow.python.ops.math_ops import no_such_function
        except ImportError:
            pass
        else:
            raise SystemExit("imported")
    """)


def test_messages_are_classes_of_protobuf():
    pytest.importorskip("google.protobuf")
    run("""
        from google.protobuf import message
        from tensorflow.core.framework import attr_value_pb2, graph_pb2
        from tensorflow.core.protobuf import config_pb2, struct_pb2
        graph = graph_pb2.GraphDef(node=[{"name": "a", "op": "Const"}])
        assert isinstance(graph, message.Message)
        again = graph_pb2.GraphDef.FromString(graph.SerializeToString())
        assert again.node[0].name == "a"
        assert attr_value_pb2.AttrValue.ListValue(i=[1, 2]).i == [1, 2]
        assert struct_pb2.StructuredValue(int64_value=3).int64_value == 3
        assert config_pb2.ConfigProto(allow_soft_placement=True).allow_soft_placement
    """)


def test_messages_are_ours_without_protobuf():
    run("""
        import sys
        sys.modules["google.protobuf"] = None
        from tensorflow.core.framework import graph_pb2
        import tensorflow as tf
        assert graph_pb2.GraphDef is tf.compat.v1.GraphDef
    """)


def test_the_distribution_tells_the_version():
    run("""
        import importlib.metadata
        import tensorflow as tf
        assert importlib.metadata.version("tensorflow") == tf.__version__
        assert "Tidemark" in importlib.metadata.metadata("tensorflow")["Summary"]
        try:
            importlib.metadata.version("tensorflow-nothing")
        except importlib.metadata.PackageNotFoundError:
            pass
        else:
            raise SystemExit("found")
    """)


def test_a_real_distribution_answers_for_itself(tmp_path):
    folder = tmp_path / "tensorflow-9.9.dist-info"
    folder.mkdir()
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: tensorflow\nVersion: 9.9\n")
    run(f"""
        import importlib.metadata, sys
        sys.path.append({str(tmp_path)!r})
        assert importlib.metadata.version("tensorflow") == "9.9"
    """)


def test_programs_that_use_none_of_it_load_none_of_it():
    run("""
        import sys
        import tensorflow as tf
        tf.add(1, 2)
        loaded = [name for name in sys.modules if "_tensorflow.inner" in name]
        assert not loaded and "importlib.metadata" not in sys.modules, loaded
    """)


def test_nested_structures_have_paths():
    run("""
        from tensorflow.python.util import nest
        tree = {"b": (1, [2]), "a": 3}
        assert nest.flatten_with_tuple_paths(tree) == [
            (("a",), 3), (("b", 0), 1), (("b", 1, 0), 2)]
        assert nest.map_structure_with_paths(lambda p, x: f"{p}={x}", tree) == {
            "a": "a=3", "b": ("b/0=1", ["b/1/0=2"])}
        assert nest.map_structure_up_to({"b": 0, "a": 0}, str, tree) == {
            "a": "3", "b": "(1, [2])"}
        shallow = nest.get_traverse_shallow_structure(lambda s: not isinstance(s, tuple), tree)
        assert shallow == {"a": True, "b": False}
        assert nest.list_to_tuple([1, [2]]) == (1, (2,))
    """)


def test_keras_2_is_missed_by_name():
    run("""
        import os, sys
        os.environ["TF_USE_LEGACY_KERAS"] = "1"
        sys.modules["tf_keras"] = None
        import tensorflow as tf
        try:
            tf.keras
        except (AttributeError, ImportError) as error:
            assert "tf_keras" in str(error)
        else:
            raise SystemExit("found")
    """)


def test_dispatchers_answer_for_foreign_types():
    run("""
        import tensorflow as tf
        from tensorflow.python.util import dispatch

        class Foreign:
            pass

        @dispatch.dispatch_for_types(tf.square, Foreign)
        def square(x, name=None):
            return "squared"

        assert tf.square(Foreign()) == "squared"
        assert tf.square(3).numpy() == 9
    """)


def test_a_checkpoint_may_know_its_root_weakly(tmp_path):
    run(f"""
        import weakref
        import tensorflow as tf

        class Holder(tf.Module):
            def __init__(self):
                super().__init__()
                self.v = tf.Variable(1.0)
                self.checkpoint = tf.train.Checkpoint(root=weakref.ref(self))

        holder = Holder()
        path = holder.checkpoint.write({str(tmp_path / "c")!r})
        holder.v.assign(5.0)
        holder.checkpoint.read(path)
        assert holder.v.numpy() == 1.0
        gone = weakref.ref(holder)
        del holder
        import gc
        gc.collect()
        assert gone() is None
    """)


def test_each_package_of_the_ecosystem_has_a_program_that_can_be_read():
    folder = Path(__file__).resolve().parent.parent / "ecosystem"
    listed = subprocess.run(
        [sys.executable, str(folder / "run"), "--list"], capture_output=True, text=True, check=True
    ).stdout.split("\n")
    names = [line.split()[0] for line in listed if line]
    assert len(names) >= 14
    for name in names:
        program = folder / "programs" / f"use_{name}.py"
        compile(program.read_text(), str(program), "exec")
