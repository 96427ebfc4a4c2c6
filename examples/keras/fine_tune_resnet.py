"""Fine-tuning: a new head on a frozen ResNet50 learns, then the last block does, too."""

import numpy as np

import tidemark as tf

keras = tf.keras
layers = keras.layers
keras.utils.set_random_seed(0)

# Two classes that even a network with random weights tells apart: coarse and fine stripes. With
# weights="imagenet" or a file of weights the rest of the program is the same.
rng = np.random.default_rng(0)
labels = rng.integers(0, 2, 32)
waves = np.sin(np.arange(64)[None] * np.where(labels, 1.6, 0.2)[:, None])
images = 127 + 100 * np.broadcast_to(waves[:, None, :, None], (32, 64, 64, 3)).astype(np.float32)
images = images + rng.normal(0, 10, images.shape).astype(np.float32)

base = keras.applications.ResNet50(include_top=False, weights=None, input_shape=(64, 64, 3))
base.trainable = False
inputs = keras.Input((64, 64, 3))
x = keras.applications.resnet50.preprocess_input(inputs)
x = layers.GlobalAveragePooling2D()(base(x, training=False))
outputs = layers.Dense(2)(layers.LayerNormalization()(x))
model = keras.Model(inputs, outputs)


def fit(rate, epochs):
    loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    optimizer = keras.optimizers.Adam(rate)
    model.compile(optimizer=optimizer, loss=loss, metrics=["accuracy"])
    return model.fit(images, labels, batch_size=8, epochs=epochs, verbose=2).history


frozen = [weight.numpy() for weight in base.weights[:3]]
fit(0.01, 4)
for before, weight in zip(frozen, base.weights[:3], strict=True):
    assert (before == weight.numpy()).all(), "the base is frozen"

for layer in base.layers:
    layer.trainable = layer.name.startswith("conv5_block3")
print(f"{len(model.trainable_weights)} of {len(model.weights)} weights learn now")
history = fit(1e-4, 1)
print(f"accuracy {history['accuracy'][-1]:.2f}")
assert history["accuracy"][-1] > 0.8
