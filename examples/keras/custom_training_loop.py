"""A training loop of one's own: a tape, a step as a function, a metric; memory stays flat."""

import tidemark as tf

keras = tf.keras
keras.utils.set_random_seed(0)
points = tf.random.normal([2000, 2])
inside = tf.cast(tf.reduce_sum(points**2, axis=1, keepdims=True) < 1.4, tf.float32)
batches = tf.data.Dataset.from_tensor_slices((points, inside)).shuffle(2000).batch(50)

model = keras.Sequential([keras.layers.Dense(32, activation="relu"), keras.layers.Dense(1)])
optimizer = keras.optimizers.Adam(0.01)
loss_of = keras.losses.BinaryCrossentropy(from_logits=True)
accuracy = keras.metrics.BinaryAccuracy(threshold=0.0)


@tf.function
def step(x, y):
    with tf.GradientTape() as tape:
        guess = model(x, training=True)
        loss = loss_of(y, guess)
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    accuracy.update_state(y, guess)
    return loss


for epoch in range(5):
    accuracy.reset_state()
    for x, y in batches:
        loss = step(x, y)
    live = tf.memory.stats().live / 1024
    print(f"epoch {epoch}: loss {loss:.3f}, accuracy {accuracy.result():.3f}, {live:.0f} KiB live")
assert accuracy.result() > 0.9
