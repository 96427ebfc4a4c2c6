# chain: "kinds"
# root: module __main__
# bytes: 16384
import tensorflow as tf

kinds = []
x = tf.random.normal([64, 64])
for number in range(120):
    table = tf.tanh(x + float(number))  # MADE
    kind = type(f"Kind{number}", (), {"table": table})
    kinds.append(kind)  # HERE
