# rule: function-in-loop
# chain: compiled
# root: module __main__
import tensorflow as tf

compiled = {}
best = None


def activation(x, rate):
    return tf.reduce_mean(tf.nn.elu(x) * rate)


for trial in range(60):
    rate = tf.constant(0.01 * trial)
    compiled[trial] = tf.function(lambda x, rate=rate: activation(x, rate))  # HERE
    value = float(compiled[trial](tf.random.normal([16, 16])))
    best = value if best is None else max(best, value)
print(len(compiled), best)
