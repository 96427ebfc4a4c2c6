"""``tensorflow.python.framework.random_seed``."""

import tensorflow as tf

set_random_seed = tf.compat.v1.set_random_seed
set_seed = tf.random.set_seed
get_seed = tf.compat.v1.get_seed
DEFAULT_GRAPH_SEED = 87654321
