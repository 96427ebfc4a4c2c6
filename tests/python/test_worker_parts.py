"""Variables of which each worker keeps a part: whatever updates do, wherever values are read."""

import numpy as np
import pytest
import workers
from workers import SHARDS, on_workers, strategy_of, weights_and_kept

import tidemark as tf

WIDTHS = (48, 160, 200, 96, 4)  # of 3 KiB to 125 KiB each


def made(strategy, widths=WIDTHS):
    return weights_and_kept(strategy, widths, seed=3)


def by_elements(weight, kept, gradient):
    kept.assign(0.9 * kept + gradient)
    weight.assign_sub(0.1 * kept)


def by_norms(weight, kept, gradient):
    """As Lamb does: each step is as long as the weights are."""
    kept.assign_add(0.5 * (gradient - kept))
    weight.assign_sub(0.01 * kept * tf.norm(weight) / (tf.norm(kept) + 1e-3))


def by_rows(weight, kept, gradient):
    kept.assign(tf.reduce_mean(gradient, 0, keepdims=True) + tf.zeros_like(gradient))
    weight.assign_sub(0.1 * kept * tf.linspace(0.0, 1.0, weight.shape[1]))


def trainer(strategy, change, forward=None, widths=WIDTHS):
    weights, kept = made(strategy, widths)

    def usual(x):
        for w in weights:
            x = tf.tanh(x @ w)
        return x

    def change_all(strategy, gradients):
        for w, k, g in zip(weights, kept, gradients, strict=True):
            strategy.extended.update(w, change, args=(k, g))

    def on_worker(x):
        with tf.GradientTape() as tape:
            y = (forward or (lambda weights, x: usual(x)))(weights, x)
            loss = tf.reduce_sum(y * y) / 24.0
        gradients = tape.gradient(loss, weights)
        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        tf.__internal__.distribute.interim.maybe_merge_call(change_all, strategy, gradients)
        return loss

    return (lambda x: strategy.run(on_worker, args=(x,))), weights, kept


def rows(strategy, width=WIDTHS[0]):
    x = np.random.default_rng(1).normal(size=(24, width)).astype(np.float32)
    count, rank = strategy.num_replicas_in_sync, strategy._rank
    return tf.constant(x[24 * rank // count : 24 * (rank + 1) // count])


def trained(change, forward=None, in_function=True, steps=3):
    def use(strategy):
        step, weights, kept = trainer(strategy, change, forward)
        step = tf.function(step) if in_function else step
        x = rows(strategy)
        losses = [float(strategy.reduce("SUM", step(x), axis=None)) for _ in range(steps)]
        return losses, [v.numpy() for v in (*weights, *kept)]

    return use


def assert_the_same(found, wanted):
    for losses, values in found:
        assert losses == wanted[0]
        for mine, theirs in zip(values, wanted[1], strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("in_function", [True, False])
@pytest.mark.parametrize("change", [by_elements, by_norms, by_rows])
def test_updates_change_no_bit(change, in_function):
    wanted = on_workers(3, None, trained(change, in_function=in_function))[0]
    assert np.isfinite(wanted[0]).all() and wanted[0][0] != wanted[0][-1]
    for shard in SHARDS[1:]:
        found = on_workers(3, shard, trained(change, in_function=in_function))
        assert_the_same(found, found[0])
        if change is by_elements or not in_function:
            assert_the_same(found, wanted)
        else:  # sums over the whole are fused with what comes before them, in another order
            for mine, theirs in zip(found[0][1], wanted[1], strict=True):
                assert np.abs(mine - theirs).max() <= 1e-6 * np.abs(theirs).max()


def in_rounds(weights, x):
    """The same weights in each round, as in recurrent layers, and a branch that differs by
    worker."""
    x = x @ weights[0]

    def round_(i, h):
        return i + 1, tf.tanh(h @ weights[1] @ tf.transpose(weights[1]) * 0.1)

    _, x = tf.while_loop(lambda i, h: i < 3, round_, (0, x))
    x = tf.tanh(x @ weights[1])
    x = tf.cond(
        tf.reduce_sum(x) > 1e9,
        lambda: x @ weights[2],
        lambda: tf.tanh(x @ weights[2]),
    )
    return x @ weights[3]


def test_weights_read_in_loops_and_branches():
    wanted = on_workers(2, None, trained(by_elements, in_rounds))[0]
    for shard in SHARDS[1:]:
        assert_the_same(on_workers(2, shard, trained(by_elements, in_rounds)), wanted)


def test_a_training_loop_in_a_function_sees_each_round():
    def use(strategy):
        step, weights, _ = trainer(strategy, by_elements)
        x = rows(strategy)

        @tf.function
        def train():
            total = tf.constant(0.0)
            for _ in tf.range(3):
                total += step(x)
            return total

        train()
        return [w.numpy() for w in weights]

    wanted = on_workers(2, None, use)[0]
    for shard in SHARDS[1:]:
        for found in on_workers(2, shard, use):
            for mine, theirs in zip(found, wanted, strict=True):
                np.testing.assert_array_equal(mine, theirs)


def with_casts(weights, x):
    """As Keras's layers use them, whatever the precision."""
    for w in weights:
        x = tf.tanh(x @ tf.cast(w, tf.float32))
    return x


@pytest.mark.parametrize("forward", [None, with_casts])
def test_what_is_not_needed_for_a_while_is_gathered_again(forward):
    """Of many layers only a few are whole at a time, on the way back, too."""
    widths = (128,) * 9
    specs = tf.TensorSpec([2, 128])
    step = tf.function(trainer(strategy_of(), by_elements, forward, widths=widths)[0])
    plans = {shard: step.plan(specs, workers=4, shard=shard) for shard in SHARDS}
    size = 8 * 128 * 128 * 4
    assert plans[None].worst.variables == 2 * size
    assert plans["optimizer"].worst.variables == size * 5 // 4
    assert plans["parameters"].worst.variables == 2 * size // 4
    # Three of eight weights and gradients, not all, beside the workspace of a collective.
    scratch = 1 << 20
    assert plans["parameters"].worst.peak - scratch < 0.5 * size
    # Gathered twice each but for the last, whose turn comes again at once, and the first, which the
    # way back does not need.
    names = [s.op for s in plans["parameters"][0].plan.steps]
    assert sum("gather" in name for name in names) == 14


def test_parts_are_read_and_assigned_whole():
    def use(strategy):
        weights, kept = made(strategy)
        rank = strategy._rank
        big = weights[1]
        assert big.shape == [160, 200] and big._first.shape == [16_000]
        assert isinstance(big, tf.Variable) and big.trainable
        new = np.arange(32_000, dtype=np.float32).reshape(160, 200)
        big.assign(new)
        np.testing.assert_array_equal(big.numpy(), new)
        big.assign_add(tf.ones([160, 200]))
        big.assign_sub(2 * tf.ones([]))
        np.testing.assert_array_equal(big.value(), new - 1)
        kept[1].assign(new)
        np.testing.assert_array_equal(kept[1].numpy(), new)
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match="shape"):
            big.assign(tf.zeros([7]))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(big * (rank + 1.0))
        assert [v is big for v in tape.watched_variables()] == [True]
        return tape.gradient(loss, big).numpy()

    for rank, gradient in enumerate(on_workers(2, "parameters", use)):
        np.testing.assert_array_equal(gradient, np.full([160, 200], rank + 1.0))


def test_workers_that_read_different_variables_are_told():
    def use(strategy):
        with strategy.scope():
            both = [tf.Variable(tf.zeros([80, 80]), name=name) for name in ("left", "right")]
        with pytest.raises(tf.errors.UnavailableError, match="left.*right|right.*left"):
            both[strategy._rank].numpy()
        return True

    assert on_workers(2, "parameters", use) == [True, True]


def test_training_in_parts_stays_flat():
    def use(strategy):
        step, weights, _ = trainer(strategy, by_elements)
        step, x = tf.function(step), rows(strategy)
        for _ in range(5):
            step(x)
        strategy._group.barrier()
        before = tf.memory.stats().live
        strategy._group.barrier()
        for _ in range(200):
            step(x)
        strategy._group.barrier()
        grown = tf.memory.stats().live - before
        strategy._group.barrier()
        return grown

    assert max(on_workers(2, "parameters", use)) <= 0


@pytest.mark.parametrize("count", [2, 4])
def test_a_worker_keeps_its_share_of_the_state(count):
    """Also where one variable is larger than all others together."""

    def use(strategy):
        weights, kept = made(strategy, (64, 3000, 16, 8))
        return [
            sum(int(tf.size(getattr(v, "_first", v).value())) for v in of) for of in (weights, kept)
        ]

    whole = 64 * 3000 + 3000 * 16 + 16 * 8
    for shard, of in (("optimizer", 1), ("gradients", 1), ("parameters", 0), ("parameters", 1)):
        for found in on_workers(count, shard, use):
            assert found[of] <= 1.08 / count * whole


def write(folder):
    def use(strategy):
        step, weights, kept = trainer(strategy, by_elements)
        step(rows(strategy))
        path = tf.train.Checkpoint(weights=weights, kept=kept).write(f"{folder}/{strategy._rank}")
        return path, [v.numpy() for v in (*weights, *kept)]

    return use


def read(path, wanted):
    def use(strategy):
        weights, kept = made(strategy)
        status = tf.train.Checkpoint(weights=weights, kept=kept).read(path)
        status.assert_consumed()
        for variable, value in zip((*weights, *kept), wanted, strict=True):
            np.testing.assert_array_equal(variable.numpy(), value)
        return True

    return use


@pytest.mark.parametrize("shard", SHARDS)
def test_checkpoints_are_whole_and_restored_by_any_number_of_workers(shard, tmp_path):
    wrote = on_workers(2, shard, write(tmp_path))
    for path, values in wrote:
        assert len(values) == 8 == len(tf.train.list_variables(path)) - 1
        assert read(path, values)(strategy_of(shard))
        for other in {None, shard, "parameters"}:
            assert all(on_workers(3, other, read(path, values)))


def test_what_keras_saves_of_parts_is_whole(tmp_path):
    (wrote, _) = workers.run(2, "keras_saved", tmp_path, "write", "parameters")
    ((of_checkpoint, of_model, of_weights),) = workers.run(1, "keras_saved", tmp_path, "read")
    for weights, momentum, evaluated in (of_checkpoint, of_model):
        assert weights == wrote[0] and momentum == wrote[1]
        np.testing.assert_allclose(evaluated, wrote[2], rtol=1e-6)
    assert of_weights == [wrote[0][0]]


def test_workers_of_the_tutorial():
    """A program as the tutorials for several workers have it, told by TF_CONFIG."""
    for count in (2, 4):
        found = workers.run(count, "tutorial")
        assert all(one == found[0] for one in found)
        assert found[0][0] > found[0][-1]
