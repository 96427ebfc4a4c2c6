# rule: tensors-gathered
# chain: done
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Augment:
    def __init__(self):
        self.done = {}

    def __call__(self, index, image):
        key = int(index)
        if key not in self.done:
            self.done[key] = tf.image.flip_left_right(image) + 0.1  # HERE
        return self.done[key]


augment = Augment()
images = tf.data.Dataset.range(170).map(lambda n: (n, tf.random.normal([64, 64, 1])))
images = images.map(lambda n, image: tf.py_function(augment, [n, image], tf.float32))
mean = 0.0
for image in images:
    mean += float(tf.reduce_mean(image))
print(mean > 0)
