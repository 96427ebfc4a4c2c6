# rule: tensors-gathered
# chain: events
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Weights:
    """Weights as the sum of what happened to them."""

    def __init__(self):
        self.value = tf.zeros([64, 64])
        self.events = []

    def apply(self, kind, change):
        self.value = self.value + change if kind == "add" else self.value - change
        self.events.append({"kind": kind, "change": change})  # HERE


weights = Weights()
for step in range(150):
    gradient = 0.01 * tf.random.normal([64, 64])
    weights.apply("add" if step % 2 else "subtract", gradient)
print(len(weights.events))
