"""Models that C++ programs save: TensorFlow answers what the program did, and so do those who read
them here. What TensorFlow said was recorded by tools/record_cpp_models.py."""

import hashlib
import subprocess
from pathlib import Path

import numpy as np
import pytest

import tidemark as tf

BUILD = Path(__file__).parents[2] / "build"
PROGRAM = BUILD / "written_models"
DATA = Path(__file__).parent / "data" / "written_models_cpp"
MODELS = ("perceptron", "pictures", "rows", "block", "choices", "plain_ops", "session")
pytestmark = pytest.mark.skipif(not PROGRAM.exists(), reason="needs the build folder")


def array_of(line):
    rank, *numbers = line.split()
    sizes = [int(n) for n in numbers[: int(rank)]]
    return np.array(numbers[int(rank) :], np.float32).reshape(sizes)


def written(name, folder):
    """(question, answer) of the program, which saves the model."""
    done = subprocess.run(
        [PROGRAM, name, folder], capture_output=True, text=True, check=True, timeout=60
    )
    assert not done.stderr
    question, answer = map(array_of, done.stdout.splitlines())
    return question, answer


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", MODELS[:-1])
def test_models_give_here_and_in_tensorflow_what_the_program_gave(name, tmp_path):
    question, answer = written(name, tmp_path / "model")
    recorded = np.load(DATA / f"{name}.npz")
    np.testing.assert_allclose(question, recorded["x"], rtol=1e-6)
    np.testing.assert_allclose(answer, recorded["y"], rtol=2e-5, atol=1e-6)
    assert digest(tmp_path / "model/saved_model.pb") == str(recorded["digest"]), (
        "record what TensorFlow answers again: tools/record_cpp_models.py"
    )
    serve = tf.saved_model.load(str(tmp_path / "model")).signatures["serving_default"]
    x = tf.constant(question, serve.structured_input_signature[1]["x"].dtype)
    np.testing.assert_allclose(serve(x=x)["y"], answer, rtol=1e-6, atol=1e-6)


def test_a_graph_of_sessions_is_written_as_bytes_and_as_text(tmp_path):
    question, answer = written("session", tmp_path)
    recorded = np.load(DATA / "session.npz")
    np.testing.assert_allclose(answer, recorded["y"], rtol=2e-5)
    assert digest(tmp_path / "graph.pb") == str(recorded["digest"])
    graph = tf.compat.v1.GraphDef()
    graph.ParseFromString((tmp_path / "graph.pb").read_bytes())
    text = (tmp_path / "graph.pbtxt").read_text()
    for node in graph.node:
        assert f'name: "{node.name}"' in text
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        tf.import_graph_def(graph, name="")
        variable = session.graph.get_operation_by_name("w")
        assert variable.type == "VarHandleOp"
