"""Reading TFLite models; ``src/tidemark/io/tflite/`` does the work."""

import os

from tidemark import _tidemark
from tidemark.errors import InvalidArgumentError
from tidemark.onnx._model import Model


def load(path, signature="", *, _keeps_states=False):
    """Reads a TFLite model as an ordinary function, as ``tf.onnx.load`` does.

    Inputs and outputs have the names of the signature, by default of the first graph's; a model
    without signatures has those of its tensors. Any batch is taken where the file leaves it open.
    What outlives a call in TFLite (the state of a fused LSTM) begins at zero in each call.

    Raises ``UnimplementedError`` with everything in it that is not read, and ``DataLossError`` for
    a damaged file.
    """
    with open(path, "rb") as file:
        if file.read(8)[4:] != b"TFL3":
            raise InvalidArgumentError(None, None, f"{os.fspath(path)} is no TFLite model.")
    return Model(path, signature=signature, keeps_states=_keeps_states)


def readable_ops():
    """The operators that are read, by the names that TFLite's format gives them."""
    return _tidemark.tflite_ops()
