"""``tf.compat.v1.metrics``: (value so far, operation that takes a batch in).

What has been seen is kept in local variables; ``tf.local_variables_initializer`` starts anew.
"""

from __future__ import annotations

import tidemark as tf
from tidemark._v1.graph import GraphKeys, current_place, get_default_graph
from tidemark._v1.scopes import variable_scope
from tidemark._v1.variables import RefVariable


def metric_variable(shape, dtype, validate_shape=True, name=None):
    """A local variable of zeros."""
    if current_place() is None:
        raise RuntimeError("tf.metrics is not supported when eager execution is enabled.")
    return RefVariable(
        lambda: tf.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        name=name,
    )


def _added(value, update, metrics_collections, updates_collections):
    graph = get_default_graph()
    if metrics_collections:
        graph.add_to_collections(metrics_collections, value)
    if updates_collections:
        graph.add_to_collections(updates_collections, update)
    return value, update


def _weights_for(weights, values):
    if weights is None:
        return None
    weights = tf.cast(weights, tf.float32)
    while weights.shape.rank not in (0, None) and weights.shape.rank < values.shape.rank:
        weights = tf.expand_dims(weights, -1)
    return tf.broadcast_to(weights, tf.shape(values))


def mean(values, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The weighted mean of everything seen."""
    with variable_scope(name, "mean"):
        values = tf.cast(values, tf.float32)
        total = metric_variable([], tf.float32, name="total")
        count = metric_variable([], tf.float32, name="count")
        weights = _weights_for(weights, values)
        if weights is None:
            seen = tf.cast(tf.size(values), tf.float32)
        else:
            values, seen = values * weights, tf.reduce_sum(weights)
        new_total = total.assign_add(tf.reduce_sum(values))
        new_count = count.assign_add(seen)
        value = tf.math.divide_no_nan(total.value(), count.value(), name="value")
        update = tf.math.divide_no_nan(new_total, new_count, name="update_op")
        return _added(value, update, metrics_collections, updates_collections)


def accuracy(labels, predictions, weights=None, metrics_collections=None,
             updates_collections=None, name=None):  # fmt: skip
    """How often predictions are the labels."""
    labels, predictions = _same_rank(labels, predictions)
    if labels.dtype != predictions.dtype:
        predictions = tf.cast(predictions, labels.dtype)
    right = tf.cast(tf.equal(predictions, labels), tf.float32)
    return mean(right, weights, metrics_collections, updates_collections, name or "accuracy")


def _same_rank(labels, predictions):
    labels, predictions = tf.convert_to_tensor(labels), tf.convert_to_tensor(predictions)
    one, other = labels.shape.rank, predictions.shape.rank
    if None not in (one, other):
        if one == other + 1:
            labels = tf.squeeze(labels, [-1])
        elif other == one + 1:
            predictions = tf.squeeze(predictions, [-1])
    return labels, predictions


def mean_absolute_error(labels, predictions, weights=None, metrics_collections=None,
                        updates_collections=None, name=None):  # fmt: skip
    labels, predictions = _same_rank(labels, predictions)
    errors = tf.abs(predictions - tf.cast(labels, predictions.dtype))
    where = name or "mean_absolute_error"
    return mean(errors, weights, metrics_collections, updates_collections, where)


def mean_squared_error(labels, predictions, weights=None, metrics_collections=None,
                       updates_collections=None, name=None):  # fmt: skip
    labels, predictions = _same_rank(labels, predictions)
    errors = tf.math.squared_difference(tf.cast(labels, predictions.dtype), predictions)
    where = name or "mean_squared_error"
    return mean(errors, weights, metrics_collections, updates_collections, where)


def root_mean_squared_error(labels, predictions, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):  # fmt: skip
    where = name or "root_mean_squared_error"
    value, update = mean_squared_error(labels, predictions, weights, name=where)
    return _added(tf.sqrt(value), tf.sqrt(update), metrics_collections, updates_collections)


def mean_relative_error(labels, predictions, normalizer, weights=None, metrics_collections=None,
                        updates_collections=None, name=None):  # fmt: skip
    labels, predictions = _same_rank(labels, predictions)
    labels = tf.cast(labels, predictions.dtype)
    errors = tf.math.divide_no_nan(tf.abs(labels - predictions), tf.cast(normalizer, labels.dtype))
    where = name or "mean_relative_error"
    return mean(errors, weights, metrics_collections, updates_collections, where)


def percentage_below(values, threshold, weights=None, metrics_collections=None,
                     updates_collections=None, name=None):  # fmt: skip
    """The part of the values below the threshold."""
    below = tf.cast(tf.less(values, threshold), tf.float32)
    where = name or "percentage_below_threshold"
    return mean(below, weights, metrics_collections, updates_collections, where)


# --- counts of a yes or no -----------------------------------------------------------------------


def _count(which, weights, name):
    """(count so far, count with this batch)."""
    kept = metric_variable([], tf.float32, name=name)
    values = tf.cast(which, tf.float32)
    weights = _weights_for(weights, values)
    seen = tf.reduce_sum(values if weights is None else values * weights)
    return kept.value(), kept.assign_add(seen)


def _yes(labels, predictions):
    labels, predictions = _same_rank(labels, predictions)
    return tf.cast(labels, tf.bool), tf.cast(predictions, tf.bool)


def _counting(kind, choose):
    def metric(labels, predictions, weights=None, metrics_collections=None,
               updates_collections=None, name=None):  # fmt: skip
        with variable_scope(name, kind):
            labels, predictions = _yes(labels, predictions)
            value, update = _count(choose(labels, predictions), weights, "count")
            return _added(value, update, metrics_collections, updates_collections)

    metric.__name__ = metric.__qualname__ = kind
    metric.__doc__ = f"How many {kind.replace('_', ' ')} were seen."
    return metric


true_positives = _counting("true_positives", lambda y, p: tf.logical_and(y, p))
false_positives = _counting("false_positives", lambda y, p: tf.logical_and(tf.logical_not(y), p))
false_negatives = _counting("false_negatives", lambda y, p: tf.logical_and(y, tf.logical_not(p)))
true_negatives = _counting("true_negatives", lambda y, p: tf.logical_not(tf.logical_or(y, p)))


def _ratio(kind, what, wrong, labels, predictions, weights, metrics_collections,
           updates_collections, name):  # fmt: skip
    with variable_scope(name, kind):
        labels, predictions = _yes(labels, predictions)
        hits, more_hits = _count(
            tf.logical_and(labels, predictions), weights, "true_positives/count"
        )
        bad, more_bad = _count(wrong(labels, predictions), weights, f"{what}/count")
        value = tf.math.divide_no_nan(hits, hits + bad, name="value")
        update = tf.math.divide_no_nan(more_hits, more_hits + more_bad, name="update_op")
        return _added(value, update, metrics_collections, updates_collections)


def precision(labels, predictions, weights=None, metrics_collections=None,
              updates_collections=None, name=None):  # fmt: skip
    """The part of what was predicted that was right."""
    return _ratio(
        "precision", "false_positives", lambda y, p: tf.logical_and(tf.logical_not(y), p),
        labels, predictions, weights, metrics_collections, updates_collections, name,
    )  # fmt: skip


def recall(labels, predictions, weights=None, metrics_collections=None,
           updates_collections=None, name=None):  # fmt: skip
    """The part of what is there that was predicted."""
    return _ratio(
        "recall", "false_negatives", lambda y, p: tf.logical_and(y, tf.logical_not(p)),
        labels, predictions, weights, metrics_collections, updates_collections, name,
    )  # fmt: skip


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None,
        updates_collections=None, curve="ROC", name=None,
        summation_method="trapezoidal", thresholds=None):  # fmt: skip
    """The area under the ROC or the precision-recall curve, by thresholds."""
    if curve not in ("ROC", "PR"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    epsilon = 1e-7
    count = num_thresholds - 2
    edges = [(i + 1) / (num_thresholds - 1) for i in range(count)]
    edges = tf.constant([-epsilon, *edges, 1.0 + epsilon], tf.float32)
    with variable_scope(name, "auc"):
        labels, _ = _yes(labels, labels)
        labels = tf.reshape(labels, [1, -1])
        scores = tf.reshape(tf.cast(predictions, tf.float32), [1, -1])
        chosen = scores > tf.reshape(edges, [-1, 1])
        weight = 1.0
        if weights is not None:
            weight = tf.reshape(_weights_for(weights, tf.reshape(scores, [-1])), [1, -1])
        now, then = [], []
        for kind, which in (
            ("true_positives", tf.logical_and(labels, chosen)),
            ("false_negatives", tf.logical_and(labels, tf.logical_not(chosen))),
            ("true_negatives", tf.logical_not(tf.logical_or(labels, chosen))),
            ("false_positives", tf.logical_and(tf.logical_not(labels), chosen)),
        ):
            kept = metric_variable([num_thresholds], tf.float32, name=kind)
            now.append(kept.value())
            then.append(kept.assign_add(tf.reduce_sum(tf.cast(which, tf.float32) * weight, 1)))
        area = lambda counts: _area(*counts, curve, epsilon)  # noqa: E731
        return _added(area(now), area(then), metrics_collections, updates_collections)


def _area(tp, fn, tn, fp, curve, epsilon):
    recalled = (tp + epsilon) / (tp + fn + epsilon)
    if curve == "ROC":
        x, y = fp / (fp + tn + epsilon), recalled
    else:
        x, y = recalled, (tp + epsilon) / (tp + fp + epsilon)
    return tf.reduce_sum((x[:-1] - x[1:]) * (y[:-1] + y[1:]) / 2.0)


def mean_iou(labels, predictions, num_classes, weights=None, metrics_collections=None,
             updates_collections=None, name=None):  # fmt: skip
    """The mean over the classes of intersection over union; the update gives the matrix."""
    with variable_scope(name, "mean_iou"):
        seen = metric_variable(
            [num_classes, num_classes], tf.float64, name="total_confusion_matrix"
        )
        flat = [tf.reshape(tf.cast(t, tf.int64), [-1]) for t in (labels, predictions)]
        if weights is not None:
            weights = tf.reshape(weights, [-1])
        matrix = tf.math.confusion_matrix(*flat, num_classes, weights, tf.float64)
        update = seen.assign_add(matrix)
        kept = seen.value()
        hits = tf.linalg.diag_part(kept)
        union = tf.reduce_sum(kept, 0) + tf.reduce_sum(kept, 1) - hits
        there = tf.reduce_sum(tf.cast(union != 0, tf.float64))
        value = tf.math.divide_no_nan(tf.reduce_sum(tf.math.divide_no_nan(hits, union)), there)
        value = tf.cast(value, tf.float32)
        return _added(value, update, metrics_collections, updates_collections)


def mean_tensor(values, weights=None, metrics_collections=None, updates_collections=None,
                name=None):  # fmt: skip
    """The mean of tensors of one shape, element by element."""
    with variable_scope(name, "mean"):
        values = tf.cast(values, tf.float32)
        shape = values.shape.as_list()
        total = metric_variable(shape, tf.float32, name="total_tensor")
        count = metric_variable(shape, tf.float32, name="count_tensor")
        seen = tf.ones_like(values) if weights is None else _weights_for(weights, values)
        new_total, new_count = total.assign_add(values * seen), count.assign_add(seen)
        value = tf.math.divide_no_nan(total.value(), count.value())
        update = tf.math.divide_no_nan(new_total, new_count)
        return _added(value, update, metrics_collections, updates_collections)
