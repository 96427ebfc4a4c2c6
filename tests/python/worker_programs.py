"""Programs that the tests of workers run, one process each: worker_programs.py NAME arguments…"""

import json
import os
import signal
import sys
import time

import numpy as np

import tidemark as tf


def data(rows=56):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(rows, 4)).astype(np.float32)
    return x, x.sum(axis=1, keepdims=True)


def keras_model(strategy, width):
    """With normalisation over the whole batch."""
    keras = tf.keras
    with strategy.scope():

        def dense(size, seed):
            initial = keras.initializers.GlorotUniform(seed)
            # A bias in front of a normalisation has no gradient but rounding errors.
            return keras.layers.Dense(size, use_bias=seed > 1, kernel_initializer=initial)

        model = keras.Sequential(
            [
                keras.Input((4,)),
                dense(int(width), 1),
                keras.layers.BatchNormalization(synchronized=True),
                keras.layers.ReLU(),
                dense(1, 2),
            ]
        )
        model.compile("adam", "mse", metrics=["mae"])
    return model


def values_of(model):
    """Of the model and of what its optimizer keeps. Reading some of them takes all workers."""
    kept = model.optimizer.variables[2:]
    return [w.tolist() for w in model.get_weights()], [v.numpy().tolist() for v in kept]


def keras_fit(folder="", die_at="-1", shard=None, width="6"):
    """Losses, metrics, predictions, weights."""
    keras = tf.keras
    strategy = tf.distribute.MultiWorkerMirroredStrategy(shard=shard or None)
    x, y = data()
    model = keras_model(strategy, width)

    class Die(keras.callbacks.Callback):
        def on_train_batch_begin(self, batch, logs=None):
            if strategy._rank == 1 and int(model.optimizer.iterations) == int(die_at):
                os.kill(os.getpid(), signal.SIGKILL)

    rows = tf.data.Dataset.from_tensor_slices((x, y)).batch(28)
    callbacks = [Die()]
    if folder:
        callbacks.append(keras.callbacks.BackupAndRestore(folder, delete_checkpoint=False))
    history = model.fit(rows, epochs=3, verbose=0, callbacks=callbacks).history
    predicted = model.predict(rows, verbose=0)
    evaluated = model.evaluate(rows, verbose=0)
    weights, momentum = values_of(model)
    return {
        "loss": history["loss"],
        "mae": history["mae"],
        "evaluated": evaluated,
        "predicted": [list(predicted.shape), predicted.sum().item()],
        "weights": weights,
        "momentum": momentum,
        "kept": sum(
            int(tf.size(getattr(v.value, "_first", v.value))) for v in model.optimizer.variables[2:]
        ),
    }


def keras_saved(folder, how, shard=None):
    """Trains and saves in three ways, each worker under a name of its own, or restores what the
    first one saved in each of them: what there is then."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy(shard=shard or None)
    x, y = data()
    rows = tf.data.Dataset.from_tensor_slices((x, y)).batch(28)
    name = os.path.join(folder, str(strategy._rank if how == "write" else 0))
    model = keras_model(strategy, 1500)
    checkpoint = tf.train.Checkpoint(model=model, optimizer=model.optimizer)
    if how == "write":
        model.fit(rows, epochs=1, verbose=0)
        model.save_weights(f"{name}.weights.h5")
        model.save(f"{name}.keras")
        checkpoint.write(name)
        return [*values_of(model), model.evaluate(rows, verbose=0)]
    checkpoint.read(name)
    with strategy.scope():
        # What the optimizer keeps is made only now, and restored.
        model.optimizer.build(model.trainable_variables)
        loaded = tf.keras.models.load_model(f"{name}.keras")
    weights = keras_model(strategy, 1500)
    weights.load_weights(f"{name}.weights.h5")
    return [
        [*values_of(model), model.evaluate(rows, verbose=0)],
        [*values_of(loaded), loaded.evaluate(rows, verbose=0)],
        [weights.get_weights()[0].tolist()],
    ]


def overlapped():
    """What a step was planned to take, and what it took; what 100 more left behind."""
    import this_device
    from test_worker_overlap import rows, trainer
    from workers import strategy_of

    config = json.loads(os.environ["TF_CONFIG"])
    strategy = strategy_of(None, config["task"]["index"], config["cluster"]["worker"])
    step, _ = trainer(strategy)
    step = tf.function(step.python_function, memory_budget="1GiB")
    x = rows(strategy._rank)
    plan = step.plan(x)
    this_device.release()
    for _ in range(3):
        step(x)
    before = this_device.stats().live
    this_device.reset_peak()
    step(x)
    used = this_device.stats().peak - before
    for _ in range(100):
        step(x)
    return {
        "plan": plan.peak,
        "used": used,
        "begins": sum(s.op == "begin_all_reduce" for s in plan.steps),
        "grown": this_device.stats().live - before,
    }


def watched():
    """What somebody who watches this worker is shown."""
    from tidemark._explain import serving
    from tidemark.cli import watch

    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    kept = tf.ones([(1 + strategy._rank) << 18])
    tf.memory.allow_watching()
    strategy._group.barrier()
    until, all_heard = time.monotonic() + 10, False
    while not all_heard and time.monotonic() < until:
        time.sleep(0.1)
        moment = serving.ask(os.getpid())
        all_heard = min(one[2] for one in moment["workers"]) >= 1 << 20
    strategy._group.barrier()
    del kept
    return watch.view(os.getpid(), moment, [moment["stats"]["live"]])


def tutorial():
    """As programs for TensorFlow's strategy are written: only TF_CONFIG says who there is."""
    tf.install_as_tensorflow()
    import tensorflow

    config = json.loads(os.environ["TF_CONFIG"])
    batch = 8 * len(config["cluster"]["worker"])
    strategy = tensorflow.distribute.MultiWorkerMirroredStrategy()
    layers = tensorflow.keras.layers
    tensorflow.keras.utils.set_random_seed(5)  # all shuffle alike
    images = np.random.default_rng(0).integers(0, 255, size=(256, 12, 12)) / np.float32(255)
    labels = (images.mean(axis=(1, 2)) > 0.5).astype(np.int64)
    rows = tensorflow.data.Dataset.from_tensor_slices((images, labels))
    rows = rows.shuffle(256).repeat().batch(batch)
    with strategy.scope():
        model = tensorflow.keras.Sequential(
            [
                layers.InputLayer(shape=(12, 12)),
                layers.Reshape(target_shape=(12, 12, 1)),
                layers.Conv2D(8, 3, activation="relu"),
                layers.Flatten(),
                layers.Dense(16, activation="relu"),
                layers.Dense(2),
            ]
        )
        model.compile(
            loss=tensorflow.keras.losses.SparseCategoricalCrossentropy(from_logits=True),
            optimizer=tensorflow.keras.optimizers.SGD(learning_rate=0.01),
            metrics=["accuracy"],
        )
    return model.fit(rows, epochs=3, steps_per_epoch=10, verbose=0).history["loss"]


def fault(how, who):
    """Adds up until one worker does something else; then what the others were told, and when."""
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    me = strategy._rank == int(who)
    began = time.monotonic()
    for i in range(100000):
        if i == 10 and me:
            began = time.monotonic()
            if how == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            if how == "stop":
                os.kill(os.getpid(), signal.SIGSTOP)
            if how == "raise":
                raise ValueError("row 7 is bad")
            if how == "sleep":
                time.sleep(30)
        try:
            if i == 10:
                began = time.monotonic()
            strategy._group.all_reduce([tf.ones([100])])
        except tf.errors.UnavailableError as error:
            return error.message, time.monotonic() - began
    return None


if __name__ == "__main__":
    answer = globals()[sys.argv[1]](*sys.argv[2:])
    print(json.dumps(answer), flush=True)
