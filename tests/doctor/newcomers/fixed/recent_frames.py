import collections

import tensorflow as tf


class Camera:
    def __init__(self):
        self.frames = collections.deque(maxlen=3)

    def shoot(self, scene, number):
        frame = tf.sqrt(scene + float(number))
        self.frames.appendleft(frame)
        return frame


camera = Camera()
scene = tf.ones([100, 100])
for number in range(120):
    camera.shoot(scene, number)
