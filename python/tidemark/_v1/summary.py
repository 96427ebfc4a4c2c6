"""``tf.compat.v1.summary``: summaries as operations of the graph, and the files they go into.

tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
writer = tf.summary.FileWriter("logs", sess.graph)
writer.add_summary(sess.run(merged), step)
"""

from __future__ import annotations

import os
import re
import time

import numpy as np

import tidemark as tf
from tidemark._graph.scopes import executing_eagerly, get_current_name_scope
from tidemark._proto.config import RunMetadata
from tidemark._proto.framework import GraphDef
from tidemark._proto.summary import (
    Event,
    HistogramProto,
    SessionLog,
    Summary,
    SummaryMetadata,
    TaggedRunMetadata,
)
from tidemark._v1.graph import GraphKeys, get_default_graph, name_result
from tidemark._v1.graph_def.values import tensor_message
from tidemark.summary._events import EventFile

SummaryDescription = SummaryMetadata  # of plugins that describe themselves; the same fields


# --- summaries as operations ---------------------------------------------------------------------


def _clean(name):
    """A name of which no character is a problem in a tag."""
    if name is None:
        return None
    return re.sub(r"[^-/\w.]", "_", str(name)).lstrip("/")


def _tag(name, family):
    scope = get_current_name_scope()
    name = _clean(name)
    if family:
        family = _clean(family)
        return f"{family}/{scope}/{family}/{name}" if scope else f"{family}/{family}/{name}"
    return f"{scope}/{name}" if scope else name


def _operation(name, family, collections, inputs, make):
    """A string tensor: the summary that ``make(tag, *arrays)`` builds when the graph runs."""
    tag = _tag(name, family)
    if executing_eagerly():
        message = make(tag, *(tf.convert_to_tensor(x).numpy() for x in inputs))
        return tf.constant(message.SerializeToString())

    def build(*arrays):
        return np.array(make(tag, *arrays).SerializeToString(), dtype=object)

    with tf.name_scope(_clean(family)) if family else _Nothing():
        made = tf.numpy_function(build, [tf.convert_to_tensor(x) for x in inputs], tf.string)
        made = made[0] if isinstance(made, (list, tuple)) else made
        made.set_shape([])
        name_result(made, _clean(name))
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        get_default_graph().add_to_collection(key, made)
    return made


class _Nothing:
    def __enter__(self):
        return None

    def __exit__(self, *error):
        return False


def scalar(name, tensor, collections=None, family=None):
    """A number."""

    def make(tag, value):
        if value.size != 1:
            raise ValueError(f"tags and values not the same shape: [] != {list(value.shape)} (tag "
                             f"{tag!r})")  # fmt: skip
        return Summary(value=[{"tag": tag, "simple_value": float(value.reshape(-1)[0])}])

    return _operation(name, family, collections, [tensor], make)


def _limits():
    """The upper ends of the buckets: ten percent apart, from both sides of zero."""
    positive = [1e-12]
    while positive[-1] < 1e20:
        positive.append(positive[-1] * 1.1)
    positive[-1:] = [np.finfo(np.float64).max]
    return np.array([-v for v in reversed(positive)] + [0.0] + positive)


_LIMITS = []


def histogram_of(values):
    """A HistogramProto; empty buckets beside each other are one."""
    values = np.asarray(values, dtype=np.float64).reshape(-1)
    if not np.all(np.isfinite(values)):
        raise ValueError("Nan in summary histogram" if np.isnan(values).any() else
                         "Infinity in summary histogram")  # fmt: skip
    if not _LIMITS:
        _LIMITS.append(_limits())
    limits = _LIMITS[0]
    made = HistogramProto(num=values.size, sum=values.sum(), sum_squares=float(values @ values))
    if not values.size:
        made.bucket_limit.append(limits[-1])
        made.bucket.append(0.0)
        return made
    made.min, made.max = values.min(), values.max()
    counts = np.bincount(np.searchsorted(limits, values, side="right"), minlength=len(limits))
    for i, count in enumerate(counts):
        end = i + 1 == len(counts)
        if count or end or counts[i + 1]:
            made.bucket_limit.append(limits[i])
            made.bucket.append(count)
    return made


def histogram(name, values, collections=None, family=None):
    """How values are spread."""

    def make(tag, array):
        out = Summary()
        value = out.value.add(tag=tag)
        try:
            value.histo.CopyFrom(histogram_of(array))
        except ValueError as error:
            raise tf.errors.InvalidArgumentError(None, None, f"{error} for: {tag}") from None
        return out

    return _operation(name, family, collections, [values], make)


def image(name, tensor, max_outputs=3, collections=None, family=None):
    """Some images of a batch, as PNG."""

    def make(tag, batch):
        return images_of(tag, batch, max_outputs)

    return _operation(name, family, collections, [tensor], make)


def images_of(tag, batch, max_outputs):
    """A Summary with the first images of a batch."""
    if batch.ndim != 4 or batch.shape[3] not in (1, 3, 4):
        raise tf.errors.InvalidArgumentError(
            None, None, "Tensor must be 4-D with last dim 1, 3, or 4, not "
            f"{list(batch.shape)} (tag {tag!r})"
        )  # fmt: skip
    out = Summary()
    for i, one in enumerate(batch[:max_outputs]):
        value = out.value.add(tag=f"{tag}/image" if max_outputs == 1 else f"{tag}/image/{i}")
        value.image.height, value.image.width, value.image.colorspace = one.shape
        value.image.encoded_image_string = tf.io.encode_png(_pixels(one)).numpy()
    return out


def _pixels(one):
    """Numbers brought to 0…255: from zero up, or around the middle where some are negative."""
    if one.dtype in (np.uint8, np.uint16):
        return one
    one = one.astype(np.float64)
    right = np.isfinite(one)
    low, high = (one[right].min(), one[right].max()) if right.any() else (0.0, 0.0)
    if low < 0:
        most = max(abs(low), abs(high))
        scaled = one * (127.0 / most if most else 0.0) + 128.0
    else:
        scaled = one * (255.0 / high if high else 0.0)
    return np.clip(np.where(right, scaled, 0.0), 0, 255).astype(np.uint8)


def audio(name, tensor, sample_rate, max_outputs=3, collections=None, family=None):
    """Some clips of a batch, as WAV."""

    def make(tag, clips, rate):
        return clips_of(tag, clips, rate, max_outputs)

    return _operation(name, family, collections, [tensor, sample_rate], make)


def clips_of(tag, clips, rate, max_outputs):
    """A Summary with the first clips of a batch."""
    clips = clips[:, :, None] if clips.ndim == 2 else clips
    out = Summary()
    for i, one in enumerate(clips[:max_outputs]):
        value = out.value.add(tag=f"{tag}/audio" if max_outputs == 1 else f"{tag}/audio/{i}")
        value.audio.sample_rate, value.audio.content_type = float(rate), "audio/wav"
        value.audio.length_frames, value.audio.num_channels = one.shape
        file = tf.audio.encode_wav(one.astype(np.float32), int(rate))
        value.audio.encoded_audio_string = file.numpy()
    return out


def tensor_summary(name, tensor, summary_description=None, collections=None,
                   summary_metadata=None, family=None, display_name=None):  # fmt: skip
    """Any tensor, for a plugin that the metadata names."""

    def make(tag, array):
        out = Summary()
        value = out.value.add(tag=tag)
        if summary_metadata is not None:
            value.metadata.MergeFromString(summary_metadata.SerializeToString())
        if display_name is not None:
            value.metadata.display_name = display_name
        if summary_description is not None:
            value.metadata.summary_description = str(summary_description)
        value.tensor.CopyFrom(tensor_message(tf.constant(array)))
        return out

    return _operation(name, family, collections, [tensor], make)


def text(name, tensor, collections=None):
    """Strings."""
    tensor = tf.convert_to_tensor(tensor)
    if tensor.dtype != tf.string:
        raise ValueError(f"Expected tensor {tensor.name} to have dtype string, got {tensor.dtype}")
    metadata = SummaryMetadata()
    metadata.plugin_data.plugin_name = "text"
    return tensor_summary(name, tensor, summary_metadata=metadata, collections=collections)


def merge(inputs, collections=None, name=None):
    """One summary of several."""
    for item in inputs:
        if item.dtype != tf.string:
            raise ValueError(f"merge takes summaries, which are strings; given {item.dtype.name}")
    made = tf.strings.join([tf.reshape(item, []) for item in inputs], name=name or "Merge")
    name_result(made, f"{name or 'Merge'}/{name or 'Merge'}Summary")
    for key in collections or ():
        get_default_graph().add_to_collection(key, made)
    return made


def merge_all(key=GraphKeys.SUMMARIES, scope=None, name=None):
    """One summary of all that a collection holds; None where it is empty."""
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def all_v2_summary_ops():
    """Operations that write by themselves: sessions' graphs have none."""
    return []


def initialize(graph=None, session=None):
    """Writers that are operations need this; there are none."""


def get_summary_description(node_def):
    """The description that a summary's operation carries."""
    import json  # loaded on first use

    if node_def.op != "TensorSummary":
        raise ValueError(f"Can't get_summary_description on {node_def.op}")
    made = SummaryMetadata()
    text_of = node_def.attr["description"].s.decode()
    made.summary_description = json.loads(text_of).get("summaryDescription", "") if text_of else ""
    return made


# --- files ---------------------------------------------------------------------------------------


class FileWriter:
    """An event file that TensorBoard reads."""

    def __init__(self, logdir, graph=None, max_queue=10, flush_secs=120, graph_def=None,
                 filename_suffix=None, session=None):  # fmt: skip
        self._logdir = os.fspath(logdir)
        self._settings = (max_queue, flush_secs * 1000, filename_suffix or "")
        self._file, self._closed = EventFile(self._logdir, *self._settings), False
        if graph is not None or graph_def is not None:
            self.add_graph(graph, graph_def=graph_def)

    def get_logdir(self):
        return self._logdir

    def add_event(self, event):
        """Appends an event."""
        if self._closed:
            import warnings  # loaded on first use

            warnings.warn("Attempting to use a closed FileWriter. The operation will be a "
                          "noop unless the FileWriter is reopened.", stacklevel=2)  # fmt: skip
            return
        self._file.add(event.SerializeToString())

    def _add(self, step=None, **what):
        event = Event(wall_time=time.time(), **what)
        if step is not None:
            event.step = int(step)
        self.add_event(event)

    def add_summary(self, summary, global_step=None):
        """Appends a summary: a message, or the bytes that a session's run gave."""
        if isinstance(summary, np.ndarray):
            summary = summary.item()
        if isinstance(summary, bytes):
            summary = Summary.FromString(summary)
        if not isinstance(summary, Summary):
            raise TypeError(f"add_summary takes a tf.Summary or its bytes; given {type(summary)}")
        self._add(global_step, summary=summary)

    def add_graph(self, graph, global_step=None, graph_def=None):
        """Appends the graph."""
        if graph is not None and graph_def is not None:
            raise ValueError("Please pass only graph, or graph_def (deprecated), but not both.")
        message = graph if graph_def is None else graph_def
        if hasattr(message, "as_graph_def"):
            message = message.as_graph_def(add_shapes=True)
        if not isinstance(message, GraphDef):
            raise TypeError("The passed graph must be an instance of `Graph` or the deprecated "
                            "`GraphDef`")  # fmt: skip
        self._add(global_step, graph_def=message.SerializeToString())

    def add_meta_graph(self, meta_graph_def, global_step=None):
        """Appends a graph with what belongs to it."""
        self._add(global_step, meta_graph_def=meta_graph_def.SerializeToString())

    def add_session_log(self, session_log, global_step=None):
        if not isinstance(session_log, SessionLog):
            raise TypeError(f"add_session_log takes a tf.SessionLog; given {type(session_log)}")
        self._add(global_step, session_log=session_log)

    def add_run_metadata(self, run_metadata, tag, global_step=None):
        """Appends what one run told about itself, under a tag of its own."""
        if not isinstance(run_metadata, RunMetadata):
            raise TypeError(f"add_run_metadata takes a tf.RunMetadata; given {type(run_metadata)}")
        tags = self.__dict__.setdefault("_tags", set())
        if tag in tags:
            raise ValueError("The provided tag was already used for this event type")
        tags.add(tag)
        data = run_metadata.SerializeToString()
        self._add(global_step, tagged_run_metadata=TaggedRunMetadata(tag=tag, run_metadata=data))

    def flush(self):
        if not self._closed:
            self._file.flush()

    def close(self):
        self._file.close()
        self._closed = True

    def reopen(self):
        """Opens another file in the folder."""
        if self._closed:
            self._file, self._closed = EventFile(self._logdir, *self._settings), False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()
        return False


class FileWriterCache:
    """One writer a folder."""

    _writers: dict = {}

    @staticmethod
    def get(logdir):
        found = FileWriterCache._writers.get(logdir)
        if found is None:
            found = FileWriterCache._writers[logdir] = FileWriter(logdir, graph=get_default_graph())
        return found

    @staticmethod
    def clear():
        for writer in FileWriterCache._writers.values():
            writer.close()
        FileWriterCache._writers.clear()
