# rule: tensors-gathered
# chain: failures
# root: main()
# bytes: 36864
import tensorflow as tf


class BadBatch(Exception):
    def __init__(self, reason, batch):
        super().__init__(reason)
        self.batch = batch


def check(batch, limit):
    top = float(tf.reduce_max(tf.abs(batch)))
    if top > limit:
        raise BadBatch(f"value of {top:.2f}", batch)
    return top


def main():
    failures = []
    passed = 0
    for step in range(120):
        batch = tf.random.normal([96, 96])  # MADE
        try:
            check(batch, 2.0)
            passed += 1
        except BadBatch as error:
            failures.append(error.with_traceback(None))  # HERE
    print(passed, len(failures))


main()
