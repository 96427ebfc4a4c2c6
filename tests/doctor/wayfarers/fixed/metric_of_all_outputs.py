import tensorflow as tf


class Spread(tf.keras.metrics.Metric):
    def __init__(self):
        super().__init__(name="spread")
        self.outputs = []

    def update_state(self, y_true, y_pred, sample_weight=None):
        self.outputs[:] = [y_pred]

    def result(self):
        return tf.math.reduce_std(self.outputs[-1])


spread = Spread()
layer = tf.keras.layers.Dense(64)
for step in range(130):
    y = layer(tf.random.normal([128, 32]))
    spread.update_state(None, y)
print(float(spread.result()) > 0)
