"""What ``tf.nn`` has in TensorFlow 1 beyond TensorFlow 2; loaded when it is asked for."""

from __future__ import annotations

import importlib

import tidemark as tf

_RNN = (
    "bidirectional_dynamic_rnn",
    "dynamic_rnn",
    "static_bidirectional_rnn",
    "static_rnn",
)
_MOVED = {"depthwise_conv2d_native": "depthwise_conv2d", "lrn": "local_response_normalization"}
_DENSE = ("relu_layer", "softmax_cross_entropy_with_logits_v2", "xw_plus_b")


def relu_layer(x, weights, biases, name=None):
    """``relu(x @ weights + biases)``."""
    return tf.nn.relu(tf.nn.bias_add(tf.matmul(x, weights), biases), name=name)


def xw_plus_b(x, weights, biases, name=None):
    """``x @ weights + biases``."""
    return tf.nn.bias_add(tf.matmul(x, weights), biases, name=name or "xw_plus_b")


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=None, name=None, dim=None):
    """Cross entropy with gradients to logits and labels."""
    axis = dim if axis is None else axis
    axis = -1 if axis is None else axis
    return tf.nn.softmax_cross_entropy_with_logits(labels, logits, axis, name)


_WRAPPERS = ("RNNCellDeviceWrapper", "RNNCellDropoutWrapper", "RNNCellResidualWrapper")


def find(name):
    """What ``tf.nn.<name>`` stands for; None."""
    if name in _RNN:
        return getattr(importlib.import_module("tidemark._v1.rnn"), name)
    if name == "rnn_cell":
        return importlib.import_module("tidemark._v1.rnn_cell")
    if name in _WRAPPERS:
        cells = importlib.import_module("tidemark._v1.rnn_cell")
        return getattr(cells, name.removeprefix("RNNCell"))
    if name in _DENSE:
        return globals()[name]
    if name in _MOVED:
        return getattr(importlib.import_module("tidemark.nn"), _MOVED[name], None)
    return None
