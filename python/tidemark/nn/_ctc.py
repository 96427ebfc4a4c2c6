"""Connectionist temporal classification: ``tf.nn.ctc_loss`` and its decoders."""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._graph.at_run import sized_when_run
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import known_size, sizes_of
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError


def _is_sparse(value):
    return all(hasattr(value, part) for part in ("indices", "values", "dense_shape"))


def _scores(logits, time_major):
    logits = convert_to_tensor(logits)
    if logits.dtype in (dtypes.float16, dtypes.bfloat16):
        logits = cast(logits, dtypes.float32)
    return logits if time_major else call("transpose", (logits,), {"perm": [1, 0, 2]})


def _dense_labels(labels):
    """Labels of a sparse tensor as a matrix, and how many there are in each row."""
    indices = convert_to_tensor(labels.indices, dtype="int64")
    values = convert_to_tensor(labels.values)
    shape = convert_to_tensor(labels.dense_shape, dtype="int64")
    dense = call("scatter_nd", (indices, values, shape), {})
    rows = call("gather", (indices, convert(0)), {"axis": 1})
    ones = call("ones_like", (rows,), {})
    size = call("gather", (shape, convert([0])), {"axis": 0})
    counts = call("scatter_nd", (call("expand_dims", (rows,), {"axis": 1}), ones, size), {})
    return dense, counts


@export("tf.nn.ctc_loss")
@sized_when_run
def ctc_loss(labels, logits, label_length, logit_length, logits_time_major=True, unique=None,
             blank_index=None, name=None):  # fmt: skip
    """The loss of label sequences whose alignment to the frames of logits is unknown.

    Labels that do not fit into their frames have an infinite loss, and no gradient flows there.
    """
    if _is_sparse(labels):
        if blank_index is None:
            raise ValueError(
                "Argument `blank_index` must be provided when `labels` is a `SparseTensor`."
            )
        labels, label_length = _dense_labels(labels)
    labels = convert_to_tensor(labels)
    if label_length is None:
        raise ValueError("Argument `label_length` must be given with dense `labels`.")
    blank = 0 if blank_index is None else int(blank_index)
    logits = convert_to_tensor(logits)
    inputs = (_scores(logits, logits_time_major), labels, label_length, logit_length)
    loss = call("ctc_loss", inputs, {"blank_index": blank})
    return loss if loss.dtype == logits.dtype else cast(loss, logits.dtype)


def _as_sparse(decoded):
    """Rows filled up with -1 as a sparse matrix."""
    present = call("greater_equal", (decoded, convert(0, dtypes.int64._enum)), {})
    indices = tidemark.where(present)
    values = call("boolean_mask", (decoded, present), {"axis": 0})
    counts = call("sum", (cast(present, dtypes.int64),), {"axis": [1]})
    longest = call("max", (call("concat", (counts, convert([0], dtypes.int64._enum)),
                                {"axis": 0}),), {"axis": [0]})  # fmt: skip
    rows = tidemark.shape(decoded, out_type=dtypes.int64)[0]
    parts = (indices, values, call("stack", (rows, longest), {"axis": 0}))
    return tidemark.SparseTensor(*parts)


@export("tf.nn.ctc_greedy_decoder")
def ctc_greedy_decoder(inputs, sequence_length, merge_repeated=True, blank_index=None):
    """The best class of each frame, without blanks and repetitions, and -1 times their scores."""
    blank = -1 if blank_index is None else int(blank_index)
    attrs = {"merge_repeated": bool(merge_repeated), "blank_index": blank}
    scores = _scores(inputs, True)
    decoded, negative_sum = call("ctc_greedy_decode", (scores, sequence_length), attrs)
    return [_as_sparse(decoded)], negative_sum


def beam_search(inputs, sequence_length, beam_width, top_paths, merge_repeated):
    """As the decoder of TensorFlow 1, which can merge repetitions in its results."""
    attrs = {"beam_width": int(beam_width), "top_paths": int(top_paths)}
    decoded, log_probability = call(
        "ctc_beam_search_decode",
        (_scores(inputs, True), sequence_length),
        {**attrs, "merge_repeated": bool(merge_repeated)},
    )
    paths = call("unstack", (decoded,), {"num": int(top_paths), "axis": 0})
    paths = paths if isinstance(paths, (list, tuple)) else [paths]
    return [_as_sparse(path) for path in paths], log_probability


@export("tf.nn.ctc_beam_search_decoder")
def ctc_beam_search_decoder(inputs, sequence_length, beam_width=100, top_paths=1):
    """The most probable label sequences that a beam search finds; the last class is the blank."""
    return beam_search(inputs, sequence_length, beam_width, top_paths, False)


@export("tf.nn.collapse_repeated")
def collapse_repeated(labels, seq_length, name=None):
    """Repetitions left out of each row, which is filled up with 0; and the new lengths."""
    labels = convert_to_tensor(labels)
    lengths = convert_to_tensor(seq_length)
    if labels.ndim != 2:
        raise InvalidArgumentError(
            None, None, f"[collapse_repeated] labels should be a matrix, got shape {labels.shape}"
        )
    columns = tidemark.shape(labels)[1]
    first = call("ones_like", (call("equal", (labels[:, :1], labels[:, :1]), {}),), {})
    differs = call("not_equal", (labels[:, 1:], labels[:, :-1]), {})
    inside = tidemark.sequence_mask(lengths, maxlen=columns)
    starts = call("concat", (first, differs), {"axis": 1})
    keep = call("logical_and", (starts, inside), {})
    counts = call("sum", (cast(keep, dtypes.int32),), {"axis": [1]})
    longest = call("max", (call("concat", (counts, convert([0])), {"axis": 0}),), {"axis": [0]})
    kept = tidemark.where(tidemark.sequence_mask(counts, maxlen=longest))
    values = call("boolean_mask", (labels, keep), {"axis": 0})
    shape = call("stack", (tidemark.shape(labels)[0], longest), {"axis": 0})
    made = call("scatter_nd", (kept, values, cast(shape, dtypes.int64)), {})
    return made, cast(counts, lengths.dtype)


@export("tf.nn.ctc_unique_labels")
@sized_when_run
def ctc_unique_labels(labels, name=None):
    """The different labels of each row, filled up with 0, and which of them each label is."""
    labels = convert_to_tensor(labels)
    rows, columns = known_size(labels, 0), sizes_of(labels)[1]
    pairs = [tidemark.unique(labels[row]) for row in range(rows)]
    if not pairs:
        return labels, cast(labels, dtypes.int32)
    unique = [
        call("pad", (y, [[0, columns - sizes_of(y)[0]]], convert(0, y.dtype._enum)), {})
        for y, _ in pairs
    ]
    return (
        call("stack", unique, {"axis": 0}),
        call("stack", [index for _, index in pairs], {"axis": 0}),
    )
