"""``tf.io.decode_json_example``: examples that were written as JSON, as messages."""

from __future__ import annotations

import numpy as np

from tidemark import _tidemark, dtypes
from tidemark._graph.control_flow import numpy_function
from tidemark._tensor.creation import convert_to_tensor


def decode_json_example(json_examples, name=None):
    """Each example, written as protobuf writes JSON, as the bytes of its message."""
    texts = convert_to_tensor(json_examples, dtype=dtypes.string)

    def decoded(values):
        values = np.asarray(values, object)
        out = np.empty(values.shape, object)
        for place in np.ndindex(*values.shape):
            out[place] = _tidemark.example_of_json(values[place])
        return out

    found = numpy_function(decoded, [texts], dtypes.string)
    found.set_shape(texts.shape)
    return found
