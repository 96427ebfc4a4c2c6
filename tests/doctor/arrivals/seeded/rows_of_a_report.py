# rule: tensors-gathered
# chain: rows
# root: evaluate()
# bytes: 40960
from dataclasses import dataclass, field

import tensorflow as tf


@dataclass
class Row:
    batch: int
    loss: float
    logits: tf.Tensor


@dataclass
class Report:
    rows: list = field(default_factory=list)

    def worst(self):
        return max(self.rows, key=lambda row: row.loss).batch


def evaluate(batches):
    report = Report()
    weights = tf.random.normal([32, 10]) * 0.1
    for batch in range(batches):
        labels = tf.random.uniform([1024], maxval=10, dtype=tf.int32)
        logits = tf.matmul(tf.random.normal([1024, 32]), weights)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        report.rows.append(Row(batch, float(tf.reduce_mean(losses)), logits))  # HERE
    return report.worst()


print(evaluate(150) >= 0)
