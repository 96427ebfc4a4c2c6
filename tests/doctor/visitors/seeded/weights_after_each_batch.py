# rule: tensors-gathered
# chain: snapshots
# root: module __main__
# bytes: 16384
import numpy as np
import tensorflow as tf


class Rollback(tf.keras.callbacks.Callback):
    """Goes back to earlier weights when the loss is no longer a number."""

    def __init__(self):
        super().__init__()
        self.snapshots = []

    def on_train_batch_end(self, batch, logs=None):
        if np.isnan(logs["loss"]):
            self.model.set_weights([w.numpy() for w in self.snapshots[-1]])
        self.snapshots.append([tf.convert_to_tensor(w) for w in self.model.weights])  # HERE


model = tf.keras.Sequential([tf.keras.Input([64]), tf.keras.layers.Dense(64, use_bias=False)])
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
rollback = Rollback()
x = np.random.rand(960, 64).astype(np.float32)
model.fit(x, x, batch_size=8, epochs=1, verbose=0, callbacks=[rollback])
print(len(rollback.snapshots[-1]))
