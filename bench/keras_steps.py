"""The models of models.py in Keras's layers, each with a training step written as users write it.

The step is one ``tf.function`` around the model's call, a tape and the optimizer of Keras.
"""

from __future__ import annotations


def training_step(tf, name, **options):
    """A function that takes one step, traced with ``options`` of tf.function."""
    import numpy

    rng = numpy.random.default_rng(0)
    model, inputs, labels = MODELS[name](tf, rng)
    x, y = tf.constant(inputs), tf.constant(labels)
    optimizer = tf.keras.optimizers.Adam(1e-3)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function(**options)
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
        return loss

    return lambda: step(x, y)


def mlp(tf, rng):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((784,)),
            layers.Dense(512, activation="relu"),
            layers.Dense(512, activation="relu"),
            layers.Dense(10),
        ]
    )
    return model, rng.standard_normal((128, 784), dtype="float32"), rng.integers(0, 10, 128)


def cnn(tf, rng):
    layers = tf.keras.layers
    model = tf.keras.Sequential(
        [
            layers.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPool2D(),
            layers.Flatten(),
            layers.Dense(128, activation="relu"),
            layers.Dense(10),
        ]
    )
    return model, rng.standard_normal((64, 28, 28, 1), dtype="float32"), rng.integers(0, 10, 64)


def gpt(tf, rng, vocabulary=1000, length=128, batch=8, width=256, heads=4, blocks=4):
    layers = tf.keras.layers
    tokens = layers.Input((length,), dtype="int32")
    h = layers.Embedding(vocabulary, width)(tokens)
    for _ in range(blocks):
        seen = layers.LayerNormalization()(h)
        attend = layers.MultiHeadAttention(heads, width // heads)
        h = h + attend(seen, seen, use_causal_mask=True)
        up = layers.Dense(4 * width, activation="gelu")(layers.LayerNormalization()(h))
        h = h + layers.Dense(width)(up)
    logits = layers.Dense(vocabulary)(layers.LayerNormalization()(h))
    given, following = rng.integers(0, vocabulary, (2, batch, length))
    return tf.keras.Model(tokens, logits), given, following


MODELS = {"mlp": mlp, "cnn": cnn, "gpt": gpt}
