# rule: tensors-gathered
# chain: predictions
# root: main()
# bytes: 65536
from collections import defaultdict

import tensorflow as tf

w = tf.Variable(tf.random.normal([64, 64]) * 0.1)


def main():
    results = defaultdict(lambda: {"loss": [], "predictions": []})
    for epoch in range(130):
        w.assign(w * 0.999)
        for split, seed in (("train", 1), ("test", 2)):
            y = tf.sigmoid(tf.matmul(tf.random.normal([128, 64], seed=seed), w))
            results[split]["loss"].append(float(tf.reduce_mean(y)))
            results[split]["predictions"].append(y)  # HERE
    return len(results["test"]["loss"])


print(main())
