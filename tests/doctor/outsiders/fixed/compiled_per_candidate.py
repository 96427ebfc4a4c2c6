import tensorflow as tf

compiled = {}
best = None


def activation(x, rate):
    return tf.reduce_mean(tf.nn.elu(x) * rate)


score = tf.function(activation)
for trial in range(60):
    rate = tf.constant(0.01 * trial)
    compiled[trial] = rate
    value = float(score(tf.random.normal([16, 16]), compiled[trial]))
    best = value if best is None else max(best, value)
print(len(compiled), best)
