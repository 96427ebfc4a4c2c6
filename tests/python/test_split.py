"""Batches split by rows so that a call keeps within its budget."""

import random

import numpy as np
import pytest
import this_device
from environments import needs_plans
from random_programs import BATCHES, Program

import tidemark as tf

pytestmark = needs_plans


def normal(*shape, seed=0, scale=1.0):
    values = np.random.default_rng(seed).normal(0, scale, shape)
    return tf.constant(values.astype(np.float32))


def bounded(python_function, budget):
    return tf.function(python_function, memory_budget=budget)


def measured(function, *args):
    """What a warm call takes, by the ledger of what tensors asked for."""
    function(*args)
    return this_device.taken_by(function, *args)


def whole_of(python_function, *args):
    return bounded(python_function, "1TB").plan(*args).peak


def scores(x, w):
    return tf.reduce_max(tf.nn.softmax(tf.matmul(x, w)), axis=-1)


def vocabulary_loss(h, w, labels):
    with tf.GradientTape() as tape:
        tape.watch([h, w])
        logits = tf.matmul(h, w)
        each = tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits)
        loss = tf.reduce_mean(each)
    return [loss, *tape.gradient(loss, [h, w])]


def pictures(x, first, second):
    h = tf.nn.relu(tf.nn.conv2d(x, first, 1, "SAME"))
    h = tf.nn.max_pool2d(h, 2, 2, "VALID")
    h = tf.nn.relu(tf.nn.conv2d(h, second, 1, "SAME"))
    return tf.reduce_mean(h, [1, 2])


def heads(x, w):
    """[batch, length, width], in four heads, as models write it."""
    batch, length, width = x.shape
    q = tf.transpose(tf.reshape(tf.matmul(tf.reshape(x, [-1, width]), w),
                                [batch, length, 4, width // 4]), [0, 2, 1, 3])  # fmt: skip
    p = tf.nn.softmax(tf.matmul(q, q, transpose_b=True))
    y = tf.transpose(tf.matmul(p, q), [0, 2, 1, 3])
    return tf.reduce_sum(tf.reshape(y, [batch, -1]), axis=-1)


CASES = {
    "scores": (scores, lambda: (normal(512, 16), normal(16, 300, seed=1)), 0.2, True),
    "vocabulary": (
        vocabulary_loss,
        lambda: (
            normal(256, 8),
            normal(8, 1000, seed=1),
            tf.constant(np.arange(256, dtype=np.int32) * 3),
        ),
        0.3,
        False,
    ),
    "pictures": (
        pictures,
        lambda: (normal(16, 16, 16, 3), normal(3, 3, 3, 16, seed=1), normal(3, 3, 16, 16, seed=2)),
        0.3,
        True,
    ),
    "heads": (heads, lambda: (normal(16, 32, 64), normal(64, 64, seed=1, scale=0.1)), 0.3, True),
}


@pytest.mark.parametrize("name", CASES)
def test_pieces_fit_and_give_the_same(name):
    function, make, part, is_by_row = CASES[name]
    args = make()
    whole = whole_of(function, *args)
    small = bounded(function, int(whole * part))
    plan = small.plan(*args)
    assert plan.splits and plan.peak <= whole * part and plan.unbounded_peak == whole
    assert measured(small, *args) == plan.peak
    free = tf.function(function)
    for a, b, c in zip(
        tf.nest.flatten(small(*args)), tf.nest.flatten(free(*args)),
        tf.nest.flatten(function(*args)), strict=True,
    ):  # fmt: skip
        if is_by_row:
            np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(a, c, rtol=1e-4, atol=1e-6)


def test_results_of_a_loop_are_split_where_they_lie():
    def after_a_loop(x, w):  # the count of rounds stays on the host, whatever the device of x
        rounds, x = tf.while_loop(
            lambda i, x: i < 3, lambda i, x: (i + 1, tf.tanh(x)), (tf.constant(0), x)
        )
        return scores(x, w), rounds

    args = normal(512, 16), normal(16, 300, seed=1)
    small = bounded(after_a_loop, int(whole_of(after_a_loop, *args) * 0.3))
    plan = small.plan(*args)
    assert plan.splits and measured(small, *args) <= plan.peak
    np.testing.assert_allclose(small(*args)[0], after_a_loop(*args)[0], rtol=1e-4, atol=1e-6)


def test_rows_computed_by_the_same_code_are_equal_to_the_bit():
    def norms(x):
        return tf.reduce_sum(tf.nn.softmax(tf.sort(tf.tanh(x) * 3.0)) * x, axis=-1)

    x = normal(1000, 77)
    whole = whole_of(norms, x)
    small = bounded(norms, int(whole * 0.3))
    assert small.plan(x).splits
    np.testing.assert_array_equal(small(x), tf.function(norms)(x))


def test_the_plan_says_what_was_split_and_why():
    args = CASES["scores"][1]()
    small = bounded(scores, int(whole_of(scores, *args) * 0.2))
    plan = small.plan(*args)
    (note,) = plan.splits
    assert note.startswith("split into ") and " by rows (" in note and "because" in note
    assert note.count("test_split.py:") == 2
    text = " ".join(str(plan).split())
    assert "split into" in text and "because" in text
    assert max(map(len, str(plan).splitlines())) <= 80
    assert plan.to_dict()["splits"] == [note]


def test_a_training_step_adds_its_gradients_up_piece_by_piece():
    def make(budget):
        weights = [tf.Variable(normal(32, 32, seed=i, scale=0.2)) for i in range(6)]

        @tf.function(memory_budget=budget)
        def step(x, y):
            with tf.GradientTape() as tape:
                h = x
                for w in weights:
                    h = tf.tanh(tf.matmul(h, w))
                loss = tf.reduce_mean(tf.square(h - y))
            for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
                w.assign_sub(0.1 * g)
            return loss

        return step, weights

    x, y = normal(4096, 32), normal(4096, 32, seed=9)
    free, free_weights = make("1TB")
    whole = free.plan(x, y).peak
    small, small_weights = make(int(whole * 0.15))
    plan = small.plan(x, y)
    assert plan.splits and plan.peak <= whole * 0.15
    for _ in range(5):
        np.testing.assert_allclose(free(x, y), small(x, y), rtol=1e-5)
    for a, b in zip(free_weights, small_weights, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)
    assert measured(small, x, y) == plan.peak


def test_numbers_drawn_are_those_of_the_whole():
    def noisy(x, w):
        h = tf.nn.dropout(tf.matmul(x, w), 0.5)
        return tf.reduce_sum(tf.sort(h) * h, axis=-1), tf.random.uniform([3])

    x, w = normal(256, 8), normal(8, 400, seed=1)
    whole = whole_of(noisy, x, w)
    small = bounded(noisy, int(whole * 0.75))
    tf.random.set_seed(5)
    expected = [t.numpy() for t in noisy(x, w)]
    tf.random.set_seed(5)
    found = small(x, w)
    assert small.plan(x, w).peak <= whole * 0.75
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)


def test_updates_and_readings_keep_their_order():
    def make(budget):
        v = tf.Variable(tf.ones([16]))

        @tf.function(memory_budget=budget)
        def step(x, w):
            first = tf.reduce_sum(tf.sort(tf.matmul(x, w) + v), axis=-1)
            v.assign_add(tf.ones([16]) * tf.reduce_mean(first) * 0.01)
            return tf.reduce_sum(tf.sort(tf.matmul(x, w) * v), axis=-1), first

        return step, v

    x, w = normal(512, 8), normal(8, 16, seed=1)
    free, free_v = make(None)
    whole = make("1TB")[0].plan(x, w).peak
    small, small_v = make(int(whole * 0.6))
    assert small.plan(x, w).splits
    for _ in range(3):
        for a, b in zip(free(x, w), small(x, w), strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(free_v.numpy(), small_v.numpy(), rtol=1e-5)


def test_what_needs_all_rows_is_not_split():
    def mixed(x, w):
        h = tf.matmul(x, w)
        return tf.sort(h, axis=0)

    args = normal(512, 8), normal(8, 64, seed=1)
    whole = whole_of(mixed, *args)
    message = r"lowest peak found is .*sort at test_split.py"
    with pytest.raises(tf.errors.ResourceExhaustedError, match=message):
        bounded(mixed, int(whole * 0.3)).plan(*args)


def test_split_calls_keep_memory_flat():
    args = CASES["vocabulary"][1]()
    whole = whole_of(vocabulary_loss, *args)
    small = bounded(vocabulary_loss, int(whole * 0.3))
    for _ in range(20):
        small(*args)
    before = tf.memory.stats()
    for _ in range(2000):
        small(*args)
    after = tf.memory.stats()
    assert after.live - before.live <= 4096 and after.resident - before.resident < 1 << 20


@pytest.mark.parametrize("piece", range(4))
def test_random_programs_agree_under_random_budgets(piece):
    tried = split = 0
    for seed in range(50_000 + piece, 50_120, 4):
        program = Program(seed, length=8 + seed % 16, shapes=BATCHES)
        values = [tf.constant(v) for v in program.values()]
        free_variables, small_variables = program.variables(), program.variables()

        def run(tensors, variables, program=program):
            results = program.run(tensors, variables)  # as they are they would be most of the peak
            return [
                tf.reduce_max(tf.reshape(t, [-1, 1]), axis=0) for t in results if 0 not in t.shape
            ]

        def free(*tensors, run=run, variables=free_variables):
            return run(tensors, variables)

        def same(*tensors, run=run, variables=small_variables):
            return run(tensors, variables)

        try:
            plan = tf.function(free, autograph=False, memory_budget="1TB").plan(*values)
        except tf.errors.FailedPreconditionError:
            continue  # not planned: gradients across loops
        budget = max(1, int(plan.peak * random.Random(seed).uniform(0.3, 1)))
        small = tf.function(same, autograph=False, memory_budget=budget)
        try:
            under = small.plan(*values)
        except tf.errors.ResourceExhaustedError as error:
            assert "lowest peak" in str(error)
            continue
        tried += 1
        split += bool(under.splits)
        assert under.peak <= budget
        for a, b in zip(small(*values), run(values, free_variables), strict=True):
            np.testing.assert_allclose(
                a.numpy(), b.numpy(), rtol=2e-3, atol=2e-3, err_msg=f"program {seed}"
            )
        for a, b in zip(small_variables, free_variables, strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-3, atol=2e-3)
    assert tried >= 3 and split >= 1
