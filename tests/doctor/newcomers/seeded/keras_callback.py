# chain: Keep.outputs
# bytes: 4096
import keras
import numpy as np
import tensorflow as tf


class Keep(keras.callbacks.Callback):
    def __init__(self, sample):
        super().__init__()
        self.sample = sample
        self.outputs = []

    def on_train_batch_end(self, batch, logs=None):
        self.outputs.append(self.model(self.sample))  # HERE


model = keras.Sequential([keras.Input([8]), keras.layers.Dense(32)])
model.compile("sgd", "mse")
keep = Keep(tf.random.normal([32, 8]))
x, y = np.ones([480, 8], "float32"), np.ones([480, 32], "float32")
model.fit(x, y, batch_size=4, callbacks=[keep], verbose=0)
