"""else of loops, and loops over iterators of datasets, in graphs."""

import numpy as np
import pytest

import tidemark as tf

pytestmark = pytest.mark.unwatched


def both(function, *calls):
    """The function's results as Python and in a graph, for each set of arguments."""
    staged = tf.function(function)
    for args in calls:
        tensors = [tf.constant(a) for a in args]
        expected = function(*args)
        np.testing.assert_array_equal(np.array(staged(*tensors)), np.array(expected))
    assert len(staged.traces()) == 1


def test_for_else():
    def first_divisor(n):
        found = -1
        for i in tf.range(2, n):
            if n % i == 0:
                found = int(i) if isinstance(n, int) else i
                break
        else:
            found = -2
        return found

    both(first_divisor, (9,), (7,), (2,))


def test_while_else_with_continue():
    def program(n):
        i, odd = 0, 0
        while i < n:
            i += 1
            if i % 2 == 0:
                continue
            if i > 5:
                break
            odd += 1
        else:
            odd += 100
        return odd, i

    both(program, (3,), (9,), (0,))


def test_nested_and_in_functions():
    def program(n):
        total = 0
        for i in range(4):
            for j in range(3):
                if i * j == n:
                    break
            else:
                total += 10 * i
                if total > 25:
                    break
                continue
            total += 1
        else:
            total += 1000
        return total

    both(program, (2,), (4,), (9,), (0,))


def test_a_return_skips_the_else():
    def program(n):
        for i in range(5):
            if i == n:
                return i * 100
        else:
            n = n + 1
        return n

    both(program, (3,), (9,))


def test_without_a_break_the_else_runs():
    def program(n):
        total = 0
        while n > 0:
            n -= 1
            total += n
        else:
            total += 50
        return total

    both(program, (3,), (0,))


def test_errors_in_the_else_name_its_line():
    @tf.function
    def program(n):
        for i in tf.range(n):
            if i == 2:
                break
        else:
            n = n + "text"  # the line
        return n

    with pytest.raises(Exception, match="text") as told:
        program(tf.constant(3))
    assert "# the line" in str(told.value)


def test_iterators_of_datasets():
    data = tf.data.Dataset.range(10)

    @tf.function
    def total():
        out = tf.constant(0, tf.int64)
        for x in iter(data):
            out += x
        return out

    assert total().numpy() == total().numpy() == 45

    @tf.function
    def until(iterator, most):
        out = tf.constant(0, tf.int64)
        for x in iterator:
            out += x
            if out > most:
                break
        return out

    iterator = iter(data)
    most = tf.constant(5, tf.int64)
    assert [until(iterator, most).numpy() for _ in range(5)] == [6, 9, 6, 7, 8]
    assert next(iterator).numpy() == 9  # a break takes no more than it saw
    assert until(iterator, most).numpy() == 0
    assert len(until.traces()) == 1


def test_iterators_of_structures_and_unknown_sizes():
    data = tf.data.Dataset.range(5).map(lambda x: {"a": x, "b": tf.cast(x, tf.float32)}).batch(2)

    @tf.function
    def program(iterator):
        count, total = 0, tf.constant(0.0)
        for element in iterator:
            count += tf.size(element["a"])
            total += tf.reduce_sum(element["b"])
        else:
            total += 100.0
        return count, total

    count, total = program(iter(data))
    assert count.numpy() == 5 and total.numpy() == 110.0


def test_iterators_of_runs_that_fail_are_gone():
    import gc
    import weakref

    data = tf.data.Dataset.range(10)

    @tf.function
    def program(bad):
        for x in data:
            tf.debugging.assert_less(x, bad)
        for x in iter(data):
            tf.debugging.assert_less(x, bad)

    from tidemark.data import _iterator, _staged_reduce

    seen = []
    original = _staged_reduce.Running.__init__

    def noted(self, iterator):
        original(self, iterator)
        seen.append(weakref.ref(self))

    _staged_reduce.Running.__init__ = noted
    try:
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError):
                program(tf.constant(5, tf.int64))
    finally:
        _staged_reduce.Running.__init__ = original
    gc.collect()
    assert len(seen) == 3 and [ref() for ref in seen] == [None] * 3
    assert len(_iterator._by_number) == 0


def test_datasets_of_constants_inside_and_of_unknown_tensors():
    @tf.function
    def constants():
        total = tf.constant(0)
        for x in tf.data.Dataset.from_tensor_slices([1, 2, 3]):
            total += x
        return total

    assert constants().numpy() == 6

    @tf.function
    def unknown(values):
        total = tf.constant(0)
        for x in tf.data.Dataset.from_tensor_slices(values):
            total += x
        return total

    assert unknown(tf.constant([1, 2, 3])).numpy() == 6
    assert unknown(tf.constant([4, 5])).numpy() == 9
