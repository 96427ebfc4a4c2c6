"""Iterators are saved with all they keep, and what they keep goes with them."""

import gc
import random
import time

import numpy as np
import pytest

import tidemark as tf

Dataset = tf.data.Dataset


def texts(folder):
    for name, count in (("a", 7), ("b", 0), ("c", 5)):
        (folder / name).write_text("".join(f"{name}{i}\r\n" for i in range(count)) + "end")
        with tf.io.TFRecordWriter(str(folder / (name + ".records"))) as writer:
            for i in range(count):
                writer.write(name * i)
    return [str(folder / name) for name in "abc"]


PIPELINES = {
    "range": lambda f: Dataset.range(12),
    "slices": lambda f: Dataset.from_tensor_slices((np.arange(12), np.arange(24).reshape(12, 2))),
    "shuffle": lambda f: Dataset.range(20).shuffle(7),
    "epochs": lambda f: Dataset.range(5).shuffle(4).repeat(3),
    "endless": lambda f: Dataset.range(3).shuffle(2, seed=3).repeat().take(14),
    "same order": lambda f: Dataset.range(6).shuffle(6, reshuffle_each_iteration=False).repeat(2),
    "map": lambda f: Dataset.range(12).map(lambda x: x * x),
    "parallel map": lambda f: Dataset.range(12).map(lambda x: x * x, num_parallel_calls=3),
    "filter": lambda f: Dataset.range(20).filter(lambda x: x % 3 != 0).take_while(lambda x: x < 16),
    "batch": lambda f: Dataset.range(20).map(lambda x: x).batch(3).unbatch().batch(4),
    "padded": lambda f: Dataset.range(9).map(lambda n: tf.fill([n], n)).padded_batch(2),
    "strings": lambda f: Dataset.range(12).map(tf.strings.as_string).shuffle(5).prefetch(3),
    "prefetch": lambda f: Dataset.range(12).prefetch(4),
    "skip, shard": lambda f: Dataset.range(40).skip(3).shard(3, 1),
    "cache": lambda f: Dataset.range(4).shuffle(4).cache().repeat(3),
    "zip": lambda f: Dataset.zip(Dataset.range(9), Dataset.range(9).shuffle(4)),
    "concatenate": lambda f: Dataset.range(5).concatenate(Dataset.range(7, 12)),
    "enumerate": lambda f: Dataset.range(9).shuffle(9).enumerate(),
    "flat_map": lambda f: Dataset.range(5).flat_map(lambda n: Dataset.range(n).shuffle(3, seed=1)),
    "interleave": lambda f: Dataset.range(6).interleave(Dataset.range, cycle_length=3),
    "parallel interleave": lambda f: Dataset.range(6).interleave(
        Dataset.range, cycle_length=3, block_length=2, num_parallel_calls=2
    ),
    "scan": lambda f: Dataset.range(9).scan(np.int64(0), lambda s, x: (s + x, s)),
    "window": lambda f: Dataset.range(12).window(3, 1).flat_map(lambda w: w.batch(3)),
    "windows": lambda f: Dataset.range(12).window(2).shuffle(4).flat_map(lambda w: w),
    "unique": lambda f: Dataset.range(20).map(lambda x: x * x % 11).unique(),
    "groups": lambda f: Dataset.range(20).group_by_window(lambda x: x % 3, lambda k, g: g, 3),
    "sample": lambda f: Dataset.sample_from_datasets([Dataset.range(9), Dataset.range(20, 26)]),
    "choose": lambda f: Dataset.choose_from_datasets(
        [Dataset.range(9), Dataset.range(20, 26)], Dataset.range(2).repeat()
    ),
    "random": lambda f: Dataset.random(seed=3).take(9),
    "generator": lambda f: Dataset.from_generator(
        lambda: iter(range(9)), output_signature=tf.TensorSpec([], tf.int32)
    ),
    "lines": lambda f: tf.data.TextLineDataset(texts(f)),
    "records": lambda f: tf.data.TFRecordDataset([n + ".records" for n in texts(f)]).shuffle(3),
    "fixed": lambda f: tf.data.FixedLengthRecordDataset(texts(f)[:1], 1, 1, 2),
    "counted": lambda f: Dataset.range(9).apply(tf.data.experimental.assert_cardinality(9)),
    "errors": lambda f: Dataset.range(9).ignore_errors(),
}


def plain(element):
    return tf.nest.map_structure(lambda t: np.asarray(t.numpy()).tolist(), element)


def rest_of(iterator):
    return [plain(element) for element in iterator]


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("taken", [0, 1, 4, 100])
def test_iterators_go_on_where_they_were_saved(name, taken, tmp_path):
    iterator = iter(PIPELINES[name](tmp_path))
    for _, element in zip(range(taken), iterator, strict=False):
        del element
    state = iterator.save()
    other = iter(PIPELINES[name](tmp_path))
    other.restore(state)
    expected = rest_of(iterator)
    assert rest_of(other) == expected
    assert rest_of(iterator) == rest_of(other) == []
    other.restore(state)  # as often as one likes
    assert rest_of(other) == expected


def test_a_checkpoint_has_the_place_in_the_epoch_and_the_shuffle_buffer(tmp_path):
    def pipeline():
        return Dataset.range(50).shuffle(20).batch(4).repeat(2).prefetch(2)

    iterator, step = iter(pipeline()), tf.Variable(0)
    for _ in range(5):
        next(iterator)
        step.assign_add(1)
    path = tf.train.Checkpoint(iterator=iterator, step=step).save(str(tmp_path / "saved"))
    expected = rest_of(iterator)
    iterator, step = iter(pipeline()), tf.Variable(0)
    status = tf.train.Checkpoint(iterator=iterator, step=step).restore(path)
    status.assert_consumed()
    assert rest_of(iterator) == expected and step.numpy() == 5


@pytest.mark.parametrize(
    "name", ["epochs", "parallel map", "prefetch", "groups", "strings", "cache"]
)
def test_damaged_states_are_refused(name, tmp_path):
    iterator = iter(PIPELINES[name](tmp_path))
    next(iterator)
    state, draws = iterator.save(), random.Random(3)
    for _ in range(60):
        broken = bytearray(state)
        if draws.random() < 0.5:
            del broken[draws.randrange(len(broken)) :]
        else:
            broken[draws.randrange(len(broken))] = draws.randrange(256)
        other = iter(PIPELINES[name](tmp_path))
        try:
            other.restore(bytes(broken))
        except (tf.errors.DataLossError, tf.errors.InvalidArgumentError):
            continue
        for _, _ in zip(range(60), other, strict=False):
            pass  # a number that another could be: it is some place in the pipeline
    with pytest.raises(tf.errors.DataLossError, match="another pipeline"):
        iter(Dataset.range(3).batch(2)).restore(state)


def test_elements_that_are_datasets_cannot_be_saved():
    iterator = iter(Dataset.range(9).map(Dataset.range).shuffle(3))
    next(iterator)
    with pytest.raises(tf.errors.FailedPreconditionError, match="flat_map"):
        iterator.save()


HOLDERS = ("dataset", "dataset shuffle buffer", "dataset prefetch buffer", "dataset cache")


def held():
    return {g[2]: g[3] for g in tf._tidemark.live_groups() if g[2] in HOLDERS}


@pytest.mark.parametrize(
    ("pipeline", "holder", "count"),
    [
        (lambda d: d.shuffle(100), "dataset shuffle buffer", 99),
        (lambda d: d.prefetch(10), "dataset prefetch buffer", 10),
        (lambda d: d.map(lambda x: x + 1, num_parallel_calls=2), "dataset", 4),
        (lambda d: d.window(40, 1).map(lambda w: w.cardinality()), "dataset", 39),
        (lambda d: d.group_by_window(lambda x: tf.cast(x[0], tf.int64) % 60, lambda k, g: g, 2),
         "dataset", 60),
    ],
)  # fmt: skip
def test_buffers_are_bounded_counted_and_go_with_the_iterator(pipeline, holder, count):
    gc.collect()
    assert held() == {}
    dataset = pipeline(Dataset.range(1000).map(lambda i: tf.fill([1000], tf.cast(i, tf.float32))))
    iterator = iter(dataset)
    for _ in range(3):
        next(iterator)
    for _ in range(200):  # threads fill their buffers in their own time
        if held().get(holder, 0) >= count * 4000:
            break
        time.sleep(0.01)
    assert count * 4000 <= held()[holder] <= (count + 2) * 4608
    (buffer,) = [b for b in tf._tidemark.dataset_buffers() if b[0] == holder][:1]
    assert "test_data_state.py:" in buffer[1] and buffer[3] <= (count + 2) * 4608
    del iterator
    gc.collect()
    assert held() == {} and tf._tidemark.dataset_buffers() == []


def test_saved_datasets_and_caches_in_files(tmp_path):
    computed = []

    def counting(x):
        computed.append(1)
        return x

    source = Dataset.range(5).map(lambda x: tf.py_function(counting, [x], tf.int64))
    cached = source.cache(str(tmp_path / "cache"))
    assert [int(x) for x in cached] == [int(x) for x in cached] == list(range(5))
    again = source.cache(str(tmp_path / "cache"))
    assert [int(x) for x in again] == list(range(5)) and len(computed) == 5
    half = source.cache(str(tmp_path / "half"))
    next(iter(half))
    gc.collect()
    assert not list(tmp_path.glob("half*"))  # a pass that was not finished leaves nothing
    shot = Dataset.range(3).snapshot(str(tmp_path / "snapshots"))
    assert [int(x) for x in shot] == [int(x) for x in shot] == [0, 1, 2]

    element = {"a": tf.constant([1, 2]), "b": (tf.ragged.constant([[1], []]), tf.constant("x"))}
    saved = Dataset.from_tensors(element).repeat(3)
    saved.save(str(tmp_path / "saved"))
    loaded = Dataset.load(str(tmp_path / "saved"))
    assert loaded.element_spec == saved.element_spec and len(loaded) == 3
    first = next(iter(loaded))
    assert first["b"][0].to_list() == [[1], []] and first["b"][1].numpy() == b"x"
    halves = Dataset.load(
        str(tmp_path / "saved"), reader_func=lambda parts: parts.flat_map(lambda d: d.take(1))
    )
    assert len(list(halves)) == 1
    with pytest.raises(tf.errors.NotFoundError):
        Dataset.load(str(tmp_path / "nothing"))
    (tmp_path / "saved" / "element_spec.json").write_text('{"elements": 3, "spec": {"x": 1}}')
    with pytest.raises(tf.errors.DataLossError):
        Dataset.load(str(tmp_path / "saved"))


def test_damaged_cache_files_end_in_data_loss(tmp_path):
    path = tmp_path / "cache"
    dataset = Dataset.range(9).map(lambda n: tf.fill([n], n)).cache(str(path))
    list(dataset)
    whole, draws = path.read_bytes(), random.Random(5)
    for _ in range(60):
        broken = bytearray(whole)
        broken[draws.randrange(len(broken))] ^= 1 << draws.randrange(8)
        path.write_bytes(broken)
        with pytest.raises(tf.errors.DataLossError):
            list(dataset)


def test_errors_leave_the_rest_within_reach():
    bad = Dataset.range(6).map(lambda x: 6 // (x - 2))
    for pipeline in (bad, bad.prefetch(2), Dataset.range(6).map(lambda x: 6 // (x - 2), 3)):
        iterator, seen = iter(pipeline), []
        while True:
            try:
                seen.append(int(next(iterator)))
            except tf.errors.InvalidArgumentError:
                seen.append("error")
            except StopIteration:
                break
        assert seen == [-3, -6, "error", 6, 3, 2]


def test_saving_often_stays_flat():
    iterator = iter(Dataset.range(10**9).map(lambda x: tf.fill([100], x)).shuffle(50).prefetch(2))
    other = iter(Dataset.range(10**9).map(lambda x: tf.fill([100], x)).shuffle(50).prefetch(2))
    live = []
    for _ in range(300):
        next(iterator)
        other.restore(iterator.save())
        next(other)
        live.append(tf.memory.stats().live)
    assert max(live[200:]) <= max(live[50:100]) + (64 << 10)
