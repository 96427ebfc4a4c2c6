# rule: function-in-loop
# holder: functions step()
import tensorflow as tf

x = tf.ones([100])
for i in range(40):

    @tf.function  # HERE
    def step(t):
        return tf.tanh(t) * 2.0

    y = step(x)
