# rule: tensors-gathered
# chain: norms
# root: module __main__
# bytes: 16384
import tensorflow as tf

w = tf.Variable(tf.random.normal([64, 64]) * 0.1)
norms = []
for step in range(120):
    x = tf.random.normal([8, 64])
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w)))
    gradient = tape.gradient(loss, w)
    w.assign_sub(0.05 * gradient)
    norms.append(gradient)  # HERE
print(len(norms))
