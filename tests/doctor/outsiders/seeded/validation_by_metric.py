# rule: tensors-gathered
# chain: scores
# root: module __main__
# bytes: 24576
from collections import defaultdict

import tensorflow as tf


def evaluate(batch, weights):
    logits = tf.matmul(batch, weights)  # MADE
    return {"logits": logits, "mean": tf.reduce_mean(logits), "top": tf.reduce_max(logits)}


weights = tf.random.normal([32, 96])
scores = defaultdict(list)
for step in range(120):
    batch = tf.random.normal([64, 32])
    for name, value in evaluate(batch, weights).items():
        scores[f"val/{name}"].append(value)  # HERE
print({name: len(values) for name, values in scores.items()})
