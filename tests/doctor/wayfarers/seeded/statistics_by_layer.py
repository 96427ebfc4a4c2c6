# rule: tensors-gathered
# chain: stats
# root: module __main__
# bytes: 16384
import tensorflow as tf

stats = {"hidden": {"mean": {}, "outputs": {}}, "top": {"mean": {}, "outputs": {}}}
w = tf.random.normal([64, 64]) * 0.1


def note(layer, step, y):
    entry = stats[layer]
    entry["mean"][step] = float(tf.reduce_mean(y))
    entry["outputs"][step] = y  # HERE


for step in range(180):
    hidden = tf.nn.relu(tf.matmul(tf.random.normal([64, 64]), w))
    note("hidden", step, hidden)
    note("top", 0, tf.reduce_sum(hidden, axis=1))
print(len(stats))
