"""``tf.compat.v1.losses``: weighted losses that a collection gathers."""

from __future__ import annotations

import functools
import inspect

import tidemark as tf
from tidemark._v1 import naming
from tidemark._v1.graph import GraphKeys, current_place, get_default_graph


class Reduction:
    """What becomes of the losses of single elements."""

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_OVER_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"

    @classmethod
    def all(cls):
        return (cls.NONE, cls.SUM, cls.MEAN, cls.SUM_OVER_BATCH_SIZE, cls.SUM_BY_NONZERO_WEIGHTS)

    @classmethod
    def validate(cls, key):
        if key not in cls.all():
            raise ValueError(f"Invalid Reduction Key {key}.")


_DEFAULT = Reduction.SUM_BY_NONZERO_WEIGHTS


def _scoped(default):
    """A loss whose operations stand in a scope of its own, the last one named ``value``."""

    def decorate(function):
        @functools.wraps(function)
        def call(*args, **kwargs):
            place = current_place()
            if place is None:
                return function(*args, **kwargs)
            given = inspect.signature(function).bind(*args, **kwargs).arguments.get("scope")
            with naming.scope_for(place, given or default, ("value",)) as scope:
                loss = function(*args, **kwargs)
                scope.name(loss)
            return loss

        return call

    return decorate


def _cast(x, dtype):
    """The tensor in the dtype; itself where it has it, as operations keep their names then."""
    x = tf.convert_to_tensor(x)
    return x if x.dtype == dtype else tf.cast(x, dtype)


def add_loss(loss, loss_collection=GraphKeys.LOSSES):
    """Puts a loss into the collection."""
    if loss_collection and current_place() is not None:
        get_default_graph().add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=GraphKeys.LOSSES):
    return get_default_graph().get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    return get_default_graph().get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the regularization losses; zero without any."""
    losses = get_regularization_losses(scope)
    return tf.add_n(losses, name=name) if losses else tf.constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of all losses of the collections."""
    losses = get_losses(scope)
    if add_regularization_losses:
        losses = [*losses, *get_regularization_losses(scope)]
    return tf.add_n(losses, name=name)


def compute_weighted_loss(losses, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
                          reduction=_DEFAULT):  # fmt: skip
    """The losses of single elements, weighted and reduced to one."""
    Reduction.validate(reduction)
    losses = tf.convert_to_tensor(losses)
    given = losses.dtype
    losses = _cast(losses, tf.float32)
    weights = _cast(weights, tf.float32)
    weights, losses = _fitting(weights, losses)
    weighted = losses * weights
    if reduction == Reduction.NONE:
        loss = weighted
    else:
        loss = tf.reduce_sum(weighted)
        if reduction == Reduction.MEAN:
            loss = tf.math.divide_no_nan(loss, tf.reduce_sum(tf.ones_like(losses) * weights))
        elif reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
            counted = tf.ones_like(losses) * _cast(weights != 0.0, tf.float32)
            loss = tf.math.divide_no_nan(loss, tf.reduce_sum(counted))
        elif reduction == Reduction.SUM_OVER_BATCH_SIZE:
            loss = tf.math.divide_no_nan(loss, _cast(tf.size(losses), tf.float32))
    loss = _cast(loss, given)
    add_loss(loss, loss_collection)
    return loss


def _fitting(weights, losses):
    """Weights are one number or of the losses' rank, each size the losses' or one."""
    rank, wanted = weights.shape.rank, losses.shape.rank
    if rank == 0:
        return weights, losses
    if rank is None or wanted is None:
        return _checked_when_run(weights, losses), losses
    if rank == wanted + 1 and weights.shape[-1] in (1, None):
        weights = tf.squeeze(weights, [-1])
    elif wanted == rank + 1 and losses.shape[-1] == 1 and weights.shape == losses.shape[:-1]:
        weights = tf.expand_dims(weights, -1)
    elif rank != wanted:
        raise ValueError(
            f"weights can not be broadcast to values. values.rank={wanted}. weights.rank={rank}. "
            f"values.shape={losses.shape}. weights.shape={weights.shape}."
        )
    for at, (one, other) in enumerate(zip(weights.shape, losses.shape, strict=False)):
        if None not in (one, other) and one not in (1, other):
            raise ValueError(
                f"weights can not be broadcast to values. Mismatch at dim {at}. "
                f"values.shape={losses.shape}. weights.shape={weights.shape}."
            )
    return weights, losses


def _checked_when_run(weights, losses):
    """The weights, checked when they are known: one number, or each size theirs or 1."""

    own_rank, rank = tf.rank(weights), tf.rank(losses)
    sizes = tf.cond(tf.equal(own_rank, rank + 1), lambda: tf.shape(weights)[:-1],
                    lambda: tf.shape(weights))  # fmt: skip
    weights = tf.reshape(weights, sizes)

    def fits():
        own, others = tf.shape(weights), tf.shape(losses)
        return tf.reduce_all((own == 1) | (own == others))

    holds = tf.cond(
        tf.equal(tf.rank(weights), 0),
        lambda: tf.constant(True),
        lambda: tf.cond(tf.equal(tf.rank(weights), tf.rank(losses)), fits,
                        lambda: tf.constant(False)),
    )  # fmt: skip
    text = "weights can not be broadcast to values. weights.shape="
    shapes = [tf.shape(weights), "values.shape=", tf.shape(losses)]
    check = tf.debugging.Assert(holds, [text, *shapes])
    with tf.control_dependencies([check]):
        return tf.identity(weights)


def _pair(labels, predictions):
    if labels is None:
        raise ValueError("labels must not be None.")
    if predictions is None:
        raise ValueError("predictions must not be None.")
    predictions = _cast(predictions, tf.float32)
    labels = _cast(labels, tf.float32)
    if not predictions.shape.is_compatible_with(labels.shape):
        raise ValueError(f"Shapes {predictions.shape} and {labels.shape} are incompatible")
    return labels, predictions


@_scoped("absolute_difference")
def absolute_difference(labels, predictions, weights=1.0, scope=None,
                        loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):  # fmt: skip
    labels, predictions = _pair(labels, predictions)
    losses = tf.abs(predictions - labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("mean_squared_error")
def mean_squared_error(labels, predictions, weights=1.0, scope=None,
                       loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):  # fmt: skip
    labels, predictions = _pair(labels, predictions)
    losses = tf.math.squared_difference(predictions, labels)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("huber_loss")
def huber_loss(labels, predictions, weights=1.0, delta=1.0, scope=None,
               loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):  # fmt: skip
    """Squares up to ``delta``, straight lines beyond."""
    labels, predictions = _pair(labels, predictions)
    error = tf.abs(predictions - labels)
    inside = tf.minimum(error, delta)
    losses = 0.5 * inside * inside + delta * (error - inside)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("log_loss")
def log_loss(labels, predictions, weights=1.0, epsilon=1e-7, scope=None,
             loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):  # fmt: skip
    labels, predictions = _pair(labels, predictions)
    losses = -labels * tf.math.log(predictions + epsilon)
    losses = losses - (1 - labels) * tf.math.log(1 - predictions + epsilon)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("hinge_loss")
def hinge_loss(labels, logits, weights=1.0, scope=None, loss_collection=GraphKeys.LOSSES,
               reduction=_DEFAULT):  # fmt: skip
    labels, logits = _pair(labels, logits)
    losses = tf.nn.relu(1.0 - (2.0 * labels - 1.0) * logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("cosine_distance_loss")
def cosine_distance(labels, predictions, axis=None, weights=1.0, scope=None,
                    loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT, dim=None):  # fmt: skip
    """One minus the product of vectors of length one along the axis."""
    axis = dim if axis is None else axis
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    labels, predictions = _pair(labels, predictions)
    losses = 1 - tf.reduce_sum(predictions * labels, axis=axis, keepdims=True)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("mean_pairwise_squared_error")
def mean_pairwise_squared_error(labels, predictions, weights=1.0, scope=None,
                                loss_collection=GraphKeys.LOSSES):  # fmt: skip
    """The mean of the squares of differences between pairs of errors, an example at a time."""
    labels, predictions = _pair(labels, predictions)
    errors = predictions - labels
    if errors.shape.rank == 1:
        errors = tf.expand_dims(errors, 0)
    axes = list(range(1, errors.shape.rank))
    weights = _cast(weights, tf.float32)
    count = _cast(tf.size(errors) // tf.shape(errors)[0], tf.float32)
    squares = tf.reduce_sum(tf.square(errors), axis=axes, keepdims=True)
    first = 2.0 * tf.math.divide_no_nan(squares, count - 1)
    total = tf.square(tf.reduce_sum(errors, axis=axes, keepdims=True))
    second = 2.0 * tf.math.divide_no_nan(total, count * (count - 1))
    loss = tf.reduce_sum((first - second) * weights)
    add_loss(loss, loss_collection)
    return loss


@_scoped("sigmoid_cross_entropy_loss")
def sigmoid_cross_entropy(multi_class_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):  # fmt: skip
    logits = tf.convert_to_tensor(logits)
    labels = _cast(multi_class_labels, logits.dtype)
    if label_smoothing > 0:
        labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
    losses = tf.nn.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("softmax_cross_entropy_loss")
def softmax_cross_entropy(onehot_labels, logits, weights=1.0, label_smoothing=0, scope=None,
                          loss_collection=GraphKeys.LOSSES, reduction=_DEFAULT):  # fmt: skip
    logits = tf.convert_to_tensor(logits)
    labels = _cast(onehot_labels, logits.dtype)
    if label_smoothing > 0:
        classes = _cast(tf.shape(labels)[-1], logits.dtype)
        labels = labels * (1 - label_smoothing) + label_smoothing / classes
    losses = tf.nn.softmax_cross_entropy_with_logits(tf.stop_gradient(labels), logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)


@_scoped("sparse_softmax_cross_entropy_loss")
def sparse_softmax_cross_entropy(labels, logits, weights=1.0, scope=None,
                                 loss_collection=GraphKeys.LOSSES,
                                 reduction=_DEFAULT):  # fmt: skip
    labels, logits = tf.convert_to_tensor(labels), tf.convert_to_tensor(logits)
    if labels.shape.rank is not None and labels.shape.rank == logits.shape.rank:
        labels = tf.squeeze(labels, [-1])
    losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
    return compute_weighted_loss(losses, weights, scope, loss_collection, reduction)
