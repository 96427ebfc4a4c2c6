"""Records what TensorFlow answers for SavedModels and graphs that C++ programs write.

    python tools/record_cpp_models.py [NAME …]      # with TensorFlow, after `./dev build`

``build/written_models`` saves each, and says what it was asked and answered. TensorFlow loads and
runs it, by its objects and as a graph of TensorFlow 1 that a session runs; its answer and a digest
of what it read go to ``tests/python/data/written_models_cpp``.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import hashlib  # noqa: E402
import subprocess  # noqa: E402

import numpy as np  # noqa: E402

DATA = ROOT / "tests/python/data/written_models_cpp"
NAMES = ("perceptron", "pictures", "rows", "block", "choices", "plain_ops", "session")


def array_of(line):
    rank, *numbers = line.split()
    sizes = [int(n) for n in numbers[: int(rank)]]
    return np.array(numbers[int(rank) :], np.float32).reshape(sizes)


def model_answers(tf, folder, x):
    import record_written_models as recording

    signature = tf.saved_model.load(str(folder)).signatures["serving_default"]
    dtype = signature.structured_input_signature[1]["x"].dtype
    calls = {"serving_default": {"x": tf.constant(x, dtype).numpy()}}
    y = signature(x=tf.constant(x, dtype))["y"].numpy()
    recording.check_session(tf, folder, calls, {"serving_default/out/y": y})
    return y, folder / "saved_model.pb"


def graph_answers(tf, folder, x):
    """The graph's variable gets the value that the program gave it."""
    from google.protobuf import text_format

    v1 = tf.compat.v1
    graph = v1.GraphDef.FromString((folder / "graph.pb").read_bytes())
    assert text_format.Parse((folder / "graph.pbtxt").read_text(), v1.GraphDef()) == graph
    with v1.Graph().as_default() as made, v1.Session() as session:
        tf.import_graph_def(graph, name="")
        (assign,) = [op for op in made.get_operations() if op.type == "AssignVariableOp"]
        session.run(assign)
        last = [op for op in made.get_operations() if op.type == "Identity"][-1]
        return session.run(last.outputs[0], {"x:0": x}), folder / "graph.pb"


def main():
    import tensorflow as tf

    DATA.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or NAMES:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / "model"
            done = subprocess.run([ROOT / "build/written_models", name, folder],
                                  capture_output=True, text=True, check=True)  # fmt: skip
            assert not done.stderr, done.stderr
            x, answer = map(array_of, done.stdout.splitlines())
            ask = graph_answers if name == "session" else model_answers
            y, file = ask(tf, folder, x)
            np.testing.assert_allclose(y, answer, rtol=2e-5, atol=1e-6)
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
            np.savez_compressed(DATA / f"{name}.npz", x=x, y=y, digest=digest)
            worst = np.abs(y - answer).max()
            print(f"{name}: TensorFlow {tf.__version__} agrees to {worst:.1e}", flush=True)


if __name__ == "__main__":
    main()
