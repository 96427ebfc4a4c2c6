"""Losses made of elementwise ops and reductions, and how they add up over a batch."""

from __future__ import annotations

import tidemark
from tidemark._export import dispatching, export
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tensor.static import known_rank
from tidemark._tidemark import call, convert
from tidemark.nn._normalization import _floating


@export("tf.nn.l2_loss")
def l2_loss(t, name=None):
    """Half the sum of squares."""
    return call("sum", (call("square", (t,), {}),), {}) * 0.5


@export("tf.nn.sigmoid_cross_entropy_with_logits")
@dispatching
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross entropy of independent yes-or-no labels, without overflow."""
    if labels is None or logits is None:
        raise ValueError("Both `labels` and `logits` must be provided.")
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    if not logits.shape.is_compatible_with(labels.shape):
        raise ValueError(
            "`logits` and `labels` must have the same shape, received "
            f"({logits.shape} vs {labels.shape})."
        )
    away = call("exp", (-call("abs", (logits,), {}),), {})
    return call("relu", (logits,), {}) - logits * labels + call("log1p", (away,), {})


@export("tf.nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy of the distribution of labels and the softmax of the logits."""
    logits = _floating(logits)
    labels = cast(labels, logits.dtype)
    axis = int(axis)
    if axis != -1 and axis != known_rank(logits) - 1:
        order = [d for d in range(logits.ndim) if d != axis % logits.ndim]
        order.append(axis % logits.ndim)
        logits = call("transpose", (logits,), {"perm": order})
        labels = call("transpose", (labels,), {"perm": order})
    return call("softmax_cross_entropy", (logits, labels), {})[0]


@export("tf.nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The cross entropy of one right class each and the softmax of the logits."""
    labels, logits = convert_to_tensor(labels), _floating(logits)
    if logits.ndim is not None and not labels.shape.is_compatible_with(logits.shape[:-1]):
        raise ValueError(
            "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
            f"labels.shape={labels.shape} and logits.shape={logits.shape}"
        )
    if labels.dtype.name not in ("int32", "int64"):
        labels = cast(labels, "int64")
    return call("sparse_softmax_cross_entropy", (logits, labels), {})[0]


@export("tf.nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """The sigmoid cross entropy in which the positive labels count ``pos_weight`` times."""
    logits = convert_to_tensor(logits)
    labels = cast(labels, logits.dtype)
    if not logits.shape.is_compatible_with(labels.shape):
        raise ValueError(
            f"`logits` and `labels` must have the same shape, received ({logits.shape} vs "
            f"{labels.shape})."
        )
    weight = (cast(pos_weight, logits.dtype) - 1) * labels + 1
    away = call("log1p", (call("exp", (-call("abs", (logits,), {}),), {}),), {})
    return (1 - labels) * logits + weight * (away + call("relu", (-logits,), {}))


@export("tf.nn.log_poisson_loss")
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(log_input) - targets * log_input, plus Stirling's term for the targets where asked."""
    log_input = convert_to_tensor(log_input)
    targets = cast(targets, log_input.dtype)
    if not log_input.shape.is_compatible_with(targets.shape):
        raise ValueError(
            "`log_input` and `targets` must have the same shape, received "
            f"({log_input.shape} vs {targets.shape})."
        )
    loss = call("exp", (log_input,), {}) - log_input * targets
    if not compute_full_loss:
        return loss
    one = convert(1, targets._dtype_enum)
    safe = call("maximum", (targets, one), {})
    log = call("log", (safe,), {})
    stirling = safe * log - safe + 0.5 * call("log", (safe * (2 * 3.141592653589793),), {})
    zero = call("zeros_like", (targets,), {})
    return loss + call("select", (targets > one, stirling, zero), {})


@export("tf.nn.compute_average_loss")
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of the losses divided by the batch size."""
    loss = convert_to_tensor(per_example_loss)
    if loss.ndim == 0:
        raise ValueError(f"`per_example_loss` must have at least one dimension, got {loss.shape}")
    if sample_weight is not None:
        weights = cast(convert_to_tensor(sample_weight), loss.dtype)
        for _ in range(loss.ndim - weights.ndim if weights.ndim else 0):
            weights = call("expand_dims", (weights,), {"axis": -1})
        loss = loss * weights
    if global_batch_size is None:
        global_batch_size = tidemark.shape(loss)[0]
    size = cast(convert_to_tensor(global_batch_size), loss.dtype)
    return call("sum", (loss,), {}) / size


@export("tf.nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss):
    """The sum of the losses: there is one replica."""
    return call("sum", (convert_to_tensor(regularization_loss),), {})
