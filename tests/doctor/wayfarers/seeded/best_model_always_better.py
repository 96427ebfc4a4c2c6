# rule: tensors-gathered
# chain: best
# root: fit()
# bytes: 65536
import tensorflow as tf

x = tf.random.normal([64, 128])
w = tf.Variable(tf.random.normal([128, 128]))


def fit(epochs):
    best = []
    for epoch in range(epochs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
        w.assign_sub(1.0 * tape.gradient(loss, w))
        if not best or float(loss) < best[-1][0]:
            best.append((float(loss), epoch, tf.identity(w) * 1.0))  # HERE
    return best[-1][1]


print(fit(140) > 0)
