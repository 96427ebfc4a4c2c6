# holder retrace-value: traces of repeat()
# holder tensors-gathered: list "results"
# bytes tensors-gathered: 65536
import tensorflow as tf


@tf.function
def repeat(x, times):
    for _ in range(times):
        x = x * 1.5
    return x


results = []
x = tf.ones([16384])
for i in range(60):
    y = repeat(x, i)  # HERE: retrace-value
    results.append(y + 1.0)  # HERE: tensors-gathered
