import dataclasses

import tensorflow as tf


@dataclasses.dataclass
class Run:
    name: str
    gradients: list = dataclasses.field(default_factory=list)


runs = {"first": Run("first")}
w = tf.Variable(tf.ones([64, 64]))
for step in range(130):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * w)
    gradient = tape.gradient(loss, w)
    w.assign_sub(0.01 * gradient)
    runs["first"].gradients.append(float(tf.norm(gradient)))
