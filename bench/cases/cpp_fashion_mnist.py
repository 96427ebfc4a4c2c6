"""The main job in C++: Fashion-MNIST, against Keras on Tidemark and against libtorch."""

import json
import re
import sys
import tempfile
import time

from case import CODE_KEPT, Case, InPython, Options, Row
from peers import PROJECT

EPOCHS = 2
EXAMPLE = PROJECT / "examples" / "fashion_mnist"


def in_cpp(options: Options):
    """examples/fashion_mnist/train.cpp as it stands."""
    from user_programs import BUILD, watched

    out, _, mib = watched([BUILD / "fashion_mnist", options.pick(0, 2000), EPOCHS], cwd=BUILD)
    epochs = re.findall(
        r"^(\d+)/\d+ \S+ \S+s ([0-9.]+)ms/step .*val_accuracy: ([0-9.]+)", out, re.M
    )
    lines = (line.strip() for line in (EXAMPLE / "train.cpp").read_text().splitlines())
    return {
        "epoch_ns": min(int(steps) * float(ms) * 1e6 for steps, ms, _ in epochs),
        "mib": mib,
        "missing": 1 - float(epochs[-1][2]),
        "lines": sum(1 for line in lines if line and not line.startswith("//")),
    }


def in_keras(options: Options):
    """examples/fashion_mnist/train.py: its model, its data, its training; not its memory watch."""
    sys.path.insert(0, str(EXAMPLE))
    import data
    import train as program
    from timing import resident_peak_bytes

    import tidemark as tf

    class Clock(tf.keras.callbacks.Callback):
        best = float("inf")

        def on_epoch_begin(self, epoch, logs=None):
            self.start = time.perf_counter_ns()

        def on_epoch_end(self, epoch, logs=None):
            self.best = min(self.best, time.perf_counter_ns() - self.start)

    count = options.pick(None, 2000)
    x, y = data.load("train", count)
    model, clock = program.classifier(EPOCHS * (len(x) // program.BATCH)), Clock()
    history = model.fit(
        x, y, program.BATCH, EPOCHS, validation_data=data.load("t10k", count), verbose=2,
        validation_batch_size=program.BATCH, callbacks=[clock],
    ).history  # fmt: skip
    return {
        "epoch_ns": clock.best,
        "mib": resident_peak_bytes() / 2**20,
        "missing": 1 - history["val_accuracy"][-1],
    }


def in_libtorch(*arguments):
    def run(options: Options):
        from user_programs import unpacked_fashion_mnist, watched, with_libtorch

        program = with_libtorch(PROJECT / "bench" / "libtorch" / "fashion_mnist.cpp")
        with tempfile.TemporaryDirectory() as folder:
            unpacked_fashion_mnist(folder)
            out, _, mib = watched([program, folder, options.pick(EPOCHS, 1), *arguments])
        found = json.loads(out)
        return {"epoch_ns": found["epoch_s"] * 1e9, "mib": mib, "missing": 1 - found["accuracy"]}

    return run


LIBTORCH = ("libtorch", "libtorch nhwc")


def against_libtorch(what, measured, bar, unit):
    return Row(what, f"C++.{measured}", tuple(f"{name}.{measured}" for name in LIBTORCH), bar,
               unit=unit, peer_label="libtorch")  # fmt: skip


CASE = Case(
    about="Fashion-MNIST in C++, against Keras on Tidemark and libtorch (torch's wheel)",
    subjects=[
        InPython("C++", in_cpp, environment="tidemark"),
        InPython("Keras", in_keras, environment="tidemark"),
        InPython("libtorch", in_libtorch(), environment="torch"),
        InPython("libtorch nhwc", in_libtorch("channels_last"), environment="torch"),
        InPython("code kept", in_cpp, environment="tidemark", variables=CODE_KEPT, rounds=1),
    ],
    rows=[
        Row("Fashion-MNIST in C++, an epoch", "C++.epoch_ns", "Keras.epoch_ns", 0.95, unit="ns"),
        against_libtorch("… of libtorch", "epoch_ns", 0.8, "ns"),
        against_libtorch("… whole process", "mib", 0.5, "MiB"),
        Row("  … code kept", "code kept.mib", tuple(f"{n}.mib" for n in LIBTORCH), unit="MiB"),
        Row("  … of Keras", "C++.mib", "Keras.mib", unit="MiB"),
        against_libtorch("… tests it gets wrong", "missing", None, ""),
        Row("… lines of user code", "C++.lines", at_most=60),
    ],
    rounds=2,
)  # fmt: skip
