import tidemark as tf

x = tf.linspace(-1.0, 1.0, 101)
y = 3.0 * x + 0.5
w, b = tf.Variable(0.0), tf.Variable(0.0)
for _ in range(200):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((w * x + b - y) ** 2)
    dw, db = tape.gradient(loss, [w, b])
    w.assign_sub(0.3 * dw)
    b.assign_sub(0.3 * db)
print(f"y = {w.numpy():.3f} x + {b.numpy():.3f}")
