"""Records what TensorFlow answers for SavedModels that Tidemark writes.

    python tools/record_written_models.py write FOLDER [NAME …]   # a Python that has Tidemark
    python tools/record_written_models.py answer FOLDER [NAME …]  # one that has TensorFlow

The first writes each of ``tests/python/saved_model_programs.py`` into FOLDER, the second has
TensorFlow load and run it, both by its objects and as a graph of TensorFlow 1 that a session runs,
and puts the folder and the answers into ``tests/python/data/written_models``.
"""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests/python"))
sys.path.insert(0, str(ROOT / "tools"))
DATA = ROOT / "tests/python/data/written_models"

import numpy as np  # noqa: E402
import saved_model_programs as programs  # noqa: E402


def write(folder, names):
    import tidemark

    tidemark.install_as_tensorflow()
    for name in names:
        place = folder / name
        shutil.rmtree(place, ignore_errors=True)
        tidemark.keras.utils.set_random_seed(1)
        calls = programs.PROGRAMS[name](tidemark, str(place))
        inputs = {f"{s}/in/{key}": v for s, given in calls.items() for key, v in given.items()}
        np.savez_compressed(folder / f"{name}.npz", **inputs)
        print(f"{name}: {sorted(os.listdir(place))}")


def as_recorded(value):
    value = np.asarray(value)
    return value.astype("S") if value.dtype == object else value


def check_session(tf, folder, calls, found):
    """The graph alone, as servers run it, answers the same."""
    v1 = tf.compat.v1
    for name, inputs in calls.items():
        with v1.Graph().as_default(), v1.Session() as session:
            meta = v1.saved_model.load(session, ["serve"], str(folder))
            signature = meta.signature_def[name]
            fetches = {key: info.name for key, info in signature.outputs.items()}
            feeds = {signature.inputs[key].name: value for key, value in inputs.items()}
            for key, value in session.run(fetches, feeds).items():
                np.testing.assert_array_equal(as_recorded(value), found[f"{name}/out/{key}"])


def answer(folder, names):
    import record_saved_models as recording
    import tensorflow as tf

    DATA.mkdir(parents=True, exist_ok=True)
    for name in names:
        given, calls = np.load(folder / f"{name}.npz"), {}
        for key in given:
            signature, _, item = key.split("/")
            calls.setdefault(signature, {})[item] = given[key]
        found = recording.answers(tf, folder / name, calls)
        check_session(tf, folder / name, calls, found)
        np.savez_compressed(DATA / f"{name}.npz", **found)
        recording.pack(folder / name, DATA / f"{name}.zip")
        print(f"{name}: TensorFlow {tf.__version__} gives {sum('/out/' in key for key in found)}")


def main():
    what, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    names = sys.argv[3:] or list(programs.PROGRAMS)
    {"write": write, "answer": answer}[what](folder, names)


if __name__ == "__main__":
    main()
