"""While programs run, nearly every live byte has a line and a holder, and the numbers add up."""

import concurrent.futures
import functools
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MIB = 1 << 20
LARGE = {"002_1.py", "two_large_tensors.py"}  # gigabytes
# They take minutes; what they do is looked at for their first seconds.
LONG = {"004_1.py", "004_2.py", "004_3.py", "large_constants.py", "growing_chain.py"}


def programs():
    """The articles' programs where they are, the gallery, Keras's examples."""
    folders = [os.environ.get("ARTICLE_PROGRAMS"), ROOT.parent / "shared/seeds/examples"]
    seeds = next((Path(f) for f in folders if f and Path(f).is_dir()), None)
    found = sorted(seeds.glob("*.py")) if seeds else []
    found += [p for p in sorted((ROOT / "examples" / "gallery").glob("*.py")) if p.stem != "run"]
    found += sorted((ROOT / "examples" / "keras").glob("*.py"))
    return [*found, ROOT / "examples" / "train.py"]


def looked_at(program):
    command = [sys.executable, str(HERE / "attribution.py"), str(program)]
    if program.name in LONG:
        command.insert(2, "--seconds=8")
    done = subprocess.run(command, capture_output=True, text=True, timeout=280)
    assert done.stdout.startswith("{"), done.stderr[-2000:]
    return json.loads(done.stdout)


@functools.cache
def answers():
    """All of them, two at a time."""
    some = [p for p in programs() if p.name not in LARGE]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(some, pool.map(looked_at, some), strict=True))


def check(seen):
    assert seen["status"] == 0
    assert seen["largest_gap"] <= 2 * MIB
    # Of a few kilobytes, one number on its way is more than a hundredth.
    is_little = seen["live"] - seen["known"] <= 512 * seen["looks"]
    assert seen["share"] >= 0.99 or is_little, seen["unknown"]
    assert seen["least"] >= 0.99, seen["worst"]


@pytest.mark.slow
@pytest.mark.parametrize("program", programs(), ids=lambda p: f"{p.parent.name}/{p.name}")
def test_bytes_have_a_line_and_a_holder(program):
    if "keras" in program.read_text() and not importlib.util.find_spec("keras"):
        pytest.skip("Keras is not installed")
    if program.name in LARGE:
        pytest.skip("takes gigabytes")
    check(answers()[program])


FIT = """
import numpy as np, tidemark as tf
keras = tf.keras
x = np.random.default_rng(0).standard_normal((2048, 128)).astype("float32")
y = (x.sum(1) > 0).astype("int32")
model = keras.Sequential([keras.layers.Dense(256, activation="relu") for _ in range(2)]
                         + [keras.layers.Dense(2)])
model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=64, epochs=160, verbose=0, validation_split=0.1)
data = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(1024).batch(64).prefetch(4)
model.fit(data, epochs=160, verbose=0)
"""


@pytest.mark.slow
def test_keras_fit(tmp_path):
    if not importlib.util.find_spec("keras"):
        pytest.skip("Keras is not installed")
    program = tmp_path / "fit.py"
    program.write_text(FIT)
    seen = looked_at(program)
    assert seen["judged"] >= 5
    check(seen)
