# rule: tensors-gathered
# chain: defaultdict "by_label"
# root: collect()
# bytes: 8192
import collections

import tensorflow as tf


def collect(rounds):
    by_label = collections.defaultdict(list)
    for i in range(rounds):
        image = tf.random.uniform([32, 64])
        by_label[i % 3].append(image * 2.0)  # HERE
    return {label: len(images) for label, images in by_label.items()}


print(collect(200))
