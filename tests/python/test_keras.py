"""Keras itself, with Tidemark in TensorFlow's place. Its own tests: tests/keras/run."""

import importlib.util
import os
import subprocess
import sys
import textwrap

import pytest

if importlib.util.find_spec("keras") is None:
    pytest.skip("Keras is not installed", allow_module_level=True)


def run_program(tmp_path, source, *arguments):
    """What a program for TensorFlow prints under the runner."""
    path = tmp_path / "program.py"
    path.write_text(textwrap.dedent(source))
    environ = {k: v for k, v in os.environ.items() if not k.startswith("KERAS")}
    environ["KERAS_HOME"] = str(tmp_path)
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", *arguments, str(path)],
        capture_output=True,
        text=True,
        env=environ,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_tidemark_does_not_load_keras():
    code = "import sys, tidemark; assert 'keras' not in sys.modules and 'h5py' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_keras_comes_under_its_three_names(tmp_path):
    source = """
        import keras
        from tensorflow import keras as other
        import tensorflow as tf
        assert other is keras is tf.keras and keras.backend.backend() == "tensorflow"
        print(tf.keras.layers.Dense(3)(tf.ones([2, 4])).shape)
    """
    assert run_program(tmp_path, source) == "(2, 3)\n"


def test_memory_belongs_to_the_lines_of_the_program(tmp_path):
    source = """
        import tensorflow as tf
        layer = tf.keras.layers.Dense(100)
        y = layer(tf.ones([50, 30]))
        print(tf.memory.report())
    """
    report = run_program(tmp_path, source)
    assert "program.py:4" in report and "keras/src" not in report
