from collections import defaultdict

import tensorflow as tf

weights = {
    "hidden": tf.Variable(tf.random.normal([64, 64])),
    "out": tf.Variable(tf.random.normal([64, 16])),
}
averages = defaultdict(list)


def track(decay):
    for name, weight in weights.items():
        before = averages[name][-1] if averages[name] else weight
        averages[name] = [decay * before + (1.0 - decay) * weight]


for step in range(150):
    for weight in weights.values():
        weight.assign(weight * 0.99)
    track(0.9)
print(len(averages))
