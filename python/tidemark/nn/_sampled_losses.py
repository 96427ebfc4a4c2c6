"""Losses over some classes drawn as negative examples: ``tf.nn.nce_loss`` and its kin."""

from __future__ import annotations

import tidemark
from tidemark import dtypes
from tidemark._export import export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import call, convert
from tidemark.errors import InvalidArgumentError
from tidemark.nn._embedding import embedding_lookup
from tidemark.random._candidate_sampling import log_uniform_candidate_sampler

# --- losses --------------------------------------------------------------------------------------


def _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes, num_true,
                    sampled_values, remove_accidental_hits, seed):  # fmt: skip
    """Logits and targets of the true classes and the sampled ones, side by side."""
    labels, inputs = cast(labels, dtypes.int64), convert_to_tensor(inputs)
    if labels.ndim == 1 and num_true == 1:
        labels = call("expand_dims", (labels,), {"axis": 1})
    if sampled_values is None:
        sampled_values = log_uniform_candidate_sampler(
            labels, num_true, num_sampled, True, num_classes, seed
        )
    sampled, true_expected, sampled_expected = (tidemark.stop_gradient(v) for v in sampled_values)
    sampled = cast(sampled, dtypes.int64)
    true_rows = embedding_lookup(weights, labels)
    wide = call("expand_dims", (inputs,), {"axis": 1})
    true_logits = call("sum", (wide * true_rows,), {"axis": [2]}) + embedding_lookup(biases, labels)
    rows = embedding_lookup(weights, sampled)
    logits = call("matmul", (inputs, rows), {"transpose_b": True})
    logits = logits + embedding_lookup(biases, sampled)
    if remove_accidental_hits:
        same = call("equal", (call("expand_dims", (labels,), {"axis": 2}), sampled), {})
        hit = call("any", (same,), {"axis": [1]})
        lowest = convert(logits.dtype.min, logits._dtype_enum)
        logits = call("select", (hit, lowest, logits), {})
    true_logits = true_logits - cast(call("log", (true_expected,), {}), logits.dtype)
    logits = logits - cast(call("log", (sampled_expected,), {}), logits.dtype)
    targets = call("ones_like", (true_logits,), {}) / float(num_true)
    nothing = call("zeros_like", (logits,), {})
    return (
        call("concat", (true_logits, logits), {"axis": 1}),
        call("concat", (targets, nothing), {"axis": 1}),
    )


@export("tf.nn.nce_loss")
def nce_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=False, name="nce_loss",
):  # fmt: skip
    """Noise-contrastive estimation: true classes against sampled ones, each by itself."""
    logits, targets = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes,
                                      num_true, sampled_values, remove_accidental_hits,
                                      None)  # fmt: skip
    each = tidemark.nn.sigmoid_cross_entropy_with_logits(labels=targets, logits=logits)
    return call("sum", (each,), {"axis": [1]})


@export("tf.nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights, biases, labels, inputs, num_sampled, num_classes, num_true=1, sampled_values=None,
    remove_accidental_hits=True, seed=None, name="sampled_softmax_loss",
):  # fmt: skip
    """The cross-entropy of a softmax over the true classes and some sampled ones."""
    logits, targets = _sampled_logits(weights, biases, labels, inputs, num_sampled, num_classes,
                                      num_true, sampled_values, remove_accidental_hits,
                                      seed)  # fmt: skip
    targets = tidemark.stop_gradient(targets)
    return tidemark.nn.softmax_cross_entropy_with_logits(labels=targets, logits=logits)


@export("tf.nn.compute_accidental_hits")
def compute_accidental_hits(true_classes, sampled_candidates, num_true, seed=None, name=None):
    """Where a sampled class is one of the true ones: rows, samples, and weights as good as -inf."""
    true_classes = convert_to_tensor(true_classes)
    sampled = convert_to_tensor(sampled_candidates)
    if true_classes.ndim != 2 or true_classes._shape_tuple()[1] != num_true:
        raise InvalidArgumentError(
            None,
            None,
            f"[compute_accidental_hits] true_classes must have shape [batch, {num_true}], got "
            f"{true_classes.shape}",
        )
    each = call("expand_dims", (true_classes,), {"axis": 2})
    hits = tidemark.where(call("equal", (each, sampled), {}))
    rows = cast(call("gather", (hits, convert(0)), {"axis": 1}), dtypes.int32)
    samples = call("gather", (hits, convert(2)), {"axis": 1})
    lowest = convert(dtypes.float32.min, dtypes.float32._enum)
    weights = call("fill", (tidemark.shape(rows), lowest), {})
    return rows, samples, weights
