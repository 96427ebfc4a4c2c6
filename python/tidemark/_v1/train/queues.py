"""Queues of TensorFlow 1: what some operations put in, others take out, in any thread.

A queue's elements live in the process and belong to the queue; they go with it.
"""

from __future__ import annotations

import collections
import random
import threading

import tidemark as tf
from tidemark import errors
from tidemark._graph.staged import python_call
from tidemark._v1.graph import GraphKeys, Operation, get_default_graph, operation_of
from tidemark.dtypes import as_dtype


class _Store:
    """The elements, a condition to wait on, and whether more may come."""

    def __init__(self, capacity, draw=None):
        self.items = collections.deque()
        self.capacity, self.draw = capacity, draw
        self.changed = threading.Condition()
        self.is_closed = False

    def put(self, item, name):
        with self.changed:
            self.changed.wait_for(lambda: self.is_closed or len(self.items) < self.capacity)
            if self.is_closed:
                raise errors.CancelledError(None, None, f"Queue '{name}' is closed.")
            self.items.append(item)
            self.changed.notify_all()

    def take(self, count, name, keep=0, up_to=False):
        with self.changed:
            self.changed.wait_for(lambda: self.is_closed or len(self.items) >= count + keep)
            there = len(self.items)
            if there < count:
                if not (up_to and there):
                    raise errors.OutOfRangeError(
                        None, None,
                        f"Queue '{name}' is closed and has insufficient elements (requested "
                        f"{count}, current size {there})",
                    )  # fmt: skip
                count = there
            taken = [self._one() for _ in range(count)]
            self.changed.notify_all()
            return taken

    def _one(self):
        if self.draw is None:
            return self.items.popleft()
        at = self.draw.randrange(len(self.items))
        self.items[at], self.items[-1] = self.items[-1], self.items[at]
        return self.items.pop()

    def close(self, cancel):
        with self.changed:
            self.is_closed = True
            if cancel:
                self.items.clear()
            self.changed.notify_all()


class QueueBase:
    """What all queues share."""

    def __init__(self, capacity, dtypes, shapes, names, shared_name, name, store):
        dtypes = dtypes if isinstance(dtypes, (list, tuple)) else [dtypes]
        self._dtypes = [as_dtype(dtype) for dtype in dtypes]
        if shapes is not None:
            alone = len(self._dtypes) == 1 and not (
                isinstance(shapes, (list, tuple))
                and len(shapes) == 1
                and isinstance(shapes[0], (list, tuple, tf.TensorShape))
            )
            shapes = [tf.TensorShape(s) for s in ([shapes] if alone else shapes)]
            if len(shapes) != len(self._dtypes):
                raise ValueError("Queue shapes must have the same length as dtypes")
        self._shapes = shapes
        if names is not None:
            names = list(names) if isinstance(names, (list, tuple)) else [names]
            if len(names) != len(self._dtypes):
                raise ValueError("List of names must have the same length as the list of dtypes")
        self._names, self._store = names, store
        self._name = get_default_graph().unique_name(name)

    name = property(lambda self: self._name)
    dtypes = property(lambda self: list(self._dtypes))
    shapes = property(lambda self: self._shapes or [tf.TensorShape(None) for _ in self._dtypes])
    names = property(lambda self: self._names)

    def _given(self, vals):
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            vals = [vals[key] for key in self._names]
        vals = list(vals) if isinstance(vals, (list, tuple)) and len(self._dtypes) > 1 else vals
        if not isinstance(vals, list) or len(self._dtypes) == 1:
            vals = [vals[0] if isinstance(vals, (list, tuple)) and len(vals) == 1 else vals]
        return [
            tf.convert_to_tensor(value, dtype=dtype)
            for value, dtype in zip(vals, self._dtypes, strict=True)
        ]

    def _operation(self, function, inputs, types=()):
        """An operation that calls the function when it runs."""
        made = python_call(function, inputs, [*types, (tf.bool, [])])
        made = list(made) if isinstance(made, (list, tuple)) else [made]
        if tf.executing_eagerly():
            return made[:-1] if types else None
        return Operation(operation_of(made[-1])._node) if not types else made[:-1]

    def enqueue(self, vals, name=None):
        """An operation that puts one element in, waiting for room."""
        store, label = self._store, self._name

        def put(*values):
            store.put(values, label)
            return tf.constant(True)

        return self._operation(put, self._given(vals))

    def enqueue_many(self, vals, name=None):
        """An operation that puts rows in, each an element."""
        store, label = self._store, self._name

        def put(*values):
            for at in range(values[0].shape[0]):
                store.put(tuple(value[at] for value in values), label)
            return tf.constant(True)

        return self._operation(put, self._given(vals))

    def _types(self, rows):
        sizes = lambda s: None if s.rank is None else [*rows, *s.as_list()]  # noqa: E731
        return [(d, sizes(s)) for d, s in zip(self._dtypes, self.shapes, strict=True)]

    def _packed(self, tensors):
        if self._names:
            return dict(zip(self._names, tensors, strict=True))
        return tensors[0] if len(tensors) == 1 else tensors

    def _keep(self):
        return 0

    def dequeue(self, name=None):
        """One element, waited for."""
        store, label, keep = self._store, self._name, self._keep()

        def take():
            return [*store.take(1, label, keep)[0], tf.constant(True)]

        return self._packed(self._operation(take, [], self._types([])))

    def _many(self, n, up_to):
        store, label, keep = self._store, self._name, self._keep()

        def take(count):
            taken = store.take(int(count), label, keep, up_to)
            return [*map(self._stacked, zip(*taken, strict=True)), tf.constant(True)]

        known = n if isinstance(n, int) and not up_to else None
        return self._packed(self._operation(take, [tf.convert_to_tensor(n)], self._types([known])))

    def _stacked(self, column):
        return tf.stack(column)

    def dequeue_many(self, n, name=None):
        """So many elements, as rows."""
        return self._many(n, False)

    def dequeue_up_to(self, n, name=None):
        """So many elements, or those that are left when the queue is closed."""
        return self._many(n, True)

    def close(self, cancel_pending_enqueues=False, name=None):
        """An operation after which no more elements come."""
        store = self._store

        def close():
            store.close(cancel_pending_enqueues)
            return tf.constant(True)

        return self._operation(close, [])

    def size(self, name=None):
        """How many elements there are."""
        store = self._store
        made = python_call(lambda: tf.constant(len(store.items)), [], [(tf.int32, [])])
        return made[0] if isinstance(made, (list, tuple)) else made

    def is_closed(self, name=None):
        store = self._store
        made = python_call(lambda: tf.constant(store.is_closed), [], [(tf.bool, [])])
        return made[0] if isinstance(made, (list, tuple)) else made


class FIFOQueue(QueueBase):
    """First in, first out."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None,
                 name="fifo_queue"):  # fmt: skip
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, _Store(capacity))


class RandomShuffleQueue(QueueBase):
    """Any element of those that are there."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None,
                 shared_name=None, name="random_shuffle_queue"):  # fmt: skip
        store = _Store(capacity, random.Random(seed))
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, store)
        self._least = min_after_dequeue

    def _keep(self):
        return self._least


class PaddingFIFOQueue(QueueBase):
    """First in, first out; where sizes are not known, rows taken together are filled up."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None,
                 name="padding_fifo_queue"):  # fmt: skip
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, _Store(capacity))

    def _stacked(self, column):
        most = [max(sizes) for sizes in zip(*(one.shape for one in column), strict=True)]
        borders = [[[0, m - n] for m, n in zip(most, one.shape, strict=True)] for one in column]
        rows = [tf.pad(one, b) if b else one for one, b in zip(column, borders, strict=True)]
        return tf.stack(rows)


class _Smallest(_Store):
    """Gives the element whose first part is the smallest; of equal ones the first that came."""

    def _one(self):
        at = min(range(len(self.items)), key=lambda i: int(self.items[i][0]))
        found = self.items[at]
        del self.items[at]
        return found


class PriorityQueue(QueueBase):
    """The element with the smallest number first; the number is an element's first part."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None,
                 name="priority_queue"):  # fmt: skip
        types = list(types) if isinstance(types, (list, tuple)) else [types]
        shapes = None if shapes is None else [[], *shapes]
        dtypes = [tf.int64, *types]
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, _Smallest(capacity))


class QueueRunner:
    """Threads that keep a queue filled."""

    def __init__(self, queue=None, enqueue_ops=None, close_op=None, cancel_op=None,
                 queue_closed_exception_types=None, queue_runner_def=None,
                 import_scope=None):  # fmt: skip
        if queue is None or not enqueue_ops:
            raise ValueError("Must provide queue and enqueue_ops.")
        self._queue, self._operations = queue, list(enqueue_ops)
        self._ends = tuple(
            queue_closed_exception_types or (errors.OutOfRangeError, errors.CancelledError)
        )
        self._left = 0
        self._lock = threading.Lock()
        self._errors = []

    queue = property(lambda self: self._queue)
    name = property(lambda self: self._queue.name)
    enqueue_ops = property(lambda self: self._operations)
    exceptions_raised = property(lambda self: self._errors)

    def _run(self, sess, operation, coord):
        try:
            while not (coord and coord.should_stop()):
                sess.run(operation)
        except self._ends:
            pass
        except Exception as error:
            if coord is None:
                self._errors.append(error)
                raise
            coord.request_stop(error)
        finally:
            with self._lock:
                self._left -= 1
                is_last = self._left == 0
            if is_last:
                self._queue._store.close(False)

    def _cancel(self, coord):
        coord.wait_for_stop()
        self._queue._store.close(True)

    def create_threads(self, sess, coord=None, daemon=False, start=False):
        """A thread an operation, and one that empties the queue when all are to stop."""
        self._left += len(self._operations)
        threads = [
            threading.Thread(target=self._run, args=(sess, operation, coord), daemon=daemon)
            for operation in self._operations
        ]
        if coord is not None:
            threads.append(threading.Thread(target=self._cancel, args=(coord,), daemon=True))
            for thread in threads[:-1]:
                coord.register_thread(thread)
        if start:
            for thread in threads:
                thread.start()
        return threads


def add_queue_runner(qr, collection=GraphKeys.QUEUE_RUNNERS):
    get_default_graph().add_to_collection(collection, qr)


def start_queue_runners(sess=None, coord=None, daemon=True, start=True,
                        collection=GraphKeys.QUEUE_RUNNERS):  # fmt: skip
    """Starts the threads of all runners of the graph."""
    from tidemark._v1.session import default_session  # loaded on first use

    sess = sess or default_session()
    threads = []
    for runner in sess.graph.get_collection(collection):
        threads.extend(runner.create_threads(sess, coord, daemon, start))
    return threads
