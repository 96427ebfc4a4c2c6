"""Scalars, histograms, images, text and audio as summaries."""

from __future__ import annotations

import functools

import numpy as np

import tidemark as tf
from tidemark._tensor.creation import cast, convert_to_tensor
from tidemark._tidemark import convert, is_tracing
from tidemark.summary._events import metadata_message, summary_message
from tidemark.summary._writer import has_default_writer, record, summary_scope

_SCALAR, _TENSOR, _BLOBS = 1, 2, 3


def _as_operation(function):
    """While a session's graph is built, and no writer is there to write at once, what TensorFlow 1
    has under the name: an operation that gives the summary."""

    @functools.wraps(function)
    def either(name, *args, **kwargs):
        if is_tracing() and not has_default_writer():
            from tidemark._v1 import summary  # it imports this module
            from tidemark._v1.graph import is_building  # only sessions need it

            if is_building():
                return getattr(summary, function.__name__)(name, *args, **kwargs)
        return function(name, *args, **kwargs)

    return either


def _write(name, step, plugin, data_class, description, data, make=None):
    """Writes what ``make`` gives for the value of the data, or that value."""
    with summary_scope(name, plugin) as (tag, _):
        metadata = metadata_message(plugin, data_class, description=description or "")

        def summary(value):
            return summary_message(tag, make(value) if make else value, metadata)

        return record(
            lambda: [data() if callable(data) else convert_to_tensor(data)], summary, step
        )


@_as_operation
def scalar(name, data, step=None, description=None):
    """Writes a number."""

    def made():
        value = cast(data, "float32")
        if value.shape.rank != 0:
            raise ValueError(f"tf.summary.scalar takes a scalar, got shape {value.shape}")
        return value

    return _write(name, step, "scalars", _SCALAR, description, made)


@_as_operation
def histogram(name, data, step=None, buckets=None, description=None):
    """Writes how values are spread: rows of left edge, right edge and count."""
    return _write(
        name, step, "histograms", _TENSOR, description, data,
        lambda values: convert_to_tensor(_buckets(np.asarray(values), buckets or 30)),
    )  # fmt: skip


def _buckets(values, count):
    values = values.astype(np.float64).ravel()
    if not values.size:
        return np.zeros((count, 3))
    low, high = values.min(), values.max()
    if low == high:  # all in the last bucket, as TensorBoard shows one value
        edges = np.full((count, 2), low)
        counts = np.zeros(count)
        counts[-1] = values.size
        return np.column_stack([edges, counts])
    counts, edges = np.histogram(values, bins=count, range=(low, high))
    return np.column_stack([edges[:-1], edges[1:], counts])


@_as_operation
def image(name, data, step=None, max_outputs=3, description=None):
    """Writes some images of a batch, as PNG."""

    def made(batch):
        if batch.shape.rank != 4:
            raise ValueError(f"tf.summary.image takes [k, h, w, c], got shape {batch.shape}")
        if batch.dtype.is_floating:
            batch = tf.saturate_cast(tf.clip_by_value(batch, 0, 1) * 255.0 + 0.5, "uint8")
        files = [tf.io.encode_png(one).numpy() for one in batch[:max_outputs]]
        size = [str(batch.shape[2]).encode(), str(batch.shape[1]).encode()]
        return convert([*size, *files])

    return _write(name, step, "images", _BLOBS, description, data, made)


@_as_operation
def text(name, data, step=None, description=None):
    """Writes strings."""
    return _write(name, step, "text", _TENSOR, description, data)


@_as_operation
def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes some clips of a batch, as WAV."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")

    def made(clips):
        if clips.shape.rank != 3:
            raise ValueError(f"tf.summary.audio takes [k, t, c], got shape {clips.shape}")
        files = [tf.audio.encode_wav(one, sample_rate).numpy() for one in clips[:max_outputs]]
        return convert([[file, b""] for file in files])

    return _write(name, step, "audio", _BLOBS, description, data, made)
