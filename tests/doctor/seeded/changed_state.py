# rule: captured-state
# holder: Python value "rate"
import tensorflow as tf

rate = 0.5


@tf.function
def step(x):
    return x * rate  # HERE


x = tf.ones([100])
for i in range(40):
    y = step(x)
    rate = rate * 0.9
