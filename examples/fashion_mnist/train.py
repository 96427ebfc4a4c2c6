"""Trains a convolutional classifier on Fashion-MNIST with Keras, and watches its memory.

    python examples/fashion_mnist/train.py [--images N] [--epochs N]

The model is Keras's own, and so are the training loop and the progress bar.
"""

from __future__ import annotations

import argparse
import dataclasses
import resource
import tempfile
import time

import data

import tidemark as tf

layers = tf.keras.layers
BATCH = 100
MIB = 1 << 20


def classifier(steps):
    """A network for pictures of 28 by 28 pixels, to be trained for that many steps."""
    model = tf.keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Rescaling(1 / 255),
            layers.Conv2D(32, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, padding="same", activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dropout(0.3),
            layers.Dense(128, activation="relu"),
            layers.Dropout(0.3),
            layers.Dense(10),
        ]
    )
    model.compile(
        optimizer=tf.keras.optimizers.Adam(tf.keras.optimizers.schedules.CosineDecay(2e-3, steps)),
        loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
        metrics=["accuracy"],
    )
    return model


class MemoryWatch(tf.keras.callbacks.Callback):
    """Notes of a step now and then: (seconds, bytes live before it, highest in it).

    One step, when all is warm, is recorded: what its peak is made of, beside what was planned."""

    def __init__(self, planned, every=10):
        super().__init__()
        self.every, self.notes, self.start = every, [], time.monotonic()
        self.planned, self.items, self.recording = planned, [], None

    def on_train_batch_begin(self, batch, logs=None):
        self.live = tf.memory.stats().live
        tf.memory.reset_peak()
        if batch == self.every - 1 and not self.items:
            self.folder = tempfile.TemporaryDirectory()
            self.recording = tf.memory.record(f"{self.folder.name}/step.tidemark").start()

    def on_train_batch_end(self, batch, logs=None):
        if self.recording is not None:
            path = self.recording.stop()["path"]
            self.items = tf.memory.explain_peak(path, self.planned)
            self.folder.cleanup()
            self.recording = None
        if batch % self.every == 0:
            peak = tf.memory.stats().peak
            self.notes.append((time.monotonic() - self.start, self.live, peak))


@dataclasses.dataclass
class Trained:
    """What a training showed. Memory in bytes: tensors alone, and of the whole process."""

    accuracy: float
    history: dict
    seconds: float
    images_a_second: float
    planned: int
    step: int
    peak: int
    resident_peak: int
    timeline: list
    items: list  # what the peak of a step was made of: (words, bytes)


def planned(model):
    """The plan of a training step, made before anything runs; weights and batch stay outside."""
    model.optimizer.build(model.trainable_variables)
    pictures = tf.TensorSpec([BATCH, 28, 28, 1], tf.uint8)
    return tf.function(model.train_step).plan((pictures, tf.TensorSpec([BATCH], tf.int32)))


def train(images=None, epochs=6):
    tf.keras.utils.set_random_seed(1)
    x, y = data.load("train", images)
    model = classifier(epochs * -(-len(x) // BATCH))
    plan = planned(model)
    print(f"before the first step: {plan.peak / MIB:.2f} MiB planned for each step, beside weights")
    watch, start = MemoryWatch(plan.peak), time.monotonic()
    tf.memory.reset_peak()
    history = model.fit(
        x, y, BATCH, epochs, validation_data=data.load("t10k", images),
        validation_batch_size=BATCH, callbacks=[watch],
    ).history  # fmt: skip
    seconds = time.monotonic() - start
    peak = max([tf.memory.stats().peak, *(note[2] for note in watch.notes)])
    resident = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    step = max(above - live for _, live, above in watch.notes)
    print(
        f"measured: {step / MIB:.2f} MiB for a step, {peak / MIB:.2f} MiB of tensors with weights "
        f"and data, {resident / MIB:.0f} MiB the whole process with Python and Keras"
    )
    print("the peak of a step is made of")
    for words, size in watch.items:
        print(f"  {size / MIB:8.2f} MiB  {words}")
    return Trained(
        accuracy=history["val_accuracy"][-1],
        history=history,
        seconds=seconds,
        images_a_second=epochs * len(x) / seconds,
        planned=plan.peak,
        step=step,
        peak=peak,
        resident_peak=resident,
        timeline=watch.notes,
        items=watch.items,
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--images", type=int, help="train on so many pictures instead of 60,000")
    parser.add_argument("--epochs", type=int, default=6)
    result = train(**vars(parser.parse_args()))
    print(f"test accuracy {result.accuracy:.2%}, {result.images_a_second:.0f} pictures a second")
