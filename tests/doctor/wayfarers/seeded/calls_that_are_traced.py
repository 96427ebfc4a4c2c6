# rule: tensors-gathered
# chain: calls
# root: module __main__
# bytes: 16384
import tensorflow as tf


class Traced:
    def __init__(self, function):
        self.function = function
        self.calls = []

    def __call__(self, *args, **kwargs):
        result = self.function(*args, **kwargs)
        self.calls.append({"args": args, "kwargs": kwargs, "took": 0.0})  # HERE
        return result


@Traced
def energy(x, power=2.0):
    return float(tf.reduce_sum(x**power))


total = 0.0
for step in range(160):
    total += energy(tf.random.normal([64, 64]), power=2.0)
print(total > 0)
