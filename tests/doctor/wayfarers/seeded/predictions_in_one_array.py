# chain: predictions
# bytes: 16384
import numpy as np
import tensorflow as tf

w = tf.random.normal([64, 64]) * 0.1
predictions = np.zeros([0, 64], np.float32)
for step in range(150):
    y = tf.sigmoid(tf.matmul(tf.random.normal([64, 64]), w))
    predictions = np.concatenate([predictions, y.numpy()])  # HERE
print(predictions.shape[1])
