"""Event files, as TensorBoard reads them: records of messages, each with its checksums."""

from __future__ import annotations

import os
import socket
import struct
import threading
import time

from tidemark import _tidemark
from tidemark._graph.tracing import lifted
from tidemark._proto.wire import bytes_field, fields, varint
from tidemark.errors import DataLossError

_counter = [0]


def number_field(number, value):
    """A field of an integer."""
    return varint(number << 3) + varint(int(value))


def double_field(number, value):
    """A field of a float64."""
    return varint(number << 3 | 1) + struct.pack("<d", value)


def tensor_message(tensor):
    """A TensorProto."""
    with lifted():
        return _tidemark.call("serialize_tensor", (tensor,), {}).numpy()


def metadata_message(plugin, data_class, content=b"", display_name="", description=""):
    """A SummaryMetadata."""
    data = bytes_field(1, plugin.encode()) + (bytes_field(2, content) if content else b"")
    message = bytes_field(1, data)
    if display_name:
        message += bytes_field(2, display_name.encode())
    if description:
        message += bytes_field(3, description.encode())
    return message + (number_field(4, data_class) if data_class else b"")


def summary_message(tag, tensor, metadata):
    """A Summary with one value."""
    value = bytes_field(1, tag.encode()) + bytes_field(8, tensor_message(tensor))
    if metadata:
        value += bytes_field(9, metadata)
    return bytes_field(1, value)


def check_message(summary):
    """Raises unless the bytes can be a Summary: fields that are whole."""
    try:
        for _ in fields(summary):
            pass
    except (ValueError, IndexError, struct.error):
        raise DataLossError(
            None, None, "Bad tf.compat.v1.Summary binary proto tensor string: " + repr(summary[:99])
        ) from None


def event(step=None, **parts):
    """An Event of now; parts are file_version, graph_def or summary, as bytes."""
    message = double_field(1, time.time())
    if step is not None:
        message += number_field(2, step)
    numbers = {"file_version": 3, "graph_def": 4, "summary": 5}
    return message + b"".join(bytes_field(numbers[name], data) for name, data in parts.items())


def _masked(data):
    crc = _tidemark.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    """A message as a record of a file."""
    length = struct.pack("<Q", len(data))
    ends = struct.pack("<I", _masked(length)), struct.pack("<I", _masked(data))
    return length + ends[0] + data + ends[1]


class EventFile:
    """A file of events. Whole records are appended, so a reader never sees half of one for long."""

    def __init__(self, logdir, max_queue=10, flush_millis=120_000, suffix=""):
        os.makedirs(logdir, exist_ok=True)
        _counter[0] += 1
        name = (
            f"events.out.tfevents.{int(time.time()):010d}.{socket.gethostname()}."
            f"{os.getpid()}.{_counter[0]}{suffix}"
        )
        self.path = os.path.join(logdir, name)
        self._lock = threading.Lock()
        self._waiting = [record(event(file_version=b"brain.Event:2"))]
        self._max_queue, self._seconds = max_queue, flush_millis / 1000
        self._flushed = time.monotonic()
        self._file = open(self.path, "ab", buffering=0)  # noqa: SIM115  closed by close()
        self.flush()

    def add(self, message):
        """Adds an event; written when enough are waiting or the last time is long ago."""
        with self._lock:
            self.check_open()
            self._waiting.append(record(message))
            late = time.monotonic() - self._flushed > self._seconds
            if len(self._waiting) > self._max_queue or late:
                self._write()

    def check_open(self):
        """Raises if it is closed."""
        if self._file is None:
            raise RuntimeError("SummaryWriter is already closed")

    def flush(self):
        """Writes what is waiting."""
        with self._lock:
            self._write()

    def _write(self):
        if self._file is not None and self._waiting:
            data = b"".join(self._waiting)
            while data:
                data = data[self._file.write(data) :]
            self._waiting.clear()
        self._flushed = time.monotonic()

    def close(self):
        """Writes what is waiting and closes the file."""
        with self._lock:
            self._write()
            if self._file is not None:
                self._file.close()
                self._file = None

    def __del__(self):
        if getattr(self, "_file", None) is not None:
            self.close()
