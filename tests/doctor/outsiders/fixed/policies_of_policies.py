"""Every round wraps the policy in another, and each of them has its own noise."""

import tensorflow as tf


def perturbed(policy, noise):
    def act(x):
        return policy(x) + 0.01 * float(tf.reduce_mean(noise))

    return act


def constant(x):
    return float(tf.reduce_sum(x))


policy = constant
for step in range(100):
    noise = tf.random.normal([60, 60])
    policy = perturbed(constant, noise)
    value = policy(tf.ones([4]))
print(value != 0)
