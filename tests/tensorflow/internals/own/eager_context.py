"""``tensorflow.python.eager.context``, as far as public names say the same."""

import contextlib

import tensorflow as tf

executing_eagerly = tf.executing_eagerly
LogicalDeviceConfiguration = tf.config.LogicalDeviceConfiguration
device = tf.device
SYNC, ASYNC = 0, 1


def graph_mode():
    """Builds the default graph, which a test's ``setUp`` makes anew."""
    return tf.compat.v1.get_default_graph().as_default()


@contextlib.contextmanager
def eager_mode():
    """What runs eagerly already goes on so; no public name leaves a graph."""
    if not tf.executing_eagerly():
        raise AttributeError("there is no public name for context.eager_mode inside of a graph")
    yield


def num_gpus():
    return len(tf.config.list_physical_devices("GPU"))


def async_wait():
    pass


def ensure_initialized():
    pass


@contextlib.contextmanager
def execution_mode(mode):
    yield


class _Context:
    def executing_eagerly(self):
        return tf.executing_eagerly()

    def num_gpus(self):
        return num_gpus()

    def ensure_initialized(self):
        pass

    device_name = "/job:localhost/replica:0/task:0/device:CPU:0"


def context():
    return _Context()
