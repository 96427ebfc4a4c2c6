"""AutoGraph: lists that grow in staged loops become tensor arrays."""

import numpy as np
import pytest
from staged import run as run_once
from staged import run_both as run
from tidemark.autograph._impl import converted

import tidemark as tf

pytestmark = pytest.mark.unwatched

t = tf.constant


def test_the_first_example_of_lists_runs_as_written():
    def accumulate_tensors(x, count):
        results = []
        for i in tf.range(count):
            results.append(x + tf.cast(i, tf.float32))
        return tf.stack(results)

    result = run(accumulate_tensors, t([1.0, 2.0]), 5)
    np.testing.assert_array_equal(result, [[1 + i, 2 + i] for i in range(5)])
    assert run(accumulate_tensors, t([1.0, 2.0]), t(3)).shape == (3, 2)
    assert run(accumulate_tensors, t([1.0, 2.0]), 0).shape == (0, 2)


def test_a_list_that_was_filled_before():
    def program(n):
        values = [t(7), t(8)]
        while n > 0:
            values.append(n)
            n -= 1
        return tf.stack(values), values[0], values[-1], len(values)

    stacked, first, last, count = run(program, t(3))
    assert stacked.numpy().tolist() == [7, 8, 3, 2, 1]
    assert (int(first), int(last), int(count)) == (7, 1, 5)


def test_a_list_in_a_loop_is_read_while_it_grows():
    def fibonacci(n):
        values = [1, 1]
        for i in tf.range(n):
            values.append(values[i] + values[i + 1])
        return tf.stack(values)

    assert run(fibonacci, t(6)).numpy().tolist() == [1, 1, 2, 3, 5, 8, 13, 21]


def test_an_append_under_a_condition():
    def odd(n):
        values = []
        for i in tf.range(n):
            if i % 2 == 1:
                values.append(i * 10)
        return tf.stack(values), len(values)

    stacked, count = run(odd, t(6))
    assert stacked.numpy().tolist() == [10, 30, 50]
    assert int(count) == 3


def test_two_appends_a_round_and_a_break():
    def program(n):
        values = []
        for i in tf.range(n):
            if i == 3:
                break
            values.append(i)
            values.append(-i)
        return tf.stack(values)

    assert run(program, t(9)).numpy().tolist() == [0, 0, 1, -1, 2, -2]


def test_lists_of_structures():
    def program(n):
        pairs = []
        for i in tf.range(n):
            pairs.append((i, {"square": tf.cast(i * i, tf.float32)}))
        total = 0.0
        for number, named in pairs:
            total += tf.cast(number, tf.float32) * named["square"]
        return total, pairs[2]

    total, third = run(program, t(4))
    assert float(total) == 0 + 1 + 8 + 27
    assert int(third[0]) == 2 and float(third[1]["square"]) == 4.0


def test_iterating_a_grown_list():
    def program(n):
        values = []
        for i in tf.range(n):
            values.append(i + 1)
        product = 1
        for value in values:
            product *= value
        for i, value in enumerate(values):
            product += i * value
        return product

    assert int(run(program, t(4))) == 24 + 0 * 1 + 1 * 2 + 2 * 3 + 3 * 4


def test_pop_extend_and_item_assignment():
    def program(n):
        values = [0]
        last = t(0)
        for i in tf.range(n):
            values.extend([i, i + 1])
            last = values.pop()
        values[0] = t(100)
        return tf.stack(values), last

    stacked, last = run(program, t(3))
    assert stacked.numpy().tolist() == [100, 0, 1, 2]
    assert int(last) == 3


def test_an_element_that_the_graph_chooses_is_assigned():
    def program(n):
        values = [0, 0, 0]
        for i in tf.range(n):
            values[i] = i * 5
        return tf.stack(values)

    assert run(program, t(3)).numpy().tolist() == [0, 5, 10]


def test_a_grown_list_leaves_as_a_tensor():
    def program(n):
        values = []
        for i in tf.range(n):
            values += [i]
        return {"values": values}

    assert run(program, t(3))["values"].numpy().tolist() == [0, 1, 2]


def test_nested_loops_grow_one_list():
    def program(n):
        values = []
        for i in tf.range(n):
            for j in tf.range(i):
                values.append(10 * i + j)
        return tf.stack(values)

    assert run(program, t(4)).numpy().tolist() == [10, 20, 21, 30, 31, 32]


def test_lists_that_do_not_grow_are_structures():
    def program(n):
        pair = [n, 1]
        while n > 0:
            pair = [pair[1], pair[0] + n]
            n -= 1
        return pair

    python = [int(v) for v in program(3)]
    assert [int(v) for v in run(program, t(3))] == python


def test_elements_of_two_dtypes_are_refused():
    def program(n):
        values = [1]
        for _ in tf.range(n):
            values.append(1.5)
        return values

    with pytest.raises(TypeError, match="must have one dtype; it has int32, float32"):
        run(program, t(3))


def test_lists_of_python_loops_stay_lists():
    outside = []

    def program(n):
        inside = []
        for i in range(3):
            inside.append(n * i)
            outside.append(i)
        return inside

    result = run_once(program, 2)
    assert result == [0, 2, 4] and isinstance(result, list)
    assert outside == [0, 1, 2]


def test_dictionaries_of_the_outside_change_as_in_python():
    state = {"counter": 0}

    def program(x):
        state["counter"] += 1
        return x + state["counter"]

    step = converted(program)
    assert int(step(t(1))) == 2 and int(step(t(1))) == 3
    assert state == {"counter": 2}
