# rule: python-step
# holder: tf.signal.dct in spectrum()
import tensorflow as tf


@tf.function(input_signature=[tf.TensorSpec([None, None])])
def spectrum(x):
    return tf.signal.dct(x) * 0.5  # HERE


x = tf.ones([8, 64])
for i in range(1, 41):
    y = spectrum(x)
