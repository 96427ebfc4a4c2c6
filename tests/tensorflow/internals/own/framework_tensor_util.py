"""``tensorflow.python.framework.tensor_util``: what is not exported under the same name."""

import tensorflow as tf

constant_value = tf.get_static_value
is_tensor = is_tf_type = tf.is_tensor
