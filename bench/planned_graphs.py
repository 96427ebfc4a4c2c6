"""Training graphs of known models, only to be planned: nothing of them runs.

``GRAPHS[name](tf, keras)`` gives a traced function of one training step and the specs of its
arguments.
"""

from __future__ import annotations


def training(tf, keras, model, *specs):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        gradients = tape.gradient(value, model.trainable_variables)
        for variable, gradient in zip(model.trainable_variables, gradients, strict=True):
            variable.assign_sub(0.01 * tf.convert_to_tensor(gradient))
        return value

    return step, specs


def resnet50(tf, keras, batch=32):
    model = keras.applications.ResNet50(
        weights=None, input_shape=(224, 224, 3), classifier_activation=None
    )
    pictures = tf.TensorSpec((batch, 224, 224, 3))
    return training(tf, keras, model, pictures, tf.TensorSpec((batch,), tf.int32))


def bert_base(tf, keras, batch=8, length=128, width=768, heads=12, blocks=12, words=30522):
    layers = keras.layers
    tokens = layers.Input((length,), dtype="int32")
    places = layers.Embedding(length, width)(keras.ops.arange(length))
    h = layers.LayerNormalization()(layers.Embedding(words, width)(tokens) + places)
    for _ in range(blocks):
        seen = layers.MultiHeadAttention(heads, width // heads)(h, h)
        h = layers.LayerNormalization()(h + seen)
        up = layers.Dense(4 * width, activation="gelu")(h)
        h = layers.LayerNormalization()(h + layers.Dense(width)(up))
    model = keras.Model(tokens, layers.Dense(words)(h))
    spec = tf.TensorSpec((batch, length), tf.int32)
    return training(tf, keras, model, spec, spec)


def unet(tf, keras, batch=4, side=256, width=64, depth=4, classes=21):
    layers = keras.layers

    def block(h, channels):
        for _ in range(2):
            h = layers.Conv2D(channels, 3, padding="same", use_bias=False)(h)
            h = layers.ReLU()(layers.BatchNormalization()(h))
        return h

    pictures = h = layers.Input((side, side, 3))
    kept = []
    for level in range(depth):
        kept.append(block(h, width << level))
        h = layers.MaxPooling2D()(kept[-1])
    h = block(h, width << depth)
    for level in reversed(range(depth)):
        h = layers.Conv2DTranspose(width << level, 2, strides=2)(h)
        h = block(layers.Concatenate()([kept[level], h]), width << level)
    model = keras.Model(pictures, layers.Conv2D(classes, 1)(h))
    labels = tf.TensorSpec((batch, side, side), tf.int32)
    return training(tf, keras, model, tf.TensorSpec((batch, side, side, 3)), labels)


GRAPHS = {"resnet50": resnet50, "bert_base": bert_base, "unet": unet}


def plan_of(name):
    """The plan of a graph of this file, or of a model of models.py."""
    import models

    import tidemark as tf

    if name in models.MODELS:
        return models.compiled_step(tf, name).plan()
    tf.install_as_tensorflow()
    import keras

    step, specs = GRAPHS[name](tf, keras)
    return step.plan(*specs)
