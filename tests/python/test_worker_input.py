"""Which files, and which rows, each worker reads."""

import json
from pathlib import Path

import pytest
import sharded_pipelines
from workers import on_workers, results

import tidemark as tf
from tidemark.data import _sharding

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_auto_shard.json").read_text())
Policy = tf.data.experimental.AutoShardPolicy


@pytest.mark.parametrize("name", sharded_pipelines.pipelines(tf, ["/none/0.txt"]))
def test_pipelines_are_shared_as_tensorflow_shares_them(name, tmp_path):
    make = sharded_pipelines.pipelines(tf, sharded_pipelines.files(tmp_path))[name]
    for policy, share in (("FILE", _sharding.by_files), ("HINT", _sharding.by_hint)):
        for worker in range(2):
            wanted = RECORDED[f"{name} {policy} {worker}"]
            if name == "few" and policy == "FILE":
                wanted = "InvalidArgumentError"  # on both: the other one would wait
            try:
                found = sharded_pipelines.got(share(make(), 2, worker))
            except tf.errors.OpError as error:
                found = type(error).__name__
            assert found == wanted
    if name == "hint":
        with pytest.raises(tf.errors.FailedPreconditionError, match="SHARD_HINT"):
            next(iter(make()))


def distributed(make, policy, strategy):
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = policy
    given = make().with_options(options)
    return list(strategy.experimental_distribute_dataset(given))


@pytest.mark.parametrize("count", [2, 3])
def test_who_has_fewer_rows_gets_empty_batches(count, tmp_path):
    names = sharded_pipelines.files(tmp_path)
    make = lambda: tf.data.TextLineDataset(names).batch(4)  # noqa: E731
    read = {}
    for policy in (Policy.AUTO, Policy.FILE, Policy.DATA):
        found = results(on_workers(count, None, lambda s, p=policy: distributed(make, p, s)))
        assert len({len(batches) for batches in found}) == 1
        read[policy] = [[row for b in batches for row in b.numpy()] for batches in found]
        assert sorted(sum(read[policy], [])) == sorted(r for b in make() for r in b.numpy())
    for rank in range(count):
        own = {str(file).encode() for file in range(rank, 5, count)}
        assert {row[:1] for row in read[Policy.FILE][rank]} == own
    assert read[Policy.AUTO] == read[Policy.FILE] != read[Policy.DATA]


def test_batches_of_one_step_have_as_many_rows_as_one_of_all(tmp_path):
    names = sharded_pipelines.files(tmp_path)
    make = lambda: tf.data.TextLineDataset(names[:4]).batch(3)  # noqa: E731
    first, second = results(on_workers(2, None, lambda s: distributed(make, Policy.FILE, s)))
    assert [len(b) for b in first] == [2, 1, 2, 1] and [len(b) for b in second] == [1, 2, 1, 2]
    assert [row for b in first for row in b.numpy()] == [b"00", b"01", b"02", b"20", b"21", b"22"]


def test_what_does_not_read_files_is_shared_by_rows_or_refused():
    make = lambda: tf.data.Dataset.range(6).batch(4)  # noqa: E731
    first, second = results(on_workers(2, None, lambda s: distributed(make, Policy.AUTO, s)))
    assert [b.numpy().tolist() for b in first] == [[0, 1], [4]]
    assert [b.numpy().tolist() for b in second] == [[2, 3], [5]]

    def refused(strategy):
        with pytest.raises(tf.errors.NotFoundError, match="unshardable"):
            distributed(make, Policy.FILE, strategy)
        return True

    assert on_workers(2, None, refused) == [True, True]
