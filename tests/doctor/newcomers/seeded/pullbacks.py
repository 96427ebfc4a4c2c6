# chain: "pullbacks"
# root: module __main__
import tensorflow as tf

pullbacks = []
w = tf.Variable(tf.random.normal([64, 64]))
for step in range(120):
    with tf.GradientTape(persistent=True) as tape:
        y = tf.exp(-w * w)
    pullbacks.append(lambda dy, y=y, tape=tape: tape.gradient(y, w, dy))  # HERE
