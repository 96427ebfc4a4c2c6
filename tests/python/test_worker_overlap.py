"""Sums over workers that go on while backward makes the next gradients."""

import numpy as np
import pytest
import workers
from workers import on_workers, strategy_of, weights_and_kept

import tidemark as tf

WIDTHS = (64, 200, 200, 200, 8)


@tf.custom_gradient
def picked_on_the_way_back(x, places):
    return x, lambda dy: (tf.gather(dy, places), None)


def trainer(strategy):
    weights, _ = weights_and_kept(strategy, WIDTHS, seed=5)

    def on_worker(x):
        """Where x is bad the way back fails at the first weights, and not before."""
        places = tf.range(24) + 24 * tf.cast(tf.math.is_nan(x[0, 0]), tf.int32)
        with tf.GradientTape() as tape:
            h = picked_on_the_way_back(x @ weights[0], places)
            for w in weights[1:]:
                h = tf.tanh(h @ w)
            loss = tf.reduce_sum(h * h) / 48.0
        gradients = tape.gradient(loss, weights)
        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        for w, g in zip(weights, gradients, strict=True):
            w.assign_sub(0.1 * g)
        return loss

    return tf.function(lambda x: strategy.run(on_worker, args=(x,))), weights


def rows(rank, bad=False):
    x = np.random.default_rng(rank).normal(size=(24, WIDTHS[0])).astype(np.float32)
    return tf.constant(np.full_like(x, np.nan) if bad else x)


def trained(strategy, steps=4):
    step, weights = trainer(strategy)
    x = rows(strategy._rank)
    losses = [float(step(x)) for _ in range(steps)]
    return [s.op for s in step.plan(x).steps], losses, [w.numpy() for w in weights]


def test_sums_go_on_beside_compute_and_change_no_bit():
    found = on_workers(3, None, trained)
    together = on_workers(3, None, trained, bytes_per_pack=1 << 30)
    for (ops, *values), (ops_together, *values_together) in zip(found, together, strict=True):
        begins = [at for at, op in enumerate(ops) if op == "begin_all_reduce"]
        ends = [at for at, op in enumerate(ops) if op == "end_all_reduce"]
        assert len(begins) == len(ends) >= 2
        for begin in begins:
            assert any("matmul" in op for op in ops[begin : ends[0]])
        assert not any("begin" in op for op in ops_together)
        np.testing.assert_equal(values, values_together)
    for *_, weights in found:
        np.testing.assert_equal(weights, found[0][-1])


def test_a_step_that_fails_meanwhile_leaves_the_group_as_it_is():
    """What has begun is waited for: its memory is the next step's."""

    def use(strategy):
        step, weights = trainer(strategy)
        good, bad = rows(strategy._rank), rows(0, bad=True)
        step(good)
        before = [w.numpy() for w in weights]
        for _ in range(3):
            with pytest.raises(tf.errors.InvalidArgumentError, match="24"):
                step(bad)
        for mine, old in zip(weights, before, strict=True):
            np.testing.assert_array_equal(mine.numpy(), old)
        return [float(step(good)) for _ in range(3)]

    def undisturbed(strategy):
        return trained(strategy)[1][1:]

    assert on_workers(2, None, use) == on_workers(2, None, undisturbed)


def test_who_fails_alone_is_named():
    def use(strategy):
        step, _ = trainer(strategy)
        step(rows(strategy._rank))
        try:
            step(rows(0, bad=strategy._rank == 1))
            step(rows(0))
        except tf.errors.OpError as error:
            strategy._group.give_up(f"{type(error).__name__}: {error}")
            return type(error), str(error)
        return None

    (first, told), (second, _) = on_workers(2, None, use)
    assert second is tf.errors.InvalidArgumentError
    assert first is tf.errors.UnavailableError and "worker 1" in told and "out of" in told


def test_the_plan_is_what_a_step_takes_and_it_stays_flat():
    for told in workers.run(2, "overlapped"):
        # The allocator counts whole pages and headers.
        assert told["plan"] <= told["used"] <= told["plan"] + 3 * 4096
        assert told["begins"] >= 2 and told["grown"] <= 0


def test_one_worker_has_nothing_to_wait_for():
    assert not any("reduce" in op and "begin" in op for op in trained(strategy_of())[0])
