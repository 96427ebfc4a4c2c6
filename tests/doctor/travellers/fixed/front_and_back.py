import tensorflow as tf


class Scene:
    def __init__(self):
        self.front, self.back = {}, {}

    def draw(self, frame):
        self.front[frame] = tf.nn.relu(tf.random.normal([64, 64]))

    def flip(self):
        self.back.clear()
        self.back.update(self.front)
        self.front.clear()


scene = Scene()
for frame in range(200):
    scene.draw(frame)
    scene.flip()
print(len(scene.back) > 0)
