# rule: tensors-gathered
# chain: visited
# root: train()
# bytes: 65536
import tensorflow as tf

critic = tf.Variable(tf.random.normal([128, 128]) * 0.1)


def penalty(visited):
    return tf.reduce_mean(tf.square(critic - visited[-1])) if visited else tf.constant(0.0)


def train(steps):
    visited = []
    for _ in range(steps):
        real = tf.random.normal([32, 128])
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.matmul(real, critic)) + penalty(visited)
        critic.assign_sub(0.01 * tape.gradient(loss, critic))
        visited.append(critic.read_value() + 0.0)  # HERE
    return float(loss)


print(train(130) != 0)
