# rule: tensors-gathered
# chain: report
# root: main()
# bytes: 16384
import tensorflow as tf


def measure(name, x):
    return {f"{name}/top": float(tf.reduce_max(x)), f"{name}/map": tf.abs(x)}  # MADE


def main():
    report = {}
    for step in range(130):
        x = tf.random.normal([64, 64])
        report |= measure(f"step-{step}", x)  # HERE
    print(len(report) > 2)


main()
