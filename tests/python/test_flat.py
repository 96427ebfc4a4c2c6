"""Thousands of rounds of each family leave resident memory where it was."""

import programs
import pytest
from flat import assert_flat, slope

import tidemark as tf

ROUNDS = {"constants": 3000, "order": 3000, "products": 2000, "randoms": 3000}


@pytest.mark.parametrize("program", programs.ALL, ids=lambda p: p.__name__)
def test_families(program):
    assert_flat(program, ROUNDS.get(program.__name__, 2000))


def test_mixed_sizes():
    held = [tf.ones([size]) for size in (1, 10, 100, 1000, 10_000, 100_000)]

    def step():
        for i, x in enumerate(held):
            held[i] = tf.nn.relu(x + x) * 0.5
        held[-1] = tf.reshape(held[-1], [100, -1])
        held[-1] = tf.reshape(held[-1], [-1])

    assert_flat(step, 3000, allowed=1 << 20)


def test_printing_and_errors_under_a_limit():
    x = tf.ones([100_000])

    def step():
        repr(x)
        with tf.memory.limit("64KiB"):
            try:
                x + 1
            except tf.errors.ResourceExhaustedError as error:
                str(error)

    assert_flat(step, 500)


def test_the_measure_notices_growth():
    kept = []
    with pytest.raises(AssertionError, match="still alive|grows"):
        assert_flat(lambda: kept.append(tf.ones([1000])), 800)
    assert slope([0, 10, 20, 30]) == 10 and slope([5, 5, 5]) == 0
