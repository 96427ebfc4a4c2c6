# chain: "batches"
# root: module __main__
import tensorflow as tf

batches = []
x = tf.random.normal([4096])
for number in range(140):
    values = tf.sin(x * float(number))  # MADE
    batch = tf.RaggedTensor.from_row_splits(values, [0, 1000, 1500, 4096])
    batches.append(batch)  # HERE
