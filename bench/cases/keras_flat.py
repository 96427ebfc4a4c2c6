"""Keras in loops that grow on TensorFlow: new models, predictions, epochs, models from files."""

import os
import tempfile

from case import Case, InPython, Options, Row
from timing import resident_bytes


def small_model(keras):
    layers = keras.layers
    model = keras.Sequential(
        [layers.Input((20,)), layers.Dense(64, activation="relu"), layers.Dense(3)]
    )
    model.compile(optimizer="adam", loss="mse")
    return model


def rows_of(count):
    import numpy

    rng = numpy.random.default_rng(0)
    x = rng.standard_normal((count, 20), dtype=numpy.float32)
    return x, rng.standard_normal((count, 3), dtype=numpy.float32)


def new_models(tf):
    x, y = rows_of(64)

    def round_():
        tf.keras.backend.clear_session()
        small_model(tf.keras).fit(x, y, batch_size=16, verbose=0)

    return round_


def predictions(tf):
    model, (x, _) = small_model(tf.keras), rows_of(32)
    return lambda: model.predict(x, verbose=0)


def epochs(tf):
    x, y = rows_of(2000)
    model = small_model(tf.keras)
    pairs = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(2000).batch(100).prefetch(2)
    return lambda: model.fit(pairs, verbose=0)


def loads(tf):
    """A model from its file, used once and dropped."""
    folder = tempfile.TemporaryDirectory()
    path, (x, _) = os.path.join(folder.name, "model.keras"), rows_of(32)
    small_model(tf.keras).save(path)

    def round_():
        assert folder  # stays as long as the loop
        tf.keras.models.load_model(path)(x)

    return round_


def saved_models(tf):
    """The same from a SavedModel."""
    folder = tempfile.TemporaryDirectory()
    path, (x, _) = os.path.join(folder.name, "model"), rows_of(32)
    small_model(tf.keras).export(path, verbose=False)

    def round_():
        assert folder
        model = tf.saved_model.load(path)
        model.serve(tf.constant(x))

    return round_


LOOPS = {"models": (new_models, 200), "predicts": (predictions, 10_000), "epochs": (epochs, 200),
         "loads": (loads, 500), "saved models": (saved_models, 500)}  # fmt: skip


def growth(name, library):
    def run(options: Options):
        import gc

        if library == "tidemark":
            import tidemark as tf
        else:
            import tensorflow as tf
        make, rounds = LOOPS[name]
        rounds = options.pick(rounds, rounds // 20)
        round_ = make(tf)
        # Keras's models are cycles. Python looks for those among its old objects only when a
        # quarter more have come up, which takes some hundred rounds: that is the level.
        for _ in range(min(max(rounds // 2, 5), 300)):
            round_()
        gc.collect()
        before = resident_bytes()
        for _ in range(rounds):
            round_()
        gc.collect()
        return {"mib": (resident_bytes() - before) / 2**20}

    return InPython(f"{library} {name}", run, environment=library, rounds=1)


CASE = Case(
    about="resident memory over new Keras models, predictions, epochs, loads; against TensorFlow",
    subjects=[growth(name, library) for name in LOOPS for library in ("tidemark", "tf")],
    rows=[
        Row(
            f"{rounds} {name}",
            f"tidemark {name}.mib",
            f"tf {name}.mib",
            at_most=2,
            unit="MiB",
            peer_label="TensorFlow",
        )
        for name, (_, rounds) in LOOPS.items()
    ],
    rounds=1,
    worst_of=frozenset(f"tidemark {name}.mib" for name in LOOPS),
)
