"""TensorFlow 1's input pipelines: files, readers of records, batches; queues between them.

files = tf.train.string_input_producer(["a.csv", "b.csv"], num_epochs=1)
key, line = tf.TextLineReader(skip_header_lines=1).read(files)
lines = tf.train.batch([line], batch_size=32)
"""

from __future__ import annotations

import glob
import random
import threading

import tidemark as tf
from tidemark import errors
from tidemark._graph.staged import python_call
from tidemark._v1.graph import Operation, operation_of
from tidemark._v1.train.queues import FIFOQueue, QueueRunner, RandomShuffleQueue, add_queue_runner

# --- readers -------------------------------------------------------------------------------------


class ReaderBase:
    """Takes names of files from a queue and gives their records, one at a time."""

    def __init__(self):
        self._lock = threading.Lock()
        self._records, self._produced, self._units = None, 0, 0

    def _open(self, file):
        """Yields pairs of a key and a record, as bytes."""
        raise NotImplementedError

    def _next(self, queue):
        with self._lock:
            while True:
                if self._records is None:
                    ((file,),) = queue._store.take(1, queue.name)
                    self._records = self._open(file.numpy().decode())
                found = next(self._records, None)
                if found is not None:
                    self._produced += 1
                    return found
                self._records = None
                self._units += 1

    def read(self, queue, name=None):
        """The next record and its key."""
        queue = getattr(queue, "queue_ref", queue)
        made = python_call(
            lambda: [tf.constant(part) for part in self._next(queue)], [],
            [(tf.string, []), (tf.string, [])],
        )  # fmt: skip
        return made[0], made[1]

    def read_up_to(self, queue, num_records, name=None):
        """Up to so many records and their keys; fewer at the end."""

        def take(count):
            rows = []
            while len(rows) < int(count):
                try:
                    rows.append(self._next(queue))
                except errors.OutOfRangeError:
                    if not rows:
                        raise
                    break
            return [tf.constant(list(column)) for column in zip(*rows, strict=True)]

        made = python_call(take, [tf.convert_to_tensor(num_records)],
                           [(tf.string, [None]), (tf.string, [None])])  # fmt: skip
        return made[0], made[1]

    def _number(self, read):
        made = python_call(lambda: [tf.constant(read(), tf.int64)], [], [(tf.int64, [])])
        return made[0] if isinstance(made, (list, tuple)) else made

    def num_records_produced(self, name=None):
        """How many records were given so far."""
        return self._number(lambda: self._produced)

    def num_work_units_completed(self, name=None):
        """How many files were read to their end."""
        return self._number(lambda: self._units)

    def reset(self, name=None):
        """An operation that forgets the file being read."""

        def forget():
            with self._lock:
                self._records, self._produced, self._units = None, 0, 0
            return [tf.constant(True)]

        made = python_call(forget, [], [(tf.bool, [])])
        return Operation(operation_of(made[0] if isinstance(made, (list, tuple)) else made)._node)


class TextLineReader(ReaderBase):
    """Lines of text, without their ends; the key is ``file:number``."""

    def __init__(self, skip_header_lines=None, name=None):
        super().__init__()
        self._skipped = skip_header_lines or 0

    def _open(self, file):
        with _opened(file) as lines:
            for number, line in enumerate(lines, 1):
                if number > self._skipped:
                    yield f"{file}:{number}".encode(), line.rstrip(b"\n").rstrip(b"\r")


class WholeFileReader(ReaderBase):
    """A file is a record; the key is its name."""

    def __init__(self, name=None):
        super().__init__()

    def _open(self, file):
        with _opened(file) as content:
            yield file.encode(), content.read()


class IdentityReader(ReaderBase):
    """The name of the file is both."""

    def __init__(self, name=None):
        super().__init__()

    def _open(self, file):
        yield file.encode(), file.encode()


class FixedLengthRecordReader(ReaderBase):
    """Records of so many bytes, between a header and a footer."""

    def __init__(self, record_bytes, header_bytes=None, footer_bytes=None, hop_bytes=None,
                 name=None, encoding=None):  # fmt: skip
        super().__init__()
        self._size, self._header, self._footer = record_bytes, header_bytes or 0, footer_bytes or 0
        self._hop = hop_bytes or record_bytes
        if record_bytes <= 0:
            raise ValueError(f"record_bytes must be > 0; given {record_bytes}")

    def _open(self, file):
        with _opened(file) as content:
            data = content.read()
        data = data[self._header : len(data) - self._footer]
        for number, at in enumerate(range(0, len(data) - self._size + 1, self._hop)):
            yield f"{file}:{number}".encode(), data[at : at + self._size]


class TFRecordReader(ReaderBase):
    """Records of a file that TFRecordWriter wrote."""

    def __init__(self, name=None, options=None):
        super().__init__()
        kind = getattr(options, "compression_type", None) or ""
        self._compression = getattr(kind, "name", kind) or ""

    def _open(self, file):
        records = tf.data.TFRecordDataset(file, str(self._compression))
        for number, record in enumerate(records):
            yield f"{file}:{number}".encode(), record.numpy()


def _opened(file):
    try:
        return open(file, "rb")
    except FileNotFoundError:
        raise errors.NotFoundError(None, None, f"{file}; No such file or directory") from None


# --- producers -----------------------------------------------------------------------------------


def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None,
                   capacity=32, shared_name=None, summary_name=None, name=None,
                   cancel_op=None):  # fmt: skip
    """A queue of the rows of a tensor, again and again, or so many times."""
    rows = tf.convert_to_tensor(input_tensor)
    shape = rows.shape[1:] if rows.shape.rank is not None else element_shape
    if num_epochs is not None and num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    queue = FIFOQueue(capacity, [rows.dtype], [shape], name=name or "input_producer")
    done, draw, store = [0], random.Random(seed), queue._store

    def epoch(values):
        if num_epochs is not None and done[0] >= num_epochs:
            raise errors.OutOfRangeError(
                None, None, f"Reached limit of {num_epochs}: '{queue.name}' has given all its rows"
            )
        done[0] += 1
        order = list(range(values.shape[0]))
        if shuffle:
            draw.shuffle(order)
        for at in order:
            store.put((values[at],), queue.name)
        return tf.constant(True)

    made = queue._operation(epoch, [rows])
    add_queue_runner(QueueRunner(queue, [made]))
    return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32,
                          shared_name=None, name=None, cancel_op=None):  # fmt: skip
    """A queue of names of files."""
    if isinstance(string_tensor, (list, tuple)) and not string_tensor:
        raise ValueError("string_input_producer requires a non-null input tensor")
    return input_producer(tf.convert_to_tensor(string_tensor, tf.string), [], num_epochs, shuffle,
                          seed, capacity, shared_name, None, name or "input_producer")  # fmt: skip


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32,
                         shared_name=None, name=None):  # fmt: skip
    """A queue of the numbers below the limit."""
    return input_producer(tf.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                          None, name or "fraction_of")  # fmt: skip


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32,
                         shared_name=None, name=None):  # fmt: skip
    """One row of each tensor, all of the same number."""
    tensors = [tf.convert_to_tensor(t) for t in tensor_list]
    if not tensors:
        raise ValueError("Expected at least one tensor in slice_input_producer().")
    count = tf.shape(tensors[0])[0]
    queue = range_input_producer(count, num_epochs, shuffle, seed, capacity, shared_name, name)
    index = queue.dequeue()
    return [tf.gather(t, index) for t in tensors]


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, so many times; then OutOfRangeError."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    given = [0]

    def counted(value):
        if given[0] >= num_epochs:
            raise errors.OutOfRangeError(None, None, f"Reached limit of {num_epochs}")
        given[0] += 1
        return [value]

    tensor = tf.convert_to_tensor(tensor)
    made = python_call(counted, [tensor], [(tensor.dtype, tensor.shape.as_list())])
    return made[0] if isinstance(made, (list, tuple)) else made


def match_filenames_once(pattern, name=None):
    """The names of the files that fit the pattern now."""
    patterns = [pattern] if isinstance(pattern, (str, bytes)) else list(pattern)
    found = sorted(file for one in patterns for file in glob.glob(one))
    return tf.constant(found, tf.string)


# --- batches -------------------------------------------------------------------------------------


def _flat(tensors):
    """A list of tensors, and how a list of as many goes back into the structure."""
    if isinstance(tensors, dict):
        keys = sorted(tensors)
        return [tensors[k] for k in keys], lambda made: dict(zip(keys, made, strict=True))
    if isinstance(tensors, (list, tuple)) and len(tensors) > 1:
        return list(tensors), list
    tensors = tensors[0] if isinstance(tensors, (list, tuple)) else tensors
    return [tensors], lambda made: made[0]


def _batched(queue_of, lists, batch_size, enqueue_many, shapes, smaller, dynamic_pad=False):
    columns = [[tf.convert_to_tensor(t) for t in one] for one in lists]
    dtypes = [t.dtype for t in columns[0]]
    if shapes is None:
        shapes = [t.shape[1:] if enqueue_many else t.shape for t in columns[0]]
    shapes = [tf.TensorShape(s) for s in shapes]
    if not dynamic_pad and not all(s.is_fully_defined() for s in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    queue = queue_of(dtypes, shapes)
    put = queue.enqueue_many if enqueue_many else queue.enqueue
    given = [put(one if len(one) > 1 else one[0]) for one in columns]
    add_queue_runner(QueueRunner(queue, given))
    if dynamic_pad:
        made = _padded(queue, batch_size, smaller)
    else:
        made = (queue.dequeue_up_to if smaller else queue.dequeue_many)(batch_size)
    return made if isinstance(made, list) else [made]


def _padded(queue, batch_size, smaller):
    """Rows of different sizes in one tensor: the shorter ones end in zeros."""
    import numpy as np  # importing the package does not load it

    store, keep = queue._store, queue._keep()

    def joined(column):
        arrays = [t.numpy() for t in column]
        sizes = np.max([a.shape for a in arrays], axis=0)
        filler = b"" if column[0].dtype == tf.string else 0
        out = np.full((len(arrays), *sizes), filler, dtype=arrays[0].dtype)
        for row, array in zip(out, arrays, strict=True):
            row[tuple(slice(0, size) for size in array.shape)] = array
        return tf.constant(out, column[0].dtype)

    def take(count):
        taken = store.take(int(count), queue.name, keep, smaller)
        return [*(joined(column) for column in zip(*taken, strict=True)), tf.constant(True)]

    types = queue._types([None if smaller else batch_size])
    return queue._operation(take, [tf.convert_to_tensor(batch_size)], types)


def _check_sizes(batch_size, capacity, least=0):
    if isinstance(batch_size, int) and batch_size < 1:
        raise ValueError(f"batch_size is at least 1; given {batch_size}")
    if capacity <= least:
        raise ValueError(f"capacity {capacity} must be bigger than min_after_dequeue {least}.")


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None,
          dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None,
          name=None):  # fmt: skip
    """Batches of what the tensors give, in their order."""
    _check_sizes(batch_size, capacity)
    flat, back = _flat(tensors)
    made = _batched(
        lambda dtypes, sizes: FIFOQueue(capacity, dtypes, sizes, name=name or "batch"),
        [flat] * num_threads, batch_size, enqueue_many, shapes, allow_smaller_final_batch,
        dynamic_pad,
    )  # fmt: skip
    return back(made)


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None,
                  enqueue_many=False, shapes=None, allow_smaller_final_batch=False,
                  shared_name=None, name=None):  # fmt: skip
    """Batches of what the tensors give, in any order."""
    _check_sizes(batch_size, capacity, min_after_dequeue)
    flat, back = _flat(tensors)
    made = _batched(
        lambda dtypes, sizes: RandomShuffleQueue(
            capacity, min_after_dequeue, dtypes, sizes, seed=seed, name=name or "shuffle_batch"
        ),
        [flat] * num_threads, batch_size, enqueue_many, shapes, allow_smaller_final_batch,
    )  # fmt: skip
    return back(made)


def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None,
               dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None,
               name=None):  # fmt: skip
    """Batches of what several lists of tensors give, a thread each."""
    _check_sizes(batch_size, capacity)
    parts = [_flat(tensors) for tensors in tensors_list]
    made = _batched(
        lambda dtypes, sizes: FIFOQueue(capacity, dtypes, sizes, name=name or "batch_join"),
        [flat for flat, _ in parts], batch_size, enqueue_many, shapes, allow_smaller_final_batch,
        dynamic_pad,
    )  # fmt: skip
    return parts[0][1](made)


def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None,
                       enqueue_many=False, shapes=None, allow_smaller_final_batch=False,
                       shared_name=None, name=None):  # fmt: skip
    """Batches of what several lists of tensors give, in any order."""
    _check_sizes(batch_size, capacity, min_after_dequeue)
    parts = [_flat(tensors) for tensors in tensors_list]
    made = _batched(
        lambda dtypes, sizes: RandomShuffleQueue(
            capacity, min_after_dequeue, dtypes, sizes, seed=seed, name=name or "shuffle_batch_join"
        ),
        [flat for flat, _ in parts], batch_size, enqueue_many, shapes, allow_smaller_final_batch,
    )  # fmt: skip
    return parts[0][1](made)
