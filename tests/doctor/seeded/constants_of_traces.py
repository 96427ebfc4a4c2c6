# rule: constants-baked-in
# holder: constant
# bytes: 65536
import tensorflow as tf

functions = []
for i in range(60):
    step = tf.function(lambda x, i=i: x + tf.constant([float(i)] * 16384))  # HERE
    y = step(tf.ones([16384]))
    functions.append(step)  # CHANGE
