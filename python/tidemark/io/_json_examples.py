"""``tf.io.decode_json_example``: examples that were written as JSON, as messages."""

from __future__ import annotations

import base64
import binascii
import json

import numpy as np

from tidemark import dtypes
from tidemark._graph.control_flow import numpy_function
from tidemark._tensor.creation import convert_to_tensor
from tidemark.errors import InvalidArgumentError
from tidemark.train._example import (
    BytesList,
    Example,
    Feature,
    Features,
    FloatList,
    Int64List,
)


def _bytes(text):
    return base64.b64decode(text.replace("-", "+").replace("_", "/"), validate=True)


# The names that JSON has for the lists, both ways in which protobuf writes them.
_LISTS = {
    "bytesList": ("bytes_list", BytesList, _bytes),
    "floatList": ("float_list", FloatList, float),
    "int64List": ("int64_list", Int64List, int),
}
_LISTS.update({field: entry for entry in list(_LISTS.values()) for field in entry[:1]})


def _feature(parts):
    given = {}
    for key, value in parts.items():
        field, kind, one = _LISTS[key]
        given[field] = kind(value=[one(item) for item in value.get("value", ())])
    return Feature(**given)


def _message(text):
    """One example as bytes."""
    try:
        parsed = json.loads(text)
        named = parsed.get("features", {}).get("feature", {})
        features = {name: _feature(parts) for name, parts in named.items()}
        if set(parsed) - {"features"}:
            raise KeyError(f"Example has no field {sorted(set(parsed) - {'features'})[0]!r}")
    except (ValueError, TypeError, KeyError, AttributeError, binascii.Error) as error:
        raise InvalidArgumentError(
            None, None, f"[decode_json_example] Error while parsing JSON: {error}; an Example like "
            '{"features": {"feature": {"a": {"floatList": {"value": [1]}}}}} is expected',
        ) from None  # fmt: skip
    return Example(features=Features(feature=features)).SerializeToString()


def decode_json_example(json_examples, name=None):
    """Each example, written as protobuf writes JSON, as the bytes of its message."""
    texts = convert_to_tensor(json_examples, dtype=dtypes.string)

    def decoded(values):
        values = np.asarray(values, object)
        out = np.empty(values.shape, object)
        for place in np.ndindex(*values.shape):
            out[place] = _message(values[place])
        return out

    found = numpy_function(decoded, [texts], dtypes.string)
    found.set_shape(texts.shape)
    return found
