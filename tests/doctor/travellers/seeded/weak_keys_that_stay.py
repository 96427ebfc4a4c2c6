# rule: tensors-gathered
# chain: features
# root: module __main__
# bytes: 16384
import weakref

import tensorflow as tf


class Image:
    def __init__(self, number):
        self.number = number


features = weakref.WeakKeyDictionary()
gallery = []


def describe(image):
    if image not in features:
        features[image] = tf.random.normal([64, 64]) + float(image.number)
    return features[image]


total = 0.0
for number in range(180):
    image = Image(number)
    gallery.append(image)  # HERE
    total += float(tf.reduce_mean(describe(image)))
print(total > 0, len(gallery))
