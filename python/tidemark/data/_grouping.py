"""Steps whose functions see more than one element: groups, buckets, states that go along."""

from __future__ import annotations

import numpy as np

import tidemark as tf
from tidemark import dtypes, nest
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tensor.specs import TensorSpec
from tidemark._tidemark import Tensor
from tidemark.data._dataset import DatasetSpec, DatasetV2
from tidemark.data._elements import flat_specs
from tidemark.data._staged_handles import call
from tidemark.data._traced import Traced, flat, spec_of, tensors_of

_NUMBER = TensorSpec([], dtypes.int64)


def _check_number(traced, what):
    spec = traced.spec
    if not isinstance(spec, TensorSpec) or spec.dtype != dtypes.int64 or spec.shape.rank:
        raise TypeError(
            f"Invalid `{what}`. `{what}` must return a single `tf.int64` scalar tensor, "
            f"got {spec!r}."
        )
    return traced.graph, traced.captures


def by_window(dataset, key_func, reduce_func, window_size, window_size_func):
    """``Dataset.group_by_window``."""
    if (window_size is None) == (window_size_func is None):
        raise ValueError(
            "Either the `window_size` argument or the `window_size_func` argument must be "
            "specified."
        )
    if window_size is not None:
        size = convert_to_tensor(window_size, dtype=dtypes.int64)

        def window_size_func(key):
            return size

    key = _check_number(Traced(key_func, [dataset.element_spec], "key_func"), "key_func")
    size = _check_number(Traced(window_size_func, [_NUMBER], "size_func"), "window_size_func")
    group = [_NUMBER, DatasetSpec(dataset.element_spec)]
    reduced = Traced(reduce_func, group, "reduce_func", spreads=False)
    if not reduced.gives_dataset:
        raise TypeError(
            f"Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object, "
            f"got {reduced.spec!r}."
        )
    return dataset._step(
        "group_by_window", *key, *size, reduced.graph, reduced.captures,
        spec=reduced.spec.element_spec,
    )  # fmt: skip


def by_length(dataset, element_length_func, boundaries, batch_sizes, padded_shapes, padding_values,
              pad_to_boundary, no_padding, drop_remainder):  # fmt: skip
    """``Dataset.bucket_by_sequence_length``."""
    boundaries = list(boundaries)
    if len(batch_sizes) != len(boundaries) + 1:
        raise ValueError(
            f"`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but is "
            f"{len(batch_sizes)} vs. {len(boundaries) + 1}."
        )
    sizes = tf.constant(batch_sizes, dtype=tf.int64)
    limit = np.iinfo(np.int32)

    def bucket_of(*element):
        length = element_length_func(*element)
        low = tf.constant([limit.min, *boundaries], dtype=length.dtype)
        high = tf.constant([*boundaries, limit.max], dtype=length.dtype)
        inside = tf.logical_and(low <= length, length < high)
        return tf.reduce_min(tf.where(inside))

    def batches(bucket, group):
        size = tf.gather(sizes, bucket)
        if no_padding:
            return group.batch(size, drop_remainder=drop_remainder)
        filler = None
        if pad_to_boundary:
            message = (
                "When pad_to_bucket_boundary=True, elements must have length < "
                "max(bucket_boundaries)."
            )
            last = tf.constant(len(batch_sizes) - 1, tf.int64)
            tf.debugging.assert_less(bucket, last, message=message)
            filler = tf.gather(tf.constant([*boundaries, 0], tf.int64), bucket) - 1
        shapes = padded_shapes
        if shapes is None:
            shapes = nest.map_structure(lambda s: s.shape, group.element_spec)
        return group.padded_batch(
            size, _with_filler(group.element_spec, shapes, filler), padding_values,
            drop_remainder=drop_remainder,
        )  # fmt: skip

    return by_window(dataset, bucket_of, batches, None, lambda bucket: tf.gather(sizes, bucket))


def _with_filler(spec, shapes, filler):
    """The shapes with a size in the place of those that are unknown."""
    if filler is None:
        return shapes
    flat_shapes = []
    for shape in nest.flatten_up_to(spec, shapes):
        sizes = shape.as_list() if hasattr(shape, "as_list") else list(shape)
        unknown = [d is None or (not isinstance(d, Tensor) and d < 0) for d in sizes]
        flat_shapes.append([filler if u else d for d, u in zip(sizes, unknown, strict=True)])
    if not nest.is_nested(spec):
        return flat_shapes[0]
    return nest.pack_sequence_as(spec, [_Whole(s) for s in flat_shapes])


class _Whole(tuple):
    """A shape that stands for itself in a structure."""


def scan(dataset, initial_state, scan_func):
    """``Dataset.scan``."""
    state = nest.map_structure(convert_to_tensor, tensors_of(initial_state))
    spec = nest.map_structure(spec_of, state)
    while True:
        traced = Traced(scan_func, [spec, dataset.element_spec], "scan", spreads=False)
        if not isinstance(traced.spec, tuple) or len(traced.spec) != 2:
            raise TypeError(
                "Invalid `scan_func`. `scan_func` should return a pair consisting of new state "
                f"and the output value, but its return type is {traced.spec!r}."
            )
        after, output = traced.spec
        wider = _common(spec, after)
        if wider == spec:
            break
        spec = wider
    handle = call(dataset._handle, "scan", flat(state), traced.graph, traced.captures)
    found = dataset._next(handle, output)
    found._needs = traced.state_outside()
    return found


def _common(before, after):
    try:
        nest.assert_same_structure(before, after)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"Invalid `scan_func`. The new state {after!r} has another structure than the "
            f"initial one {before!r}."
        ) from error
    found = []
    for a, b in zip(flat_specs(before), flat_specs(after), strict=True):
        if a.dtype != b.dtype:
            raise TypeError(
                f"Invalid `scan_func`. The element types for the new state must match the initial "
                f"state. Initial state: {before!r}; new state: {after!r}."
            )
        found.append(a.most_specific_common_supertype([b]))
    return nest.pack_sequence_as(before, found)


def rebatch(dataset, sizes, drop):
    """Batches of several sizes in turn."""
    parts = dataset.unbatch().batch(sum(sizes))
    ends = np.cumsum([0, *sizes])

    def cut(*element):
        element = element[0] if len(element) == 1 else element
        rows = tf.shape(nest.flatten(element)[0], out_type=tf.int64)[0]
        starts = tf.constant(ends[:-1], tf.int64)
        wanted = tf.constant(sizes, tf.int64)
        there = tf.minimum(wanted, tf.maximum(rows - starts, 0))
        pieces = DatasetV2.from_tensor_slices((starts, there, wanted))
        if drop:
            pieces = pieces.filter(lambda start, has, wants: has == wants)
        else:
            pieces = pieces.filter(lambda start, has, wants: has > 0)
        return pieces.map(
            lambda start, has, wants: nest.map_structure(lambda t: t[start : start + has], element)
        )

    return parts.flat_map(cut)
