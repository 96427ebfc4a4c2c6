"""Ask what a training step will need before it runs, then run it in less."""

import tidemark as tf

layers = [tf.Variable(tf.random.normal([256, 256], stddev=0.05)) for _ in range(8)]


def loss(x):
    for kernel in layers:
        x = tf.tanh(x @ kernel)
    return tf.reduce_sum(x * x)


def train(x):
    with tf.GradientTape() as tape:
        now = loss(x)
    for kernel, slope in zip(layers, tape.gradient(now, layers), strict=True):
        kernel.assign_sub(1e-4 * slope)
    return now


step = tf.function(train)

if __name__ == "__main__":
    batch = tf.TensorSpec([4096, 256])  # no batch is made, nothing runs
    plan = step.plan(batch)
    print(plan)

    smaller = tf.function(train, memory_budget=plan.peak * 6 // 10)
    print(smaller.plan(batch))
    for _ in range(3):
        print("loss", float(smaller(tf.random.normal([4096, 256]))))
