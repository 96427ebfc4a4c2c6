# chain: Camera.frames
# chain: "camera"
# bytes: 40000
import collections

import tensorflow as tf


class Camera:
    def __init__(self):
        self.frames = collections.deque()

    def shoot(self, scene, number):
        frame = tf.sqrt(scene + float(number))  # MADE
        self.frames.appendleft(frame)  # HERE
        return frame


camera = Camera()
scene = tf.ones([100, 100])
for number in range(120):
    camera.shoot(scene, number)
