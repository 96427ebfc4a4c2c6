"""A subclassed model that draws noise in every call: a thousand predictions, no byte more."""

import tidemark as tf


class NoisyModel(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.dense = tf.keras.layers.Dense(10)

    def call(self, inputs):
        noise = tf.random.normal(inputs.shape, mean=0.0, stddev=1.0)
        return self.dense(inputs + noise)


model = NoisyModel()
data = tf.random.normal((1, 5))
first = model(data)
assert not tf.reduce_all(model(data) == first), "each call draws anew"
live = tf.memory.stats().live
for _ in range(1000):
    model(data)
print(f"a thousand predictions: {tf.memory.stats().live - live} bytes more than before")
assert tf.memory.stats().live == live

model.compile(optimizer="sgd", loss="mse")
x, y = tf.random.normal((64, 5)), tf.zeros((64, 10))
losses = model.fit(x, y, batch_size=8, epochs=20, verbose=0).history["loss"]
print(f"trained: loss {losses[0]:.3f} -> {losses[-1]:.3f}")
assert losses[-1] < losses[0]
