"""Operations on queues and readers: those of ``tf.queue`` and of TensorFlow 1, behind handles."""

from __future__ import annotations

import tidemark as tf
from tidemark._tensorflow.raw.handles import held, shared
from tidemark._v1.train import inputs, queues

_NO_LIMIT = (1 << 31) - 1  # of elements, where the capacity is -1


def _queue(kind, **more):
    """The function that makes queues of the class."""

    def make(component_types, shapes, capacity, container, shared_name, **given):
        capacity = _NO_LIMIT if capacity < 0 else capacity
        chosen = {ours: given[theirs] for ours, theirs in more.items()}
        of_one = [_sizes(shape) for shape in shapes] or None
        return shared(
            lambda: kind(capacity=capacity, dtypes=component_types, shapes=of_one, **chosen),
            kind.__name__, container, shared_name,
        )  # fmt: skip

    return make


def _sizes(shape):
    """A shape with -1 for the sizes that are not known; ? for any."""
    if isinstance(shape, str):
        return tf.TensorShape(None)
    if isinstance(shape, tf.TensorShape):
        return shape
    return tf.TensorShape([None if size == -1 else size for size in shape])


def _priority(component_types, shapes, capacity, container, shared_name):
    capacity = _NO_LIMIT if capacity < 0 else capacity
    return shared(
        lambda: queues.PriorityQueue(capacity, component_types, shapes),
        "PriorityQueue", container, shared_name,
    )  # fmt: skip


def _of(handle, timeout_ms=-1):
    if timeout_ms != -1:
        raise tf.errors.InvalidArgumentError(None, None, "Timeout not supported yet.")
    return held(handle, queues.QueueBase)


def _enqueue(handle, components, timeout_ms):
    return _of(handle, timeout_ms).enqueue(components)


def _enqueue_many(handle, components, timeout_ms):
    return _of(handle, timeout_ms).enqueue_many(components)


def _listed(made):
    return list(made) if isinstance(made, (list, tuple)) else [made]


def _dequeue(handle, timeout_ms, **_):
    return _listed(_of(handle, timeout_ms).dequeue())


def _dequeue_many(handle, n, timeout_ms, **_):
    return _listed(_of(handle, timeout_ms).dequeue_many(n))


def _dequeue_up_to(handle, n, timeout_ms, **_):
    return _listed(_of(handle, timeout_ms).dequeue_up_to(n))


def _close(handle, cancel_pending_enqueues):
    return _of(handle).close(cancel_pending_enqueues)


# --- readers -------------------------------------------------------------------------------------


def _reader(make):
    def made(container, shared_name, **given):
        return shared(lambda: make(**given), "reader", container, shared_name)

    return made


def _records(record_bytes, header_bytes, footer_bytes, hop_bytes, encoding=""):
    if encoding not in ("", "ZLIB"):
        raise tf.errors.InvalidArgumentError(
            None, None, f"encoding is '' or 'ZLIB'; given {encoding!r}"
        )
    if encoding:
        raise tf.errors.UnimplementedError(
            None, None, "records of compressed files are read by tf.data.FixedLengthRecordDataset"
        )
    return inputs.FixedLengthRecordReader(record_bytes, header_bytes, footer_bytes, hop_bytes)


def _tf_records(compression_type):
    return inputs.TFRecordReader(options=tf.io.TFRecordOptions(compression_type))


def _read(reader_handle, queue_handle):
    return list(held(reader_handle, inputs.ReaderBase).read(_of(queue_handle)))


def _read_up_to(reader_handle, queue_handle, num_records):
    reader = held(reader_handle, inputs.ReaderBase)
    return list(reader.read_up_to(_of(queue_handle), num_records))


def _produced(reader_handle):
    return held(reader_handle, inputs.ReaderBase).num_records_produced()


def _completed(reader_handle):
    return held(reader_handle, inputs.ReaderBase).num_work_units_completed()


def _reset(reader_handle):
    return held(reader_handle, inputs.ReaderBase).reset()


_BOTH = {
    "FIFOQueue": _queue(queues.FIFOQueue),
    "PaddingFIFOQueue": _queue(queues.PaddingFIFOQueue),
    "PriorityQueue": _priority,
    "QueueClose": _close,
    "QueueDequeue": _dequeue,
    "QueueDequeueMany": _dequeue_many,
    "QueueDequeueUpTo": _dequeue_up_to,
    "QueueEnqueue": _enqueue,
    "QueueEnqueueMany": _enqueue_many,
    "QueueIsClosed": lambda handle: _of(handle).is_closed(),
    "QueueSize": lambda handle: _of(handle).size(),
    "RandomShuffleQueue": _queue(
        queues.RandomShuffleQueue, min_after_dequeue="min_after_dequeue", seed="seed"
    ),
    "FixedLengthRecordReader": _reader(_records),
    "IdentityReader": _reader(inputs.IdentityReader),
    "ReaderNumRecordsProduced": _produced,
    "ReaderNumWorkUnitsCompleted": _completed,
    "ReaderRead": _read,
    "ReaderReadUpTo": _read_up_to,
    "ReaderReset": _reset,
    "TFRecordReader": _reader(_tf_records),
    "TextLineReader": _reader(inputs.TextLineReader),
    "WholeFileReader": _reader(inputs.WholeFileReader),
}

WRITTEN = {**_BOTH, **{name + "V2": function for name, function in _BOTH.items()}}
