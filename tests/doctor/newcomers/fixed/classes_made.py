import tensorflow as tf

kinds = []
x = tf.random.normal([64, 64])
for number in range(120):
    table = tf.tanh(x + float(number))
    kind = type(f"Kind{number}", (), {"table": float(tf.reduce_mean(table))})
    kinds.append(kind)
