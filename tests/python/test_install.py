"""Tidemark in TensorFlow's place."""

import subprocess
import sys
import textwrap


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_import_tensorflow_gives_this_package():
    assert (
        run("""
        import tidemark
        tidemark.install_as_tensorflow()
        tidemark.install_as_tensorflow()        # twice is as good as once
        import tensorflow as tf
        import tensorflow.compat.v1 as v1
        import tensorflow.nn
        from tensorflow import errors
        from tensorflow.compiler.tf2xla.python.xla import dynamic_update_slice
        from tensorflow.python.eager import context
        from tensorflow.python.trackable.data_structures import ListWrapper
        assert tf is tidemark and tensorflow.nn is tidemark.nn and errors is tidemark.errors
        assert v1 is tidemark.compat.v1
        context.async_wait()
        x = dynamic_update_slice(tf.zeros([4]), tf.ones([2]), [3])
        print(x.numpy().tolist())
    """)
        == "[0.0, 0.0, 1.0, 1.0]\n"
    )


def test_what_is_not_there_is_an_import_error():
    run("""
        import tidemark
        tidemark.install_as_tensorflow()
        for name in ("tensorflow.nothing", "tensorflow.python.nothing", "tensorflow.nn.relu"):
            try:
                __import__(name)
            except ImportError:
                continue
            raise SystemExit(name)
    """)


def test_the_real_one_is_not_replaced():
    run("""
        import sys, types
        real = types.ModuleType("tensorflow")
        real.__file__ = "somewhere/tensorflow/__init__.py"
        sys.modules["tensorflow"] = real
        import tidemark
        try:
            tidemark.install_as_tensorflow()
        except RuntimeError as error:
            assert "somewhere/tensorflow" in str(error)
        else:
            raise SystemExit("replaced")
        assert sys.modules["tensorflow"] is real
    """)
