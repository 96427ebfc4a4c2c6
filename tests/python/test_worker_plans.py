"""What each worker needs, told before there are any; gradients and state shared out."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import workers
from workers import SHARDS, on_workers, strategy_of, weights_and_kept

import tidemark as tf

WIDTHS = (64, 256, 192, 128, 8)


def training(strategy):
    """A step with momentum, as Keras's optimizers do it; its weights and its momenta."""
    merge = tf.__internal__.distribute.interim.maybe_merge_call
    weights, momenta = weights_and_kept(strategy, WIDTHS, seed=7)

    def change(weight, momentum, gradient):
        momentum.assign(0.9 * momentum + gradient)
        weight.assign_sub(0.05 * momentum)

    def change_all(strategy, gradients):
        for w, m, g in zip(weights, momenta, gradients, strict=True):
            strategy.extended.update(w, change, args=(m, g))

    def on_worker(x, y):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.tanh(h @ w)
            loss = tf.reduce_mean((h - y) ** 2) / strategy.num_replicas_in_sync
        gradients = tape.gradient(loss, weights)
        gradients = tf.distribute.get_replica_context().all_reduce("SUM", gradients)
        merge(change_all, strategy, gradients)
        return loss

    @tf.function
    def step(x, y):
        return strategy.run(on_worker, args=(x, y))

    return step, weights, momenta


def rows(rank, count):
    x = np.random.default_rng(3).normal(size=(24, WIDTHS[0])).astype(np.float32)
    mine = slice(24 * rank // count, 24 * (rank + 1) // count)
    return tf.constant(x[mine]), tf.constant(x[mine, : WIDTHS[-1]])


SPECS = tf.TensorSpec([8, WIDTHS[0]]), tf.TensorSpec([8, WIDTHS[-1]])


def trained(strategy):
    """Weights after five steps, plan, what a step sent, elements kept of the momenta."""
    step, weights, momenta = training(strategy)
    count, group = strategy.num_replicas_in_sync, strategy._group
    x, y = rows(strategy._rank, count)
    for _ in range(5):
        before = group.bytes_sent
        step(x, y)
    sent = group.bytes_sent - before
    kept = sum(int(tf.size(getattr(m, "_first", m).value())) for m in momenta)
    return [w.numpy() for w in weights], step.plan(*SPECS), sent, kept


@pytest.mark.parametrize("count", [2, 3])
def test_what_is_shared_out_changes_no_bit_and_is_planned_ahead(count):
    alone = training(strategy_of())[0]
    results = {}
    for shard in SHARDS:
        results[shard] = found = on_workers(count, shard, trained)
        planned = alone.plan(*SPECS, workers=count, shard=shard)
        assert len(planned) == count and planned.shard == shard
        for rank, (weights, plan, sent, _) in enumerate(found):
            for mine, theirs in zip(weights, results[None][0][0], strict=True):
                np.testing.assert_array_equal(mine, theirs)
            # What was told before there were any workers is what each of them takes and sends.
            assert planned[rank].peak == plan.peak
            assert planned[rank].variables == plan.variables
            assert planned[rank].bytes_sent == plan.bytes_sent == sent
    sizes = sum(a * b for a, b in zip(WIDTHS, WIDTHS[1:], strict=False))
    for shard in SHARDS[1:]:
        assert sum(kept for *_, kept in results[shard]) == sizes
        assert max(kept for *_, kept in results[shard]) < 1.04 / count * sizes
    assert all(kept == sizes for *_, kept in results[None])
    sent = {shard: max(one[2] for one in found) for shard, found in results.items()}
    assert sent["gradients"] < sent["optimizer"]


def test_gradients_shared_out_take_less():
    step = training(strategy_of())[0]
    whole, shared = (step.plan(*SPECS, workers=4, shard=s).peak for s in (None, "gradients"))
    assert shared < whole
    with pytest.raises(ValueError, match="shard='rows'"):
        step.plan(*SPECS, workers=4, shard="rows")
    with pytest.raises(ValueError, match="1 or more"):
        step.plan(*SPECS, workers=0)


def test_a_budget_says_what_has_to_be_shared_out():
    step = training(strategy_of())[0]
    totals = [step.plan(*SPECS, workers=4, shard=s).worst.total for s in SHARDS]
    assert totals == sorted(set(totals), reverse=True)
    for total, shard in zip(totals, SHARDS, strict=True):
        found = step.plan(*SPECS, workers=4, memory_budget=total)
        assert found.shard == shard and found.worst.total == total
    with pytest.raises(tf.errors.ResourceExhaustedError, match="worker 0 of 4 keeps"):
        step.plan(*SPECS, workers=4, memory_budget=1000)


def test_what_each_worker_adds_up_is_refused():
    def use(strategy):
        momenta = training(strategy)[2]
        with pytest.raises(tf.errors.UnimplementedError, match="gradient_accumulation_steps"):
            strategy.extended.update(momenta[0], lambda v: v.assign_add(v))
        return True

    assert on_workers(2, "optimizer", use) == [True, True]


def test_imagined_workers_do_not_run():
    made = training(strategy_of())
    before = tf.memory.stats().live
    for _ in range(3):
        made[0].plan(*SPECS, workers=3)
    assert tf.memory.stats().live == before
    group = tf._tidemark.imagined_group(1, 3)
    with pytest.raises(tf.errors.FailedPreconditionError, match="worker 1 of 3 is imagined"):
        group.all_reduce([tf.ones([2])])
    with pytest.raises(tf.errors.FailedPreconditionError, match="is imagined"):
        group.exchange(b"")
    with pytest.raises(tf.errors.InvalidArgumentError, match="ranks from 0 on"):
        tf._tidemark.imagined_group(3, 3)
    made[0](*rows(0, 3))  # and the function runs as it did


@pytest.mark.parametrize("count", [1, 2, 3])
def test_tensors_in_parts(count):
    shapes = [(), (0,), (5,), (300, 700), (200_003,)]
    sizes = [int(np.prod(s)) for s in shapes]
    # All on one worker, or a part on each.
    parts = [[0] * (i % count + 1) + [n] * (count - i % count) for i, n in enumerate(sizes)]
    parts[3] = [sizes[3] * rank // count for rank in range(count + 1)]
    parts[4] = [0, *(sizes[4] - 7 * (count - rank) for rank in range(1, count)), sizes[4]]

    def use(group):
        rank = group.rank
        for dtype in ("float32", "float64", "int32", "float16", "complex64"):
            rng = np.random.default_rng(5)
            given = [[rng.integers(1, 4, size=s).astype(dtype) for s in shapes]
                     for _ in range(count)]  # fmt: skip
            before = group.bytes_sent
            sums = group.reduce([tf.constant(g) for g in given[rank]], parts, of="all")
            own = [slice(p[rank], p[rank + 1]) for p in parts]
            others = [g.size - (p.stop - p.start) for g, p in zip(given[0], own, strict=True)]
            assert group.bytes_sent - before == sum(others) * np.dtype(dtype).itemsize
            for at, mine in enumerate(own):
                expected = sum(g[at] for g in given[1:]) + given[0][at]
                np.testing.assert_array_equal(sums[at].numpy(), expected.reshape(-1)[mine])
            everywhere = group.gather(sums, parts, shapes)
            for at in range(len(shapes)):
                expected = sum(g[at] for g in given[1:]) + given[0][at]
                np.testing.assert_array_equal(everywhere[at].numpy(), expected)
        with pytest.raises(tf.errors.InvalidArgumentError, match="say of each how it is"):
            group.reduce([tf.ones([2])], [])
        with pytest.raises(tf.errors.InvalidArgumentError, match="as if it had 9 elements"):
            group.reduce([tf.ones([2])], [[0] * count + [9]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="go up from 0"):
            group.reduce([tf.ones([2])], [[2] * (count + 1)])
        with pytest.raises(tf.errors.InvalidArgumentError, match="this worker's part is a vector"):
            group.gather([tf.ones([7])], [[0] * count + [2]], [[2]])
        return True

    assert workers.results(workers.in_threads(count, use)) == [True] * count


def test_sums_that_are_read_are_everywhere():
    """Whoever looks at gradients between the sum and the update gets what he asks for."""

    def use(strategy):
        def on_worker(x):
            context = tf.distribute.get_replica_context()
            first, second = context.all_reduce("SUM", [x, 2.0 * x])
            return tf.linalg.global_norm([first, second]), first[0] + second.numpy()[1]

        with strategy.scope():
            return [float(v) for v in strategy.run(on_worker, args=(tf.constant([3.0, 4.0]),))]

    for shard in SHARDS:
        assert on_workers(2, shard, use) == [[pytest.approx(500.0**0.5), 22.0]] * 2


@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="needs Keras")
def test_the_plan_in_the_documentation():
    root = Path(__file__).parents[2]
    text = (root / "docs" / "distribution.md").read_text()
    block = text.partition("$ tidemark plan ")[2].partition("```")[0]
    command, *expected = block.strip().splitlines()
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "plan", *command.split()],
        capture_output=True, text=True, cwd=root,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    told = [line.rstrip() for line in done.stdout.splitlines()]
    assert expected[-1].strip() == "…" and all(line in told for line in expected[:-1])


PROGRAM = """
import sys
sys.path.insert(0, {tests!r})
import test_worker_plans
step = test_worker_plans.training(test_worker_plans.strategy_of())[0]
"""


def test_the_command_line(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(PROGRAM.format(tests=str(workers.PROGRAMS.parent)))

    def ask(*arguments):
        return subprocess.run(
            [sys.executable, "-m", "tidemark", "plan", f"{program}:step",
             "--shapes", "8x64", "8x8", *arguments],
            capture_output=True, text=True,
        )  # fmt: skip

    told = ask("--workers", "3", "--shard", "gradients")
    assert told.returncode == 0, told.stderr
    lines = told.stdout.splitlines()
    assert "on 3 workers, gradients shared out" in lines[0] and "sends a call" in lines[1]
    assert [line.split()[0] for line in lines[2:5]] == ["0", "1", "2"]
    found = json.loads(ask("--workers", "3", "--pareto", "--json").stdout)["points"]
    assert [point["shard"] for point in found[:4]] == list(SHARDS)
    totals = [point["total"] for point in found[:4]]
    assert totals == sorted(set(totals), reverse=True)
    assert all(point["bytes_sent"] > 0 for point in found)
    assert "shared out" in ask("--workers", "3", "--pareto").stdout
    assert ask("--shard", "none").returncode == 2
