# chain: "memo"
# root: module __main__
# bytes: 16384
import copy

import tensorflow as tf


class State:
    def __init__(self, value):
        self.value = value

    def __deepcopy__(self, memo):
        return State(tf.identity(self.value) + 0.0)  # MADE


memo = {}
x = tf.random.normal([64, 64])
kept = State(x)
for step in range(130):
    second = copy.deepcopy(kept, memo)
    memo[step] = memo.pop(id(kept))  # HERE
