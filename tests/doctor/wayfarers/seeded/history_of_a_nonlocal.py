# rule: tensors-gathered
# chain: history
# root: main()
# bytes: 16384
import tensorflow as tf


def smoother(size):
    history = ()

    def smooth(x):
        nonlocal history
        history = history + (x,)  # HERE
        return tf.add_n(history[-size:]) / float(size)

    return smooth


def main():
    smooth = smoother(3)
    total = 0.0
    for _ in range(150):
        total += float(tf.reduce_mean(smooth(tf.random.normal([64, 64]))))
    return total


print(main() != 0)
