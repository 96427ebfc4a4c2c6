"""Keras itself on Tidemark and on TensorFlow: training, inference, and what they take."""

import time

from case import CODE_KEPT, Case, InPython, Options, Row
from timing import resident_bytes, resident_peak_bytes, start_resident_peak

# How often the work runs after a first time that traces, and the bars: time, memory. Memory is
# what is over the imports, except for "fit", where it is the whole process.
CALLS = {
    "fit": (2, 0.833, 0.35),
    "ResNet50 step": (8, 1.0, 0.6),
    "ResNet50 of 1": (30, 1.0, 0.6),
    "GPT step": (15, 0.833, 0.5),
    "predict": (100, 0.3, None),
}


KEPT = "tidemark, code kept"  # in which code that only compiling needs is not unmapped


def subject(name, library):
    def run(options: Options):
        if library != "tf":
            import tidemark as tf
        else:
            import tensorflow as tf
        keras = tf.keras
        import keras_models

        before = 0 if name == "fit" else resident_bytes()
        start_resident_peak()
        work = keras_models.WORK[name](keras)
        work()
        best = float("inf")
        for _ in range(options.pick(CALLS[name][0], 1)):
            start = time.perf_counter_ns()
            work()
            best = min(best, time.perf_counter_ns() - start)
        return {"ns": best, "mib": (resident_peak_bytes() - before) / 2**20}

    if library == KEPT:
        return InPython(f"{library} {name}", run, environment="tidemark", variables=CODE_KEPT)
    return InPython(f"{library} {name}", run, environment=library)


def rows(name):
    _, time_bar, memory_bar = CALLS[name]
    ours, theirs = f"tidemark {name}", f"tf {name}"
    found = [Row(name, f"{ours}.ns", f"{theirs}.ns", time_bar, unit="ns", peer_label="TensorFlow")]
    if memory_bar is not None:
        what = "fit, process" if name == "fit" else f"{name}, memory"
        for label, of, bar in ((what, ours, memory_bar), ("… code kept", f"{KEPT} {name}", None)):
            found.append(
                Row(
                    label,
                    f"{of}.mib",
                    f"{theirs}.mib",
                    bar,
                    unit="MiB",
                    peer_label="TensorFlow",
                )
            )
    return found


CASE = Case(
    about="Keras on Tidemark and on TensorFlow: fit on Fashion-MNIST, ResNet50, a GPT, predict",
    subjects=[
        subject(name, library)
        for name in CALLS
        for library in ("tidemark", "tf", KEPT)
        if library != KEPT or CALLS[name][2] is not None
    ],
    rows=[row for name in CALLS for row in rows(name)],
    rounds=2,
)
