# rule: tensors-gathered
# chain: past
# root: module __main__
# bytes: 16384
import tensorflow as tf

past = None
total = 0.0
for step in range(120):
    now = tf.abs(tf.random.normal([64, 64]))  # MADE
    past = (now, past)  # HERE
    total += float(tf.reduce_mean(past[0]))
print(total)
