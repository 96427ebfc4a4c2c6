"""keras-cv: boxes are converted and compared, an image is augmented."""

import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import keras_cv
import numpy as np
import tensorflow as tf

boxes = tf.constant([[[0.0, 0.0, 10.0, 10.0], [5.0, 5.0, 15.0, 15.0]]])
wide = keras_cv.bounding_box.convert_format(boxes, source="xyxy", target="xywh")
assert wide.numpy()[0, 1].tolist() == [5.0, 5.0, 10.0, 10.0]
overlap = keras_cv.bounding_box.compute_iou(boxes, boxes, "xyxy")
np.testing.assert_allclose(overlap.numpy()[0], [[1.0, 1 / 7], [1 / 7, 1.0]], rtol=1e-5)
images = tf.random.uniform([2, 16, 16, 3]) * 255
assert keras_cv.layers.Grayscale(output_channels=3)(images).shape == (2, 16, 16, 3)
