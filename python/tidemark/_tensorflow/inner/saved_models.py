"""What packages ask of ``tensorflow.python.saved_model`` beyond ``tf.saved_model``."""

from __future__ import annotations

import contextlib

from tidemark import saved_model


class KerasModeKeys:
    """What a model is called for."""

    TRAIN, TEST, PREDICT = "train", "test", "predict"


class EstimatorModeKeys:
    """What an estimator is called for."""

    TRAIN, EVAL, PREDICT = "train", "eval", "infer"


def save_and_return_nodes(obj, export_dir, signatures=None, options=None,
                          experimental_skip_checkpoint=False):  # fmt: skip
    """Saves; the nodes of the file are not told."""
    saved_model.save(obj, export_dir, signatures, options)
    return [], {}


@contextlib.contextmanager
def load_context(load_options):
    """A context in which a model is loaded."""
    yield


def get_load_options():
    return None


def in_load_context():
    return False
