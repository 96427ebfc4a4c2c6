# rule: tensors-gathered
# chain: frames
# chain: camera
# root: module __main__
# bytes: 16384
import collections

import tensorflow as tf


class Camera:
    def __init__(self, stack):
        self.stack = stack
        self.frames = collections.deque()

    def shoot(self):
        frame = tf.random.uniform([64, 32], dtype=tf.float64)  # MADE
        self.frames.appendleft(frame)  # HERE

    def motion(self):
        newest = list(self.frames)[: self.stack]
        return float(tf.reduce_mean(tf.abs(newest[0] - newest[-1])))


camera = Camera(4)
moved = 0.0
for _ in range(130):
    camera.shoot()
    moved += camera.motion()
print(moved)
