"""``tf.compat.v1.strings``: TensorFlow 1's argument orders, and pieces in sparse tensors."""

from __future__ import annotations

from tidemark import dtypes as _dtypes
from tidemark import strings as _strings
from tidemark._tensor.creation import convert_to_tensor as _convert
from tidemark.compat.v1._arguments import _either

_RESULTS = ("SparseTensor", "RaggedTensor")


def _as_result(pieces, result_type):
    return pieces.to_sparse() if result_type == "SparseTensor" else pieces


def _check_result_type(result_type):
    if result_type not in _RESULTS:
        raise ValueError(
            f"result_type must be 'RaggedTensor' or 'SparseTensor', but it is {result_type!r}"
        )


def split(input=None, sep=None, maxsplit=-1, result_type="SparseTensor", source=None, name=None):
    """The pieces of every string between separators, in a sparse or a ragged tensor."""
    _check_result_type(result_type)
    given = _either(input, source, "input", "source")
    if given is None:
        raise ValueError("give the strings to split as input")
    if not hasattr(given, "row_splits"):
        given = _convert(given, dtype=_dtypes.string)
        if given.shape.rank == 0:
            given = given[None]
    return _as_result(_strings.split(given, sep, maxsplit), result_type)


def string_split(source, sep=None, skip_empty=True, delimiter=" ", result_type="SparseTensor",
                 name=None):  # fmt: skip
    """The pieces of the strings of a vector between any of the separator's characters."""
    _check_result_type(result_type)
    delimiter = sep if sep is not None else " " if delimiter is None else delimiter
    strings = _convert(source, dtype=_dtypes.string)
    if strings.shape.rank not in (1, None):
        raise ValueError(f"source must be a vector of strings, but its shape is {strings.shape}")
    return _as_result(_pieces(strings, delimiter, skip_empty), result_type)


def _pieces(strings, delimiter, skip_empty):
    import tidemark as tf  # the whole of it, once a program splits so

    characters = tf.strings.bytes_split(_convert(delimiter, dtype=_dtypes.string))
    known = tf.get_static_value(characters)
    if known is None:
        raise NotImplementedError("delimiter must be known where the graph is built")
    if len(known) == 0:
        pieces = _strings.bytes_split(strings)
    else:
        # Every separating character becomes the first one, which alone then separates.
        one = known[0].decode("latin-1")
        for other in known[1:]:
            strings = tf.strings.regex_replace(strings, _quoted(other), one.replace("\\", "\\\\"))
        pieces = _strings.split(strings, one)
    if not skip_empty:
        return pieces
    return tf.ragged.boolean_mask(pieces, tf.not_equal(pieces, ""))


def _quoted(character):
    """A pattern for the one character."""
    text = character.decode("latin-1")
    return text if text.isalnum() or ord(text) > 127 else "\\" + text


def length(input, name=None, unit="BYTE"):
    """How long the strings are."""
    return _strings.length(input, unit, name)


def substr(input, pos, len, name=None, unit="BYTE"):
    """Parts of strings."""
    return _strings.substr(input, pos, len, unit, name)


def reduce_join(inputs, axis=None, keep_dims=None, separator="", name=None,
                reduction_indices=None, keepdims=None):  # fmt: skip
    """Strings joined along axes."""
    axis = _either(axis, reduction_indices, "axis", "reduction_indices")
    keepdims = _either(keepdims, keep_dims, "keepdims", "keep_dims", False)
    inputs = _convert(inputs, dtype=_dtypes.string)
    if axis is None and inputs.shape.rank is not None:
        axis = list(range(inputs.shape.rank - 1, -1, -1))
    return _strings.reduce_join(inputs, axis, keepdims, separator, name)


def to_number(string_tensor=None, out_type=_dtypes.float32, name=None, input=None):
    """Numbers written in strings."""
    return _strings.to_number(
        _either(string_tensor, input, "string_tensor", "input"), out_type, name
    )


def __getattr__(name):
    return getattr(_strings, name)
