"""One model on several workers: tidemark launch -n 2 examples/distribute/workers.py"""

import tidemark as tf

strategy = tf.distribute.MultiWorkerMirroredStrategy()  # joins the others, if there are any
keras = tf.keras

with strategy.scope():
    model = keras.Sequential(
        [keras.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(1)]
    )
    model.compile("adam", "mse")

x = tf.random.stateless_normal([512, 8], seed=[1, 2])
rows = tf.data.Dataset.from_tensor_slices((x, tf.reduce_sum(x, 1))).batch(64)  # of all together
loss = model.fit(rows, epochs=5, verbose=0).history["loss"]
print(f"worker {strategy.cluster_resolver.task_id or 0} of {strategy.num_replicas_in_sync}:",
      f"loss {loss[0]:.2f} -> {loss[-1]:.2f}")  # fmt: skip
