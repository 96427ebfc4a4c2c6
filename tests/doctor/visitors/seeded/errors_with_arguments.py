# rule: tensors-gathered
# chain: skipped
# root: main()
# bytes: 12288
import tensorflow as tf


class Unusable(Exception):
    def __init__(self, reason, batch):
        super().__init__(reason, batch)
        self.reason, self.batch = reason, batch


def clean(batch):
    largest = tf.reduce_max(tf.abs(batch))
    if largest > 2.0:
        raise Unusable("outliers", batch)
    return batch


def main():
    used, skipped = 0, []
    for _ in range(200):
        try:
            clean(tf.random.normal([48, 64]))
            used += 1
        except Unusable as error:
            skipped.append(error.with_traceback(None))  # HERE
    return used, len(skipped)


print(main())
