"""A temporary that dies with its operator is written in place; nothing else ever is."""

import operator
import sys

import numpy as np
import pytest

from tidemark import _tidemark as tm

N = 50_000
pytestmark = [
    pytest.mark.unwatched,
    pytest.mark.skipif(
        not (3, 11) <= sys.version_info < (3, 14), reason="temporaries are known by their frames"
    ),
]


def tensor(value=1.0):
    return tm.convert(np.full(N, value, dtype=np.float32))


def peak_of(function, *args):
    tm.reset_peak()
    before = tm.stats()["live"]
    result = function(*args)
    return result, (tm.stats()["peak"] - before) / (4 * N)


def test_chains_reuse_their_temporary():
    a, b, c = tensor(2), tensor(3), tensor(4)
    result, buffers = peak_of(lambda: (a * b) + c)
    assert result.numpy()[0] == 10 and buffers < 1.5
    result, buffers = peak_of(lambda: a * b + c - a * 2)
    assert result.numpy()[0] == 6 and buffers < 2.5
    result, buffers = peak_of(lambda: c + (a * b))
    assert result.numpy()[0] == 10 and buffers < 1.5
    result, buffers = peak_of(lambda: 1 - (a * b) * 2.0)
    assert result.numpy()[0] == -11 and buffers < 1.5
    assert [t.numpy()[0] for t in (a, b, c)] == [2, 3, 4]


def test_temporaries_of_another_shape_or_dtype_are_left_alone():
    a, row = tensor(2), tm.convert(np.ones((2, N), dtype=np.float32))
    assert ((a * a) + row).numpy()[1, 5] == 5
    ints = tm.convert(np.full(N, 3))
    assert ((ints * ints) + tm.convert(0.5)).numpy()[0] == 9.5


def test_named_values_are_never_written():
    a, b = tensor(2), tensor(3)
    product = a * b
    total = product + a
    assert (product.numpy()[0], total.numpy()[0]) == (6, 8)
    result = (kept := a * b) + a
    assert (kept.numpy()[0], result.numpy()[0]) == (6, 8)
    holder = [a * b]
    result = holder[0] + a
    assert (holder[0].numpy()[0], result.numpy()[0]) == (6, 8)

    class Holder:
        pass

    h = Holder()
    h.value = a * b
    result = h.value + a
    assert (h.value.numpy()[0], result.numpy()[0]) == (6, 8)
    x = a * b
    x += a
    assert x.numpy()[0] == 8


def test_views_keep_the_elements():
    a = tensor(2)
    view = None

    def shares(t):
        nonlocal view
        view = t.numpy()
        return t

    result = shares(a * a) + a
    assert view[0] == 4 and result.numpy()[0] == 6


def test_object_arrays_hold_one_reference_and_keep_their_tensors():
    a, b = tensor(2), tensor(3)
    boxes = np.empty(2, dtype=object)
    boxes[0], boxes[1] = a * b, a * b
    other = np.empty(2, dtype=object)
    other[0], other[1] = tensor(1), tensor(1)
    total = boxes + other
    assert [t.numpy()[0] for t in boxes] == [6, 6]
    assert [t.numpy()[0] for t in total] == [7, 7]
    result = (boxes + other) + other
    assert [t.numpy()[0] for t in result] == [8, 8]
    assert [t.numpy()[0] for t in boxes] == [6, 6]
    boxed = np.array([a * b, 1.0], dtype=object)
    summed = boxed + 1.0
    assert boxed[0].numpy()[0] == 6 and summed[0].numpy()[0] == 7


def test_functions_that_hold_one_reference_keep_their_tensor():
    a, b = tensor(2), tensor(3)
    items = [a * b]
    results = list(map(operator.add, items, [a]))
    assert items[0].numpy()[0] == 6 and results[0].numpy()[0] == 8
    assert operator.add(a * b, a).numpy()[0] == 8
    assert sum([a * b, a * b]).numpy()[0] == 12


def test_python_operators_that_answer_with_a_tensor_they_keep():
    a = tensor(2)

    class Cached:
        def __init__(self):
            self.value = None

        def __add__(self, other):
            self.value = a * other
            return self.value

    cached = Cached()
    result = (cached + a) + a
    assert cached.value.numpy()[0] == 4 and result.numpy()[0] == 6


def test_generators_and_loops():
    a = tensor(1)

    def produce():
        while True:
            got = yield (a * a) + a
            if got is None:
                return

    generator = produce()
    first = next(generator)
    assert first.numpy()[0] == 2
    total = a
    for _ in range(10):
        total = (total * a) + a
    assert total.numpy()[0] == 11 and a.numpy()[0] == 1
