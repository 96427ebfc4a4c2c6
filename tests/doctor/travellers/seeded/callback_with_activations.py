# rule: tensors-gathered
# chain: seen
# root: module __main__
# bytes: 16384
import numpy as np
import tensorflow as tf


class Activations(tf.keras.callbacks.Callback):
    def __init__(self, sample):
        super().__init__()
        self.sample = sample
        self.seen = []

    def on_train_batch_end(self, batch, logs=None):
        hidden = self.model.layers[0](self.sample)
        self.seen.append(hidden)  # HERE


model = tf.keras.Sequential(
    [tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)]
)
model.compile("sgd", "mse", jit_compile=False)
x = np.random.rand(1600, 16).astype("float32")
watch = Activations(tf.random.normal([64, 16]))
model.fit(x, x[:, :1], batch_size=16, epochs=2, verbose=0, callbacks=[watch])
print(watch.seen[-1].shape)
