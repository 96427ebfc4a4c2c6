# rule: retrace-value
import tensorflow as tf

weights = tf.Variable(tf.random.normal([64, 64]) * 0.1)


@tf.function
def train(x, rate):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - x))
    weights.assign_sub(rate * tape.gradient(loss, weights))
    return loss


def schedule(step, warmup=20):
    return 0.1 * min((step + 1) / warmup, 1.0) * 0.99**step


for step in range(100):
    loss = train(tf.random.normal([16, 64]), schedule(step))  # HERE
print(float(loss) > 0)
