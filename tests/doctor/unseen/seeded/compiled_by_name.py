# rule: function-in-loop
# chain: dict "compiled"
# root: module __main__
import tensorflow as tf

compiled = {}


def build(scale):
    @tf.function
    def run(x):
        return tf.tanh(x * scale)

    return run


x = tf.ones([100])
for i in range(60):
    compiled[f"net{i}"] = build(float(i))  # HERE
    y = compiled[f"net{i}"](x)
