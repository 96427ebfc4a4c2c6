"""SavedModels that TensorFlow made, loaded side by side with TensorFlow: a Keras MLP, CNN and
LSTM, a transformer with control flow and a lookup table, a classifier frozen by TensorFlow 1, a
text model with string ops. The files are those that the tests read
(tests/python/data/saved_models).

Measured is what a program sees that has imported the library, ``tf.saved_model`` with it, and
computed something: the time of the load, that of load and the first answers of all signatures that
are recorded, the memory that both added (its own, and with the library's code that was touched
first, which other processes share), and, from the process's start, the time and memory of all of
it, the import included. Answers are held against the recorded ones.
"""

from __future__ import annotations

import os
import tempfile
import time
import zipfile
from functools import partial

from case import Case, InPython, Row
from peers import PROJECT

DATA = PROJECT / "tests/python/data/saved_models"
MODELS = ("mlp", "cnn", "lstm", "transformer", "frozen", "text")


def _bytes_of(kind):
    """Of this process: all that is resident, or what it has written itself."""
    with open("/proc/self/smaps_rollup") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith(kind + ":")) * 1024


def _calls(name, kind):
    """{signature: {name: array}} of the recorded inputs or outputs."""
    import numpy as np

    found, recorded = {}, np.load(DATA / f"{name}.npz")
    for key in recorded:
        signature, side, tensor = key.split("/", 2)
        if side == kind:
            found.setdefault(signature, {})[tensor] = recorded[key]
    return found


def _apart(got, wanted):
    import numpy as np

    if wanted.dtype.kind in "Sb":
        return 0.0 if np.asarray(got).astype(wanted.dtype).tolist() == wanted.tolist() else 1.0
    scale = max(1.0, float(np.abs(wanted).max(initial=0)))
    return float(np.abs(np.asarray(got) - wanted).max(initial=0)) / scale


def _seconds_alive():
    """Since the process began."""
    with open("/proc/self/stat") as file:
        begun = int(file.read().rpartition(")")[2].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - begun


def _measured(name, tf):
    load = tf.saved_model.load  # some modules of it are imported with the first use
    float(tf.reduce_sum(tf.ones([2, 2])))  # what the first op of a process costs is no model's
    inputs, outputs = _calls(name, "in"), _calls(name, "out")
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(DATA / f"{name}.zip") as file:
            file.extractall(folder)
        own, resident, begin = _bytes_of("Private_Dirty"), _bytes_of("Rss"), time.perf_counter()
        model = load(folder)
        loaded = time.perf_counter() - begin
        results = {
            signature: model.signatures[signature](
                **{key: tf.constant(value) for key, value in given.items()}
            )
            for signature, given in inputs.items()
        }
        answered = time.perf_counter() - begin
        alive, whole = _seconds_alive(), _bytes_of("Rss")
        own = _bytes_of("Private_Dirty") - own
    apart = [
        _apart(results[signature][key].numpy(), value)
        for signature, wanted in outputs.items()
        for key, value in wanted.items()
    ]
    return {
        "load": 1e3 * loaded,
        "answer": 1e3 * answered,
        "own_mib": own / 2**20,
        "mib": (whole - resident) / 2**20,
        "all_ms": 1e3 * alive,
        "all_mib": whole / 2**20,
        "apart": max(apart),
    }


def tidemark(name, options):
    import tidemark as tf

    return _measured(name, tf)


def tensorflow(name, options):
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(2)
    tf.config.threading.set_inter_op_parallelism_threads(2)
    return _measured(name, tf)


def _rows(name):
    def row(what, measurement, unit, bar=0.3):
        return Row(
            f"{name}: {what}",
            f"tidemark {name}.{measurement}",
            f"tensorflow {name}.{measurement}",
            at_most_ratio=bar,
            unit=unit,
            peer_label="tf",
        )

    return (
        row("load", "load", "ms"),
        row("load, answer", "answer", "ms", None),
        row("own memory", "own_mib", "MiB"),
        row("memory with code", "mib", "MiB", None),
        row("process, time", "all_ms", "ms"),
        row("process, memory", "all_mib", "MiB"),
        Row(f"{name}: apart", f"tidemark {name}.apart", at_most=1e-4),
    )


_TWO = (("TIDEMARK_NUM_THREADS", "2"),)

CASE = Case(
    about="SavedModels of TensorFlow, loaded and asked once, against TensorFlow",
    subjects=[
        one
        for name in MODELS
        for one in (
            InPython(f"tensorflow {name}", partial(tensorflow, name), "tf"),
            InPython(f"tidemark {name}", partial(tidemark, name), "tidemark", variables=_TWO),
        )
    ],
    rows=[row for name in MODELS for row in _rows(name)],
)
