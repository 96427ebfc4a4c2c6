# rule: tensors-gathered
# root: module __main__
# bytes: 16384
import collections

import tensorflow as tf


class Topic:
    def __init__(self):
        self.boxes = {}

    def subscribe(self, name):
        self.boxes[name] = collections.deque()
        return self.boxes[name]

    def publish(self, message):
        for box in self.boxes.values():
            box.append(message)  # HERE


frames = Topic()
detector = frames.subscribe("detector")
dashboard = frames.subscribe("dashboard")  # opened once, then its page was closed
edges = tf.random.normal([3, 3, 4, 1])
found = 0
for step in range(180):
    frames.publish(tf.random.uniform([1, 32, 32, 4]))
    while detector:
        found += int(tf.reduce_max(tf.nn.conv2d(detector.popleft(), edges, 1, "SAME")) > 0)
print(found > 0)
