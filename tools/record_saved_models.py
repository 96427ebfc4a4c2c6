"""Records SavedModels that TensorFlow writes, with inputs and what it answers.

    python tools/record_saved_models.py [NAME …]          # with a Python that has TensorFlow

Writes ``tests/python/data/saved_models``: the folder of each of ``saved_model_programs.py`` as
``NAME.zip``, and ``NAME.npz`` with ``SIGNATURE/in/NAME`` and ``SIGNATURE/out/NAME``.
"""

from __future__ import annotations

import os
import sys
import tempfile
import zipfile
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
TESTS = Path(__file__).resolve().parent.parent / "tests/python"
sys.path.insert(0, str(TESTS))
DATA = TESTS / "data/saved_models"

import numpy as np  # noqa: E402
import saved_model_programs as programs  # noqa: E402


def answers(tf, folder, calls):
    """What the model gives when it was just loaded, a signature at a time."""
    found = {}
    for name, inputs in calls.items():
        model = tf.saved_model.load(str(folder), tags=["serve"])
        given = {key: tf.constant(value) for key, value in inputs.items()}
        for key, value in inputs.items():
            found[f"{name}/in/{key}"] = value
        for key, value in model.signatures[name](**given).items():
            value = np.asarray(value.numpy())
            found[f"{name}/out/{key}"] = value.astype("S") if value.dtype == object else value
    return found


def pack(folder, path):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        for part in sorted(folder.rglob("*")):
            if part.is_file():
                file.write(part, part.relative_to(folder).as_posix())


def main():
    import tensorflow as tf

    DATA.mkdir(parents=True, exist_ok=True)
    for name in sys.argv[1:] or programs.PROGRAMS:
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place) / name
            tf.keras.utils.set_random_seed(1)
            calls = programs.PROGRAMS[name](tf, str(folder))
            np.savez_compressed(DATA / f"{name}.npz", **answers(tf, folder, calls))
            pack(folder, DATA / f"{name}.zip")
        print(f"{name}: {(DATA / f'{name}.zip').stat().st_size} bytes")


if __name__ == "__main__":
    main()
