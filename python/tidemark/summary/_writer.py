"""Writers of summaries, the one in use, and the step they are written for."""

from __future__ import annotations

import contextlib
import os
import threading

from tidemark._graph.scopes import get_current_name_scope, name_scope
from tidemark._tensor.creation import convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark.summary import _events

_state = threading.local()
_shared = {"step": None}


def _get(name, default=None):
    return getattr(_state, name, default)


def has_default_writer():
    """Whether there is a writer in use on this thread."""
    return _get("writer") is not None


class SummaryWriter:
    """Takes summaries; those of files write them down."""

    def set_as_default(self, step=None):
        """Makes this the writer in use."""
        self.as_default(step).__enter__()

    def as_default(self, step=None):
        """A context in which this is the writer in use."""
        return _InUse(self, step)

    def init(self):
        """Begins; writers of files have begun when they are made."""

    def flush(self):
        """Writes what is waiting."""

    def close(self):
        """Ends it."""

    def _add(self, message):
        """Takes an event."""


class _InUse:
    def __init__(self, writer, step):
        self._writer, self._step = writer, step
        self._before = []

    def __enter__(self):
        self._before.append((_get("writer"), _shared["step"]))
        _state.writer = self._writer
        if self._step is not None:
            set_step(self._step)
        return self._writer

    def __exit__(self, *error):
        self._writer.flush()
        _state.writer, step = self._before.pop()
        if self._step is not None:
            set_step(step)
        return False


class NoopWriter(SummaryWriter):
    """Drops what it is given."""


class FileWriter(SummaryWriter):
    """Writes an event file."""

    def __init__(self, logdir, max_queue, flush_millis, suffix):
        self._file = _events.EventFile(logdir, max_queue, flush_millis, suffix)

    def flush(self):
        self._file.flush()

    def close(self):
        self._file.close()

    def _add(self, message):
        self._file.add(message)


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None,
                       experimental_trackable=False, experimental_mesh=None):  # fmt: skip
    """A writer of a new event file in a folder."""
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    if isinstance(logdir, Tensor):
        logdir = logdir.numpy()
    suffix = ".v2" if filename_suffix is None else filename_suffix
    return FileWriter(
        os.fsdecode(logdir),
        10 if max_queue is None else int(max_queue),
        120_000 if flush_millis is None else int(flush_millis),
        suffix,
    )


def create_noop_writer():
    """A writer that drops what it is given."""
    return NoopWriter()


def flush(writer=None, name=None):
    """Writes what is waiting in a writer, or in the one in use."""
    writer = writer or _get("writer")
    if writer is not None:
        writer.flush()


def get_step():
    """The step that summaries are for unless they are given one."""
    return _shared["step"]


def set_step(step):
    """Sets the step that summaries are for."""
    _shared["step"] = step


@contextlib.contextmanager
def record_if(condition):
    """A context in which summaries are recorded only if a value, or a function, is true."""
    before = _get("condition", True)
    _state.condition = condition
    try:
        yield
    finally:
        _state.condition = before


def should_record_summaries():
    """Whether a summary would be recorded here."""
    condition = _get("condition", True)
    wanted = condition() if callable(condition) else condition
    return _get("writer") is not None and bool(wanted)


@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """A context that gives the tag of a summary and the name scope of its ops."""
    name = name or default_name
    outer = get_current_name_scope()
    tag = f"{outer}/{name}" if outer else name
    with name_scope(name.replace(" ", "_").replace("/", "_") or None) as scope:
        yield tag, scope


def _step_of(step):
    step = get_step() if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return int(step)


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under a tag; False if nothing is recorded here."""
    writer = _get("writer")
    if writer is None:
        return convert_to_tensor(False)
    step = _step_of(step)
    if not should_record_summaries():
        return convert_to_tensor(False)
    value = tensor() if callable(tensor) else tensor
    message = _events.summary_message(tag, convert_to_tensor(value), _serialized(metadata))
    writer._add(_events.event(step, summary=message))
    return convert_to_tensor(True)


def _serialized(metadata):
    if metadata is None or isinstance(metadata, bytes):
        return metadata
    if hasattr(metadata, "SerializeToString"):
        return metadata.SerializeToString()
    data = metadata.plugin_data
    return _events.metadata_message(
        data.plugin_name, metadata.data_class, data.content, metadata.display_name,
        metadata.summary_description,
    )  # fmt: skip


def write_raw_pb(tensor, step=None, name=None):
    """Writes a Summary message that is there already, as bytes."""
    writer = _get("writer")
    if writer is None or not should_record_summaries():
        return convert_to_tensor(False)
    data = tensor.numpy() if isinstance(tensor, Tensor) else tensor
    writer._add(_events.event(_step_of(step), summary=data))
    return convert_to_tensor(True)


def graph(graph_data):
    """Writes a graph: a message as bytes, or an object that has one."""
    writer = _get("writer")
    if writer is None:
        return
    data = graph_data
    for method in ("as_graph_def", "SerializeToString"):
        if hasattr(data, method):
            data = getattr(data, method)()
    if not isinstance(data, bytes):
        raise ValueError(f"Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef: {data}")
    writer._add(_events.event(0, graph_def=data))
