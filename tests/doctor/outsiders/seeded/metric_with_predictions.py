# rule: tensors-gathered
# chain: predictions
# root: module __main__
# bytes: 8192
import tensorflow as tf


class Calibration:
    """Expected calibration error, over all that was predicted."""

    def __init__(self, bins):
        self.bins = bins
        self.predictions = []
        self.total = 0.0

    def update(self, labels, predicted):
        self.total += float(tf.reduce_mean(tf.abs(labels - predicted)))
        self.predictions.append(predicted)  # HERE

    def result(self):
        return self.total / max(1, len(self.predictions))


class Harness:
    def __init__(self, tasks):
        self.metrics = {task: Calibration(10) for task in tasks}

    def evaluate(self, task, model, batch, labels):
        self.metrics[task].update(labels, model(batch))


model = tf.keras.Sequential([tf.keras.layers.Dense(32)])
harness = Harness(["nli"])
for step in range(100):
    harness.evaluate("nli", model, tf.random.normal([64, 16]), tf.zeros([64, 32]))
print(harness.metrics["nli"].result())
