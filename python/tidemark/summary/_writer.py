"""Writers of summaries, the one in use, and the step they are written for."""

from __future__ import annotations

import contextlib
import os
import re
import threading

import numpy as np

from tidemark import dtypes
from tidemark._graph import control_flow
from tidemark._graph.scopes import get_current_name_scope, name_scope
from tidemark._graph.tracing import is_symbolic, is_tracing, lifted
from tidemark._tensor.creation import cast, constant, convert_to_tensor
from tidemark._tidemark import Tensor
from tidemark.summary import _events

_IN_NO_SCOPE = re.compile(r"[^-A-Za-z0-9_/.]")
_state = threading.local()
_shared = {"step": None}


def _get(name, default=None):
    return getattr(_state, name, default)


def has_default_writer():
    """Whether there is a writer in use on this thread."""
    return _get("writer") is not None


def _in_order(function):
    """Calls it now; while a graph is built, whenever that runs."""
    if not is_tracing():
        function()
        return None
    from tidemark._graph.staged import python_call  # only graphs need it

    return python_call(lambda: function() or True, [], [(dtypes.bool, ())])[0]


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
        return _in_order(self._check)

    def flush(self):
        """Writes what is waiting."""
        return _in_order(self._flush)

    def close(self):
        """Ends it."""
        return _in_order(self._close)

    def _check(self):
        """Raises if it is closed."""

    _flush = _close = _check

    def _add(self, message):
        """Takes an event."""


class _InUse:
    def __init__(self, writer, step):
        self._writer, self._step = writer, step
        self._before = []

    def __enter__(self):
        self._writer._check()
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
    """Drops what it is given: as if there were none, so the writer in use stays in use."""

    def set_as_default(self, step=None):
        pass

    def as_default(self, step=None):
        return contextlib.nullcontext(self)


class FileWriter(SummaryWriter):
    """Writes an event file."""

    def __init__(self, logdir, max_queue, flush_millis, suffix):
        self._file = _events.EventFile(logdir, max_queue, flush_millis, suffix)

    def _check(self):
        self._file.check_open()

    def _flush(self):
        self._file.flush()

    def _close(self):
        self._file.close()

    def _add(self, message):
        self._file.add(message)


def create_file_writer(logdir, max_queue=None, flush_millis=None, filename_suffix=None, name=None,
                       experimental_trackable=False, experimental_mesh=None):  # fmt: skip
    """A writer of a new event file in a folder."""
    if logdir is None:
        raise ValueError("Argument `logdir` cannot be None")
    if isinstance(logdir, Tensor):
        if is_symbolic(logdir):
            raise ValueError(
                f"Invalid graph Tensor argument `logdir={logdir}`: a writer is made once, while "
                "the function is traced; give the folder as text or as a tensor with a value."
            )
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
    writer = _get("writer") if writer is None else writer
    if writer is None:
        return None
    if not isinstance(writer, SummaryWriter):
        raise ValueError(f"Invalid argument to flush(): {writer!r}; it takes a SummaryWriter")
    return writer.flush()


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
    """Whether a summary would be recorded here, as a tensor."""
    return convert_to_tensor(_is_wanted())


def _is_wanted():
    """Whether a summary would be recorded here: a Python value, or a tensor of a graph."""
    if _get("writer") is None:
        return False
    condition = _get("condition", True)
    wanted = condition() if callable(condition) else condition
    if isinstance(wanted, bool):
        return wanted
    wanted = convert_to_tensor(wanted)
    return wanted if is_symbolic(wanted) else bool(wanted)


@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """A context that gives the tag of a summary and the name scope of its ops."""
    name = name or default_name
    outer = get_current_name_scope()
    tag = f"{outer}/{name}" if outer else name
    with name_scope(_IN_NO_SCOPE.sub("", name) or default_name) as scope:
        yield tag, scope


def _step_of(step):
    step = get_step() if step is None else step
    if step is None:
        raise ValueError(
            "No step set. Please specify one either through the `step` argument or through "
            "tf.summary.experimental.set_step()"
        )
    return step


def record(inputs, summary, step=None, name=None):
    """Adds an event if summaries are recorded here, now or when the graph being built runs; whether
    it did, as a tensor. ``inputs()`` gives the tensors that it is made of and ``summary``, called
    with their values, the message."""
    writer = _get("writer")

    def add(step, *values):
        with lifted():
            writer._add(_events.event(int(step), summary=summary(*values)))
            return convert_to_tensor(True)

    def now():
        given = [_step_of(step), *inputs()]
        if not is_tracing():
            return add(*given)
        from tidemark._graph.staged import python_call  # only graphs need it

        given[0] = cast(given[0], dtypes.int64)
        return python_call(add, given, [(dtypes.bool, ())])[0]

    with name_scope(name) if name else contextlib.nullcontext():
        wanted = _is_wanted()
        if isinstance(wanted, bool):
            return now() if wanted else constant(False)
        return control_flow.cond(wanted, now, lambda: constant(False))


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under a tag; False if nothing is recorded here."""
    metadata = _serialized(metadata)

    def inputs():
        return [convert_to_tensor(tensor() if callable(tensor) else tensor)]

    return record(inputs, lambda value: _events.summary_message(tag, value, metadata), step, name)


def _serialized(metadata):
    if metadata is None or isinstance(metadata, bytes):
        return metadata
    if isinstance(metadata, Tensor):
        return metadata.numpy()
    if hasattr(metadata, "SerializeToString"):
        return metadata.SerializeToString()
    data = metadata.plugin_data
    return _events.metadata_message(
        data.plugin_name, metadata.data_class, data.content, metadata.display_name,
        metadata.summary_description,
    )  # fmt: skip


def write_raw_pb(tensor, step=None, name=None):
    """Writes Summary messages that are there already, as strings: those of one event."""

    def summary(messages):
        # An array of texts alone keeps zeros at their ends.
        whole = b"".join(np.ravel(np.array(messages.numpy(), dtype=object)).tolist())
        _events.check_message(whole)
        return whole

    return record(lambda: [convert_to_tensor(tensor, dtypes.string)], summary, step, name)


def graph(graph_data):
    """Writes a graph: a message as bytes, or an object that has one."""
    if is_tracing():
        raise RuntimeError("graph() cannot be invoked inside a graph context.")
    writer = _get("writer")
    if writer is None or not _is_wanted():
        return
    data = graph_data
    for method in ("as_graph_def", "SerializeToString"):
        if hasattr(data, method):
            data = getattr(data, method)()
    if not isinstance(data, bytes):
        raise ValueError(f"Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef: {data}")
    writer._add(_events.event(0, graph_def=data))
