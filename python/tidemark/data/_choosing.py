"""Elements of several datasets, by chance or by name; elements thrown away by their class."""

from __future__ import annotations

import numpy as np

import tidemark as tf
from tidemark import _tidemark, dtypes, nest
from tidemark._tensor.specs import TensorSpec
from tidemark._tidemark import Tensor
from tidemark.data._dataset import DatasetV2
from tidemark.data._staged_handles import call, made
from tidemark.data._traced import seeds_of


def _common_spec(datasets):
    if not datasets:
        raise ValueError("Invalid `datasets`. `datasets` should not be empty.")
    spec = datasets[0].element_spec
    for dataset in datasets[1:]:
        spec = nest.map_structure(
            lambda a, b: a.most_specific_common_supertype([b]), spec, dataset.element_spec
        )
        if any(leaf is None for leaf in nest.flatten(spec)):
            raise TypeError(
                "the elements of the datasets differ: "
                f"{datasets[0].element_spec} and {dataset.element_spec}"
            )
    return spec


def _of(datasets, handle):
    return DatasetV2(handle, _common_spec(datasets), datasets[0]._options, tuple(datasets))


def sample(datasets, weights, seed, stops, again):
    """``Dataset.sample_from_datasets``."""
    datasets = list(datasets)
    _common_spec(datasets)
    if isinstance(weights, DatasetV2):
        return _by_weights_of(datasets, weights, seed, stops)
    if weights is None:
        weights = [1.0 / len(datasets)] * len(datasets)
    if isinstance(weights, Tensor):
        if weights.dtype not in (dtypes.float32, dtypes.float64):
            raise TypeError(
                "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but "
                f"is {weights.dtype}."
            )
        weights = weights.numpy()
    weights = np.asarray(weights)
    if weights.shape != (len(datasets),):
        raise ValueError(
            "Invalid `weights`. The shape of `weights` should be compatible with "
            f"`[len(datasets)]` but is {weights.shape}."
        )
    if weights.dtype.kind != "f":
        raise TypeError(
            "Invalid `weights`. `weights` type must be either `tf.float32` or `tf.float64` but is "
            f"{weights.dtype}."
        )
    datasets = [d for d, w in zip(datasets, weights, strict=True) if w != 0]
    weights = weights[weights != 0]
    if len(datasets) == 1:
        return datasets[0]
    handle = made(
        _tidemark.dataset_sample, [d._handle for d in datasets], [float(w) for w in weights],
        seeds_of(seed), bool(again), bool(stops),
    )  # fmt: skip
    return _of(datasets, handle)


def _by_weights_of(datasets, weights, seed, stops):
    """Weights that change from element to element."""
    draws = weights.enumerate()
    seeds = seeds_of(seed)

    def choice(number, weight):
        one = tf.random.stateless_uniform([], tf.stack([number + seeds[0], seeds[1]]))
        ends = tf.cumsum(tf.cast(weight, tf.float32))
        last = tf.constant(len(datasets) - 1, tf.int64)
        found = tf.searchsorted(ends, [one * ends[-1]], side="right", out_type=tf.int64)[0]
        return tf.minimum(found, last)

    return choose(datasets, draws.map(choice), stops)


def choose(datasets, choice_dataset, stops):
    """``Dataset.choose_from_datasets``."""
    datasets = list(datasets)
    _common_spec(datasets)
    spec = getattr(choice_dataset, "element_spec", None)
    if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.int64 or spec.shape.rank != 0:
        raise TypeError(
            "Invalid `choice_dataset`. Elements of `choice_dataset` must be scalar `tf.int64` "
            f"tensors but are {spec!r}."
        )
    handles = [d._handle for d in datasets]
    return _of(datasets, call(choice_dataset._handle, "choose", handles, bool(stops)))


def resample(dataset, class_func, target_dist, initial_dist, seed):
    """``Dataset.rejection_resample``: an element stays with the chance that its class needs."""
    target = tf.convert_to_tensor(target_dist)
    numbers = seeds_of(seed)
    tiny = tf.constant(target.dtype.as_numpy_dtype(np.finfo(target.dtype.as_numpy_dtype).tiny))

    def whole(parts):
        return parts[0] if len(parts) == 1 else parts

    def class_of(*parts):
        found = class_func(*parts)
        return tf.cast(found, tf.int64), whole(parts)

    def keep_by(ratios):
        """The share of each class that stays, so that what stays has the target's shares."""
        return ratios / tf.reduce_max(ratios)

    classes = dataset.map(class_of)
    if initial_dist is not None:
        shares = tf.convert_to_tensor(initial_dist)
        keep = keep_by(target / tf.maximum(shares, tiny))
        known = classes.map(lambda label, element: (label, element, tf.gather(keep, label)))
    else:
        count = target.shape[0]

        def learn(seen, labelled):
            label, element = labelled
            seen = seen + tf.one_hot(label, count, dtype=seen.dtype)
            shares = seen / tf.reduce_sum(seen)
            keep = keep_by(target / tf.maximum(shares, tiny))
            return seen, (label, element, tf.gather(keep, label))

        known = classes.scan(tf.zeros([count], target.dtype), learn)

    def stays(number, labelled):
        drawn = tf.random.stateless_uniform([], tf.stack([number + numbers[0], numbers[1]]))
        return tf.cast(drawn, target.dtype) < labelled[2]

    chosen = known.enumerate().filter(stays)
    return chosen.map(lambda number, labelled: (labelled[0], labelled[1]))
