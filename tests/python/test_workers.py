"""Several workers: collectives, strategies, faults, strangers."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import worker_programs
import workers

import tidemark as tf

ROOT = Path(__file__).parents[2]
REDUCTIONS = {"sum": np.add, "product": np.multiply, "min": np.minimum, "max": np.maximum}


def parts(count, shape, dtype):
    rng = np.random.default_rng(len(shape) + count)
    return [rng.integers(1, 4, size=shape).astype(dtype) for _ in range(count)]


@pytest.mark.parametrize("count", [1, 2, 3])
def test_collectives(count):
    shapes = [(), (0,), (5,), (3, 7), (9000,), (200_003,)]

    def use(group):
        rank = group.rank
        for dtype in ("float32", "float64", "int32", "int64", "uint8", "complex64", "float16"):
            given = [parts(count, shape, dtype) for shape in shapes]
            for name, by in REDUCTIONS.items():
                if dtype == "complex64" and name in ("min", "max"):
                    continue
                found = group.all_reduce([tf.constant(g[rank]) for g in given], name)
                for one, all_given in zip(found, given, strict=True):
                    expected = all_given[0]
                    for more in all_given[1:]:
                        expected = by(expected, more)
                    np.testing.assert_array_equal(one.numpy(), expected)
        wide = tf.cast(tf.constant([1.5, rank]), tf.bfloat16)
        assert tf.cast(group.all_reduce([wide])[0], tf.float32).numpy()[0] == 1.5 * count
        strange = group.all_reduce([tf.constant([np.nan, np.inf, -np.inf])])[0].numpy()
        np.testing.assert_array_equal(strange, [np.nan, np.inf, -np.inf])

        rows = np.arange(count * 2 * 3, dtype=np.float32).reshape(count * 2, 3)
        mine = group.reduce_scatter([tf.constant(rows + rank)]).numpy()
        total = rows * count + sum(range(count))
        np.testing.assert_array_equal(mine, total[2 * rank : 2 * rank + 2])
        whole = group.all_gather([tf.constant(rows[2 * rank : 2 * rank + 2])])
        np.testing.assert_array_equal(whole, rows)
        for root in range(count):
            assert group.broadcast([tf.constant([rank, 7])], root).numpy().tolist() == [root, 7]
        sent = tf.constant([[10 * rank + to] for to in range(count)])
        assert group.all_to_all([sent]).numpy()[:, 0].tolist() == [
            10 * source + rank for source in range(count)
        ]
        group.barrier()
        assert group.exchange(b"%d" % rank) == [b"%d" % r for r in range(count)]
        return True

    assert workers.results(workers.in_threads(count, use)) == [True] * count


def test_sums_have_the_order_of_the_ranks():
    rng = np.random.default_rng(3)
    given = [rng.normal(size=100_000).astype(np.float32) * 10.0**r for r in range(3)]
    expected = (given[0] + given[1]) + given[2]

    def use(group):
        (found,) = group.all_reduce([tf.constant(given[group.rank])])
        return found.numpy()

    for found in workers.results(workers.in_threads(3, use)):
        np.testing.assert_array_equal(found, expected)


def test_gradients_now_and_in_functions():
    def use(group):
        rank, x = group.rank, tf.constant([[1.0], [2.0], [3.0], [4.0]])

        def square_of(collective):
            def gradient():
                with tf.GradientTape() as tape:
                    tape.watch(x)
                    y = collective(x * (rank + 1.0))
                    loss = tf.reduce_sum(y * y)
                return tape.gradient(loss, x)

            now = gradient().numpy()
            np.testing.assert_allclose(tf.function(gradient)().numpy(), now)
            return now[:, 0].tolist()

        return [
            square_of(lambda v: group.all_reduce([v])[0]),
            square_of(lambda v: group.reduce_scatter([v])),
            square_of(lambda v: group.all_gather([v])),
            square_of(lambda v: group.broadcast([v], 1)),
            square_of(lambda v: group.all_to_all([v])),
        ]

    first, second = workers.results(workers.in_threads(2, use))
    # Both workers' losses count: the sum of x and 2x is 3x, of which each takes its share.
    assert first[0] == [12.0, 24.0, 36.0, 48.0] and second[0] == [24.0, 48.0, 72.0, 96.0]
    assert first[1] == [6.0, 12.0, 18.0, 24.0] and second[1] == [12.0, 24.0, 36.0, 48.0]
    assert first[2] == [4.0, 8.0, 12.0, 16.0] and second[2] == [16.0, 32.0, 48.0, 64.0]
    assert first[3] == [0.0] * 4 and second[3] == [16.0, 32.0, 48.0, 64.0]
    assert first[4] == [2.0, 4.0, 6.0, 8.0] and second[4] == [8.0, 16.0, 24.0, 32.0]


def test_a_reduction_without_a_gradient_says_so():
    def use(group):
        x = tf.constant([1.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            (y,) = group.all_reduce([x], "max")
        with pytest.raises(tf.errors.UnimplementedError, match="by max has no gradient"):
            tape.gradient(y, x)
        with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be parted among 2"):
            group.reduce_scatter([tf.ones([3])])
        with pytest.raises(tf.errors.InvalidArgumentError, match="strings"):
            group.all_reduce([tf.constant(["a"])])
        with pytest.raises(tf.errors.InvalidArgumentError, match="workers 0 to 1"):
            group.broadcast([x], 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="sum, product, min and max"):
            group.all_reduce([x], "mean")
        return True

    assert workers.results(workers.in_threads(2, use)) == [True, True]


def test_plans_count_what_collectives_need():
    def use(group):
        @tf.function
        def step(x):
            (total,) = group.all_reduce([x * 2.0])
            return total + 1.0

        x = tf.ones([100_000])
        for _ in range(3):
            assert float(step(x)[0]) == 5.0
        plan = step.plan(x)
        assert plan.peak == group.scratch_bytes + x.numpy().nbytes
        before = tf.memory.stats().live
        for _ in range(30):
            step(x)
        return tf.memory.stats().live - before

    workers.results(workers.in_threads(2, use))


def test_collectives_stay_flat():
    def use(group):
        x = tf.ones([20_000])
        live = []
        for _ in range(300):
            group.all_reduce([x])
            live.append(tf.memory.stats().live)
        return max(live[200:]) - max(live[50:150])

    assert max(workers.results(workers.in_threads(2, use))) <= 2 << 20


# --- what goes wrong -----------------------------------------------------------------------------


def test_different_calls_are_told_apart():
    def use(group):
        with pytest.raises(tf.errors.UnavailableError) as caught:
            if group.rank:
                group.barrier()
            else:
                group.all_reduce([tf.ones([4])])
        with pytest.raises(tf.errors.UnavailableError, match="different things"):
            group.barrier()  # the group is dead
        return caught.value.message

    for text in workers.results(workers.in_threads(2, use)):
        assert "collective 1, all_reduce by sum of 4 float32" in text
        assert "worker 1 is in collective 1, barrier" in text


def test_those_who_do_not_come_are_named():
    began = time.monotonic()
    found = workers.addresses(3)
    with pytest.raises(tf.errors.UnavailableError) as caught:
        workers.join(0, found, join_seconds=0.5)
    assert time.monotonic() - began < 5
    for missing in (1, 2):
        assert f"worker {missing} ({found[missing]})" in caught.value.message
    with pytest.raises(tf.errors.UnavailableError, match="no connection to worker 0"):
        workers.join(1, found, join_seconds=0.3)


def test_another_secret_is_turned_away():
    found = workers.addresses(2)
    pool = workers.concurrent.futures.ThreadPoolExecutor(2)
    first = pool.submit(workers.join, 0, found, join_seconds=3.0)
    with pytest.raises(tf.errors.UnavailableError, match="TIDEMARK_SECRET"):
        workers.join(1, found, secret="some other long secret", join_seconds=1.0)
    other = pool.submit(workers.join, 1, found)
    assert [first.result().rank, other.result().rank] == [0, 1]


def test_strangers_stop_nobody():
    found = workers.addresses(2)
    host, port = found[0].split(":")
    pool = workers.concurrent.futures.ThreadPoolExecutor(2)
    first = pool.submit(workers.join, 0, found)
    held, heard = [], b""
    deadline = time.monotonic() + 10
    while not held and time.monotonic() < deadline:
        try:
            held.append(socket.create_connection((host, int(port)), timeout=1))
        except OSError:
            time.sleep(0.02)
    # More silent connections than are kept, noise, a greeting with garbage behind it.
    held += [socket.create_connection((host, int(port)), timeout=1) for _ in range(80)]
    noise = os.urandom(100_000)
    for text in (noise, b"GET / HTTP/1.1\r\n\r\n", b"tidemark-comm-1\n" + noise):
        try:
            held[-1].sendall(text)
            heard += held[-1].recv(4096)
        except OSError:
            pass
        held.append(socket.create_connection((host, int(port)), timeout=1))
    other = pool.submit(workers.join, 1, found)
    groups = [first.result(), other.result()]
    sums = [pool.submit(g.all_reduce, [tf.ones([3])]) for g in groups]
    assert [s.result()[0].numpy().tolist() for s in sums] == [[2.0] * 3] * 2
    assert workers.SECRET.encode() not in heard and len(heard) <= 4096
    for one in held:
        one.close()


def test_wrong_clusters():
    for workers_, rank in ((["a:1", "b:1"], 2), ([], 0), (["nonsense", "b:1"], 0)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            workers.join(rank, workers_, join_seconds=0.2)


@pytest.mark.parametrize(("how", "who"), [("kill", 0), ("stop", 1), ("raise", 1), ("sleep", 0)])
def test_faults_are_told_to_all(how, who):
    limits = {"TIDEMARK_SILENCE_SECONDS": "1", "TIDEMARK_COLLECTIVE_SECONDS": "2"}
    started = workers.start(3, "fault", how, who, **limits)
    others = [p for rank, p in enumerate(started) if rank != who]
    try:
        for status, (text, seconds), errors in workers.finish(others, timeout=30):
            assert status == 0, errors
            assert f"worker {who} (127.0.0.1" in text, text
            assert {"raise": "row 7 is bad", "sleep": "longer than 2"}.get(how, "is lost") in text
            assert seconds < 10
    finally:
        started[who].kill()
        started[who].communicate()


# --- strategies ----------------------------------------------------------------------------------


def custom_loop(strategy, batch=28):
    """A loop of the user's own: losses by step, and the weights at the end."""
    with strategy.scope():
        w = tf.Variable(tf.random.stateless_normal([4, 3], seed=[strategy._rank, 1]))
        v = tf.Variable(tf.ones([3, 1]))

    def step(x, y):
        with tf.GradientTape() as tape:
            each = tf.square(tf.tanh(x @ w) @ v - y)
            loss = tf.nn.compute_average_loss(each[:, 0], global_batch_size=batch)
        gradients = tape.gradient(loss, [w, v])
        context = tf.distribute.get_replica_context()
        for variable, g in zip([w, v], context.all_reduce("SUM", gradients), strict=True):
            variable.assign_sub(0.05 * g)
        return loss

    @tf.function
    def train(x, y):
        return strategy.reduce("SUM", strategy.run(step, args=(x, y)), axis=None)

    x, y = worker_programs.data()
    rows = tf.data.Dataset.from_tensor_slices((x, y)).batch(batch).repeat(5)
    losses = [float(train(*b)) for b in strategy.experimental_distribute_dataset(rows)]
    return losses, w.numpy().tolist(), v.numpy().tolist()


def assert_alike(mine, theirs):
    """To 1e-6 of the largest: N workers add up in another order than one does."""
    mine, theirs = np.asarray(mine), np.asarray(theirs)
    assert np.abs(mine - theirs).max() <= 1e-6 * np.abs(theirs).max()


def strategies(count, function):
    """What ``function(strategy)`` gives on each of the workers, in threads."""
    spec = tf.train.ClusterSpec({"worker": workers.addresses(count)})

    def run(rank):
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
            spec, task_type="worker", task_id=rank
        )
        return function(tf.distribute.MultiWorkerMirroredStrategy(resolver))

    with workers.concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def test_custom_loops_of_1_2_4_and_7_workers_are_alike():
    (alone,) = strategies(1, custom_loop)
    assert alone[0][-1] < alone[0][0]
    for count in (2, 4, 7):
        found = strategies(count, custom_loop)
        assert all(one == found[0] for one in found)
        for mine, theirs in zip(found[0], alone, strict=True):
            assert_alike(mine, theirs)


def test_variables_of_each_worker_change_in_functions():
    """As Keras 2's metrics do it, which also give arguments that variables of graphs have."""

    def use(strategy):
        with strategy.scope():
            total = tf.Variable(
                0.0, synchronization=tf.VariableSynchronization.ON_READ,
                aggregation=tf.VariableAggregation.SUM, collections=["metrics"],
            )  # fmt: skip

        @tf.function
        def count(x):
            def add():
                total.assign_add(x)
                total.assign_sub(1.0)

            strategy.run(add)

        for _ in range(3):
            count(3.0 + strategy._rank)
        return float(total.read_value())

    assert strategies(2, use) == [15.0, 15.0]


def test_keras_trains_on_workers_as_on_one(tmp_path):
    (alone,) = workers.run(1, "keras_fit")
    first, second = workers.run(2, "keras_fit", tmp_path / "whole")
    assert first == second
    for name in ("loss", "mae", "evaluated"):
        assert_alike(first[name], alone[name])
    assert first["predicted"][0] == alone["predicted"][0] == [56, 1]
    for mine, theirs in zip(first["weights"], alone["weights"], strict=True):
        assert_alike(mine, theirs)
    assert first["kept"] == 86
    for shard in ("optimizer", "gradients", "parameters"):
        halves = workers.run(2, "keras_fit", "", -1, shard)
        for name in ("loss", "weights", "momentum", "evaluated"):
            assert halves[0][name] == halves[1][name] == first[name], shard
        assert [half["kept"] for half in halves] == [48, 38]
    # Variables that are large enough to be taken apart.
    (wide, _) = workers.run(2, "keras_fit", "", -1, "", 1500)
    for shard in ("optimizer", "gradients", "parameters"):
        for half in workers.run(2, "keras_fit", "", -1, shard, 1500):
            for name in ("loss", "weights", "momentum", "evaluated", "predicted"):
                assert half[name] == wide[name], shard
    # Killed in the third epoch, and started again: the same bits.
    broken = workers.finish(workers.start(2, "keras_fit", tmp_path / "broken", 5))
    assert broken[1][0] == -signal.SIGKILL and "worker 1" in broken[0][2]
    resumed, _ = workers.run(2, "keras_fit", tmp_path / "broken")
    assert resumed["weights"] == first["weights"] and resumed["loss"] == first["loss"][2:]


# --- who there is --------------------------------------------------------------------------------


def test_resolvers(monkeypatch):
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    monkeypatch.delenv("TF_CONFIG", raising=False)
    assert not resolver.cluster_spec() and resolver.task_type is None
    assert tf.distribute.MultiWorkerMirroredStrategy().num_replicas_in_sync == 1
    config = '{"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "task": %s}'
    monkeypatch.setenv("TF_CONFIG", config % '{"type": "worker", "index": "1"}')
    assert (resolver.task_type, resolver.task_id) == ("worker", 1)
    assert resolver.master() == "c:1"
    from tidemark.distribute._cluster import training_group

    assert training_group(resolver) == (["a:1", "b:1", "c:1"], 2)
    for task in ('{"type": "worker", "index": 2}', '{"type": "boss", "index": 0}', "{}"):
        monkeypatch.setenv("TF_CONFIG", config % task)
        with pytest.raises(ValueError):
            tf.distribute.MultiWorkerMirroredStrategy()
    for text in ("{", "[]", '{"sparseCluster": {}}'):
        monkeypatch.setenv("TF_CONFIG", text)
        with pytest.raises(ValueError, match="TF_CONFIG"):
            tf.distribute.MultiWorkerMirroredStrategy()
    spec = tf.train.ClusterSpec({"worker": {1: "b:1"}})
    assert spec.as_dict() == {"worker": {1: "b:1"}} and spec.job_tasks("worker") == [None, "b:1"]


def test_slurm(monkeypatch, tmp_path):
    scontrol = tmp_path / "scontrol"
    scontrol.write_text("#!/bin/sh\necho n1\necho n2\n")
    scontrol.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    for name, value in {"SLURM_PROCID": 2, "SLURM_NTASKS": 4, "SLURM_NODELIST": "n[1-2]"}.items():
        monkeypatch.setenv(name, str(value))
    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver()
    assert resolver.cluster_spec().as_dict() == {"worker": ["n1:8888", "n1:8889", "n2:8888",
                                                            "n2:8889"]}  # fmt: skip
    assert (resolver.task_type, resolver.task_id) == ("worker", 2)


def launch(*arguments, **environment):
    return subprocess.run(
        [sys.executable, "-m", "tidemark", "launch", *arguments],
        capture_output=True, text=True, timeout=60,
        env={**workers.UNLIMITED, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )  # fmt: skip


def test_the_page_shows_the_example_and_what_it_prints():
    example = ROOT / "examples" / "distribute" / "workers.py"
    page = (ROOT / "docs" / "distribution.md").read_text()
    assert f"```python\n{example.read_text()}```" in page
    done = launch("-n", "2", str(example))
    assert done.returncode == 0, done.stderr
    shown = re.findall(r"^\[\d\] worker .*$", page, re.MULTILINE)
    without_losses = [re.sub(r"[0-9.]+ -> [0-9.]+", "", line) for line in shown]
    printed = [re.sub(r"[0-9.]+ -> [0-9.]+", "", line) for line in sorted(done.stdout.splitlines())]
    assert printed == without_losses and len(set(re.findall("loss .*", done.stdout))) == 1


def test_launch(tmp_path):
    program = tmp_path / "train.py"
    program.write_text(
        "import sys, tensorflow as tf\n"
        "s = tf.distribute.MultiWorkerMirroredStrategy()\n"
        "print('sum', float(s.reduce('SUM', tf.constant(1.0 + s._rank), axis=None)), sys.argv[1])\n"
        "if s._rank == 1 and sys.argv[1] == 'fail': sys.exit(7)\n"
    )
    failed = launch("-n", "2", str(program), "fail")
    assert failed.returncode == 7 and "worker 1 ended with status 7" in failed.stderr
    assert sorted(failed.stdout.splitlines()) == ["[0] sum 3.0 fail", "[1] sum 3.0 fail"]
    assert launch("-n", "0", str(program)).returncode == 2

    ssh = tmp_path / "ssh"  # runs here what it is asked to run there
    ssh.write_text('#!/bin/sh\nshift 2\necho "$1" >&2\nshift\nexec sh -c "$*"\n')
    ssh.chmod(0o755)
    path = f"{tmp_path}:{os.environ['PATH']}"
    port = workers.addresses(1)[0].rpartition(":")[2]
    there = launch("--hosts", "localhost:2", "--port", port, str(program), "far", PATH=path)
    assert there.returncode == 0, there.stderr
    assert sorted(there.stdout.splitlines()) == ["[0] sum 3.0 far", "[1] sum 3.0 far"]
    assert "tidemark launch: ssh -o BatchMode=yes localhost" in there.stderr
