"""Operations on objects in which values or threads wait: stacks, barriers, accumulators, locks."""

from __future__ import annotations

import collections
import threading

import tidemark as tf
from tidemark._tensorflow.raw.handles import held, resource, shared, step, variant

# --- stacks --------------------------------------------------------------------------------------


class _Stack:
    """Values; the last that came goes first."""

    def __init__(self, dtype, max_size):
        self.dtype, self.max_size = tf.as_dtype(dtype), max_size
        self.values = []

    def push(self, value):
        if 0 <= self.max_size <= len(self.values):
            raise tf.errors.InvalidArgumentError(
                None, None, f"Stack overflowed its max_size ({self.max_size})"
            )
        self.values.append(value)
        return value

    def pop(self):
        if not self.values:
            raise tf.errors.InvalidArgumentError(None, None, "Stack is empty when calling Pop().")
        return self.values.pop()


def _stack(elem_type, max_size=-1, **_):
    return resource(_Stack(elem_type, int(max_size)))


def _push(handle, elem, **_):
    stack = held(handle, _Stack)
    if elem.dtype != stack.dtype:
        raise tf.errors.InvalidArgumentError(
            None, None, f"the stack takes {stack.dtype.name}; given {elem.dtype.name}"
        )
    return step(stack.push, [elem], [(elem.dtype, elem.shape.as_list())])[0]


def _pop(handle, elem_type):
    return step(held(handle, _Stack).pop, [], [elem_type])[0]


def _close_stack(handle):
    return step(held(handle, _Stack).values.clear)


# --- barriers ------------------------------------------------------------------------------------


class _Barrier:
    """Rows by key whose parts come one by one; whole ones are taken in the order they began."""

    def __init__(self, parts, capacity):
        self.parts, self.capacity = parts, capacity
        self.rows = collections.OrderedDict()
        self.is_closed = False
        self.changed = threading.Condition()

    def insert(self, index, keys, values):
        with self.changed:
            for key, value in zip(keys.numpy().tolist(), values, strict=True):
                if self.is_closed and key not in self.rows:
                    raise tf.errors.CancelledError(None, None, "Barrier is closed.")
                row = self.rows.setdefault(key, [None] * self.parts)
                if row[index] is not None:
                    raise tf.errors.InvalidArgumentError(
                        None, None, f"Key {key!r} already has a value for component {index}."
                    )
                row[index] = value
            self.changed.notify_all()

    def _whole(self):
        return [key for key, row in self.rows.items() if None not in row]

    def take(self, count, allow_small, wait_for_incomplete):
        with self.changed:
            self.changed.wait_for(
                lambda: (
                    len(self._whole()) >= count
                    or (self.is_closed and not (wait_for_incomplete and self._unfinished()))
                )
            )
            whole = self._whole()[:count]
            if len(whole) < count and not (allow_small and whole):
                raise tf.errors.OutOfRangeError(
                    None, None,
                    f"Barrier is closed and has insufficient elements (requested {count}, total "
                    f"size {len(whole)})",
                )  # fmt: skip
            order = [list(self.rows).index(key) for key in whole]
            columns = [[self.rows[key][at] for key in whole] for at in range(self.parts)]
            for key in whole:
                del self.rows[key]
            self.changed.notify_all()
        return [tf.constant(order, tf.int64), tf.constant(whole), *map(tf.stack, columns)]

    def _unfinished(self):
        return len(self.rows) - len(self._whole())

    def close(self, cancel):
        with self.changed:
            self.is_closed = True
            if cancel:
                for key in set(self.rows) - set(self._whole()):
                    del self.rows[key]
            self.changed.notify_all()


def _barrier(component_types, shapes, capacity, container, shared_name):
    return shared(
        lambda: _Barrier(len(component_types), capacity), "barrier", container, shared_name
    )


def _insert_many(handle, keys, values, component_index):
    barrier = held(handle, _Barrier)
    return step(lambda k, v: barrier.insert(component_index, k, tf.unstack(v)), [keys, values])


def _take_many(handle, num_elements, component_types, allow_small_batch, wait_for_incomplete,
               timeout_ms):  # fmt: skip
    if timeout_ms != -1:
        raise tf.errors.InvalidArgumentError(None, None, "Timeout not supported yet.")
    barrier = held(handle, _Barrier)
    made = step(
        lambda count: barrier.take(int(count), allow_small_batch, wait_for_incomplete),
        [num_elements], [tf.int64, tf.string, *component_types],
    )  # fmt: skip
    return [made[0], made[1], made[2:]]


def _close_barrier(handle, cancel_pending_enqueues):
    barrier = held(handle, _Barrier)
    return step(lambda: barrier.close(cancel_pending_enqueues))


def _count(read):
    def counted(handle):
        barrier = held(handle, _Barrier)
        return step(lambda: tf.constant(read(barrier)), [], [(tf.int32, [])])[0]

    return counted


# --- accumulators of gradients -------------------------------------------------------------------


class _Accumulator:
    """Gradients that are gathered until there are enough; those of a step that is past are not."""

    def __init__(self, dtype, reduction_type):
        if reduction_type not in ("MEAN", "SUM"):
            raise tf.errors.InvalidArgumentError(
                None, None, f"reduction_type is MEAN or SUM; given {reduction_type}"
            )
        self.dtype, self.takes_mean = tf.as_dtype(dtype), reduction_type == "MEAN"
        self.step, self.count, self.total = 0, 0, None
        self.changed = threading.Condition()

    def apply(self, local_step, gradient):
        with self.changed:
            if int(local_step) < self.step:
                return
            self.total = gradient if self.total is None else self._sum(self.total, gradient)
            self.count += 1
            self.changed.notify_all()

    def _sum(self, one, other):
        return one + other

    def take(self, required):
        with self.changed:
            self.changed.wait_for(lambda: self.count >= int(required) and self.count)
            total, count = self.total, self.count
            self.total, self.count = None, 0
            self.step += 1
        return self._result(total, count if self.takes_mean else 1)

    def _result(self, total, count):
        return total / tf.cast(count, self.dtype)

    def set_step(self, step):
        with self.changed:
            self.step = int(step)


class _SparseAccumulator(_Accumulator):
    """Gradients of rows: places, values and the whole shape."""

    def _sum(self, one, other):
        indices = tf.concat([one[0], other[0]], 0)
        values = tf.concat([one[1], other[1]], 0)
        rows, place = tf.unique(indices)
        summed = tf.math.unsorted_segment_sum(values, place, tf.size(rows))
        order = tf.argsort(rows)
        return tf.gather(rows, order), tf.gather(summed, order), other[2]

    def _result(self, total, count):
        indices, values, shape = total
        return [indices, values / tf.cast(count, self.dtype), shape]


def _accumulator(kind):
    def make(dtype, shape, container, shared_name, reduction_type):
        return shared(lambda: kind(dtype, reduction_type), kind.__name__, container, shared_name)

    return make


def _apply_gradient(handle, local_step, gradient):
    return step(held(handle, _Accumulator).apply, [local_step, gradient])


def _apply_sparse(handle, local_step, gradient_indices, gradient_values, gradient_shape, **_):
    gathered = held(handle, _SparseAccumulator)
    return step(
        lambda at, *rows: gathered.apply(at, rows),
        [local_step, gradient_indices, gradient_values, gradient_shape],
    )


def _take_gradient(handle, num_required, dtype):
    return step(held(handle, _Accumulator).take, [num_required], [dtype])[0]


def _take_sparse(handle, num_required, dtype):
    types = [tf.int64, dtype, tf.int64]
    return step(held(handle, _SparseAccumulator).take, [num_required], types)


def _accumulated(handle):
    gathered = held(handle, _Accumulator)
    return step(lambda: tf.constant(gathered.count), [], [(tf.int32, [])])[0]


def _set_step(handle, new_global_step):
    return step(held(handle, _Accumulator).set_step, [new_global_step])


_ACCUMULATORS = {
    "AccumulatorApplyGradient": _apply_gradient,
    "AccumulatorNumAccumulated": _accumulated,
    "AccumulatorSetGlobalStep": _set_step,
    "AccumulatorTakeGradient": _take_gradient,
    "ConditionalAccumulator": _accumulator(_Accumulator),
}


# --- locks ---------------------------------------------------------------------------------------


class _Mutex:
    def __init__(self):
        self.lock = threading.Lock()


class _Held:
    """A lock that is held as long as this is."""

    def __init__(self, mutex):
        self._lock = mutex.lock
        self._lock.acquire()

    def __del__(self):
        self._lock.release()


def _mutex(container, shared_name):
    return shared(_Mutex, "mutex", container, shared_name)


def _lock(mutex):
    return variant(_Held(held(mutex, _Mutex)))


def _consume(mutex_lock):
    """Nothing happens: in TensorFlow's graphs it keeps the lock until this point."""
    held(mutex_lock, _Held)


WRITTEN = {
    **_ACCUMULATORS,
    **{"Resource" + name: function for name, function in _ACCUMULATORS.items()},
    "Barrier": _barrier,
    "BarrierClose": _close_barrier,
    "BarrierIncompleteSize": _count(_Barrier._unfinished),
    "BarrierInsertMany": _insert_many,
    "BarrierReadySize": _count(lambda barrier: len(barrier._whole())),
    "BarrierTakeMany": _take_many,
    "ConsumeMutexLock": _consume,
    "MutexLock": _lock,
    "MutexV2": _mutex,
    "SparseAccumulatorApplyGradient": _apply_sparse,
    "SparseAccumulatorTakeGradient": _take_sparse,
    "SparseConditionalAccumulator": _accumulator(_SparseAccumulator),
    "Stack": _stack,
    "StackClose": _close_stack,
    "StackCloseV2": _close_stack,
    "StackPop": _pop,
    "StackPopV2": _pop,
    "StackPush": _push,
    "StackPushV2": _push,
    "StackV2": _stack,
}
