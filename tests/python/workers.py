"""Groups of workers for tests: threads of this process, or processes of their own."""

import concurrent.futures
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

from environments import UNLIMITED

import tidemark as tf
from tidemark import _tidemark

SECRET = "sixteen characters or more"
PROGRAMS = Path(__file__).with_name("worker_programs.py")


def addresses(count):
    held = [socket.socket() for _ in range(count)]
    for one in held:
        one.bind(("127.0.0.1", 0))
    found = [f"127.0.0.1:{one.getsockname()[1]}" for one in held]
    for one in held:
        one.close()
    return found


def join(rank, workers, secret=SECRET, join_seconds=10.0, silence=10.0, limit=20.0):
    return _tidemark.join_group(rank, workers, secret, join_seconds, silence, limit)


def in_threads(count, function, **options):
    """What ``function(group)`` gives on each of the workers; an exception where it raised one."""
    workers = addresses(count)

    def run(rank):
        try:
            group = join(rank, workers, **options)
            found = function(group)
            group.leave(5.0)
            return found
        except Exception as error:
            return error

    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        return list(pool.map(run, range(count)))


def results(found):
    for one in found:
        if isinstance(one, Exception):
            raise one
    return found


def strategy_of(shard=None, rank=0, workers=None, bytes_per_pack=100_000):
    """Of one of these workers, or of a process on its own. It reduces few bytes at once."""
    options = tf.distribute.experimental.CommunicationOptions(bytes_per_pack)
    resolver = None
    if workers:
        resolver = tf.distribute.cluster_resolver.SimpleClusterResolver(
            tf.train.ClusterSpec({"worker": workers}), task_type="worker", task_id=rank
        )
    return tf.distribute.MultiWorkerMirroredStrategy(resolver, options, shard=shard)


SHARDS = (None, "optimizer", "gradients", "parameters")  # what may be shared out


def weights_and_kept(strategy, widths, seed):
    """Weights of layers of these widths, and what is kept about each of them."""
    weights, kept = [], []
    with strategy.scope():
        for at, shape in enumerate(zip(widths, widths[1:], strict=False)):
            initial = tf.random.stateless_normal(shape, seed=[seed, at]) * shape[0] ** -0.5
            weights.append(tf.Variable(initial))
            with strategy.extended.colocate_vars_with(weights[-1]):
                kept.append(tf.Variable(tf.zeros(shape), trainable=False))
    return weights, kept


def on_workers(count, shard, use, **options):
    """What ``use(strategy)`` gives on each of the workers, in threads."""
    there = addresses(count)
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        found = [
            pool.submit(lambda r: use(strategy_of(shard, r, there, **options)), rank)
            for rank in range(count)
        ]
        return [one.result() for one in found]


def start(count, name, *arguments, **environment):
    """The program of worker_programs.py on that many processes."""
    workers = addresses(count)
    started = []
    for rank in range(count):
        config = {"cluster": {"worker": workers}, "task": {"type": "worker", "index": rank}}
        started.append(
            subprocess.Popen(
                [sys.executable, str(PROGRAMS), name, *map(str, arguments)],
                env={
                    **UNLIMITED,
                    "TF_CONFIG": json.dumps(config),
                    "TIDEMARK_SECRET": SECRET,
                    "TIDEMARK_JOIN_SECONDS": "30",
                    "TIDEMARK_NUM_THREADS": "1",
                    "PYTHONPATH": os.pathsep.join(sys.path),
                    **environment,
                },
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
        )
    return started


def finish(started, timeout=60):
    """(exit status, what it printed last as JSON, standard error) of each."""
    out = []
    try:
        for process in started:
            text, errors = process.communicate(timeout=timeout)
            lines = text.strip().splitlines()
            out.append((process.returncode, json.loads(lines[-1]) if lines else None, errors))
    finally:
        for process in started:
            process.kill()
            process.communicate()
    return out


def run(count, name, *arguments, **environment):
    """What each worker printed last; fails where one failed."""
    found = finish(start(count, name, *arguments, **environment))
    for status, _, errors in found:
        assert status == 0, errors[-2000:]
    return [value for _, value, _ in found]
