"""tf.data: pipelines against plain Python."""

import gc
import itertools
import threading

import numpy as np
import pytest

import tidemark as tf

Dataset = tf.data.Dataset


def plain(value):
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value


def values(dataset):
    return [tf.nest.map_structure(plain, e) for e in dataset.as_numpy_iterator()]


def test_slices_share_the_array():
    x = np.arange(1 << 20, dtype=np.float32).reshape(1024, 1024)
    live = tf.memory.stats().live
    dataset = Dataset.from_tensor_slices(x).batch(64)
    count = sum(1 for batch in dataset)
    assert count == len(dataset) == 16
    assert tf.memory.stats().live - live < 64 << 10


@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 3, 10, 11])
def test_batches(size, drop):
    dataset = Dataset.range(10).map(lambda v: v + 1).batch(size, drop_remainder=drop)
    rows = list(range(1, 11))
    want = [rows[i : i + size] for i in range(0, 10, size)]
    want = [w for w in want if len(w) == size or not drop]
    assert values(dataset) == want and len(dataset) == len(want)
    assert dataset.element_spec.shape.as_list() == [size if drop else None]
    assert values(dataset.unbatch()) == [v for w in want for v in w]


def test_choosing_elements():
    numbers = Dataset.range(10)
    assert values(numbers.filter(lambda v: v % 3 == 0)) == [0, 3, 6, 9]
    assert values(numbers.take(3)) == [0, 1, 2] and values(numbers.skip(8)) == [8, 9]
    assert values(numbers.take(2).repeat(3)) == [0, 1] * 3
    assert values(numbers.shard(4, 1)) == [1, 5, 9]
    assert values(numbers.take_while(lambda v: v < 4)) == [0, 1, 2, 3]
    assert values(numbers.concatenate(Dataset.range(2))) == [*range(10), 0, 1]
    assert values(Dataset.zip(numbers, numbers.skip(5)))[:2] == [(0, 5), (1, 6)]
    assert values(numbers.enumerate(start=3).take(1)) == [(3, 0)]


def test_interleaving():
    made = Dataset.range(6).interleave(
        lambda i: Dataset.from_tensors(i).repeat(3), cycle_length=2, block_length=2
    )
    assert values(made) == [0, 0, 1, 1, 0, 1, 2, 2, 3, 3, 2, 3, 4, 4, 5, 5, 4, 5]
    assert values(Dataset.range(4).flat_map(Dataset.range)) == [0, 0, 1, 0, 1, 2]


def test_shuffling():
    numbers = Dataset.range(100).shuffle(30, seed=3)
    first, second = values(numbers), values(numbers)
    assert sorted(first) == sorted(second) == list(range(100)) and first != second
    assert all(v <= at + 30 for at, v in enumerate(first))  # the buffer bounds how far one comes
    same = Dataset.range(100).shuffle(30, seed=3, reshuffle_each_iteration=False)
    assert values(same) == values(same)


def test_padding():
    def rows():
        for n in (1, 3, 2):
            yield [n] * n, str(n)

    signature = (tf.TensorSpec([None], tf.int32), tf.TensorSpec([], tf.string))
    dataset = Dataset.from_generator(rows, output_signature=signature).padded_batch(
        2, padding_values=(-1, None)
    )
    got = [(a.tolist(), b.tolist()) for a, b in dataset.as_numpy_iterator()]
    assert got == [([[1, -1, -1], [3, 3, 3]], [b"1", b"3"]), ([[2, 2]], [b"2"])]


@pytest.mark.parametrize("parallel", [None, 2, 8])
def test_maps_keep_their_order(parallel):
    dataset = Dataset.range(500).map(lambda v: (v, {"square": v * v}), parallel)
    want = [(v, {"square": v * v}) for v in range(500)]
    assert values(dataset) == want
    assert values(dataset.prefetch(3).cache()) == want


def test_caches_keep_a_whole_pass():
    made = []

    def elements():
        for i in range(5):
            made.append(i)
            yield i

    dataset = Dataset.from_generator(elements, tf.int64, []).cache()
    assert values(dataset.take(2)) == [0, 1]
    assert values(dataset) == values(dataset) == list(range(5))
    assert len(made) <= 3 + 5  # the cut pass, and the whole one


@pytest.mark.parametrize("pipeline", [
    lambda d: d, lambda d: d.prefetch(2), lambda d: d.map(lambda v: v, 4), lambda d: d.batch(2),
])  # fmt: skip
def test_errors_come_through(pipeline):
    def elements():
        yield 1
        raise KeyError("mine")

    dataset = pipeline(Dataset.from_generator(elements, tf.int64, []))
    with pytest.raises(KeyError, match="mine"):
        values(dataset)
    wrong = pipeline(Dataset.from_generator(lambda: iter([[1, 2]]), tf.int64, []))
    with pytest.raises(tf.errors.InvalidArgumentError, match="shape"):
        values(wrong)


def test_iterators_inside_functions():
    iterator = iter(Dataset.range(3))

    @tf.function
    def following():
        return next(iterator) * 10

    assert [int(following()) for _ in range(3)] == [0, 10, 20]
    with pytest.raises(tf.errors.OutOfRangeError):
        following()

    @tf.function
    def total(dataset):
        sum = tf.constant(0, tf.int64)
        for v in dataset:
            sum += v
        return sum

    assert int(total(Dataset.range(5))) == 10


def test_iterators_can_be_taken_up_again():
    iterator = iter(Dataset.range(10))
    first = list(itertools.islice(iterator, 4))
    state = iterator.save()
    other = iter(Dataset.range(10))
    other.restore(state)
    assert len(first) == 4 and int(next(other)) == 4


def test_text_and_records(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"one\r\ntwo\n\nlast")
    assert values(tf.data.TextLineDataset([str(tmp_path / "a.txt")])) == [
        b"one",
        b"two",
        b"",
        b"last",
    ]
    path = str(tmp_path / "r")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(3):
            writer.write(bytes([i]) * i)
    assert values(tf.data.TFRecordDataset(path)) == [b"", b"\x01", b"\x02\x02"]
    whole = (tmp_path / "r").read_bytes()
    for cut in (5, 13, len(whole) - 1):
        (tmp_path / "r").write_bytes(whole[:cut])
        with pytest.raises(tf.errors.DataLossError, match="corrupted"):
            values(tf.data.TFRecordDataset(path))
    with pytest.raises(tf.errors.NotFoundError):
        values(tf.data.TFRecordDataset(path + "missing"))


def test_buffers_go_with_the_iterator():
    gc.collect()
    live = tf.memory.stats().live
    dataset = Dataset.range(100).map(lambda v: tf.ones([1000]) + tf.cast(v, tf.float32))
    iterator = iter(dataset.shuffle(50).prefetch(4))
    next(iterator)
    assert tf.memory.stats().live - live > 50 * 4000
    del iterator
    assert tf.memory.stats().live - live < 64 << 10


def test_epochs_stay_flat():
    dataset = Dataset.range(64).shuffle(32).batch(8).map(lambda v: v * 2).prefetch(1)
    for _ in range(20):
        values(dataset)
    live = tf.memory.stats().live
    for _ in range(200):
        values(dataset)
    assert tf.memory.stats().live - live < 16 << 10


def test_rows_of_ragged_and_sparse_tensors_are_batched_and_taken_apart():
    rows = tf.ragged.constant([[1, 2], [], [3]])
    pairs = tf.data.Dataset.from_tensor_slices((rows, tf.constant([7, 8, 9]))).batch(2)
    assert len(pairs) == 2
    assert [ragged.to_list() for ragged, _ in pairs] == [[[1, 2], []], [[3]]]
    assert pairs.element_spec[0] == tf.RaggedTensorSpec([None, None], tf.int32)
    assert [(r.numpy().tolist(), int(n)) for r, n in pairs.unbatch()] == [
        ([1, 2], 7), ([], 8), ([3], 9)
    ]  # fmt: skip
    matrix = tf.sparse.from_dense([[1, 0], [0, 2], [3, 0]])
    sparse = tf.data.Dataset.from_tensor_slices(matrix)
    dense = sparse.batch(2).map(lambda x: tf.sparse.to_dense(x) + 1)
    assert [d.numpy().tolist() for d in dense] == [[[2, 1], [1, 3]], [[4, 1]]]
    again = [tf.sparse.to_dense(row).numpy().tolist() for row in sparse.batch(2).unbatch()]
    assert again == [[1, 0], [0, 2], [3, 0]]
    with pytest.raises(ValueError, match="not compatible"):
        tf.data.Dataset.from_tensor_slices((rows, tf.constant([1, 2])))


def test_a_function_that_makes_rows_of_words():
    words = tf.data.Dataset.from_tensor_slices(["a b", "c"]).batch(2).map(tf.strings.split)
    assert [w.to_list() for w in words] == [[[b"a", b"b"], [b"c"]]]


def test_broken_record_files_end_in_data_loss(tmp_path):
    path = str(tmp_path / "records")
    written = [bytes([i]) * (i * 7 % 50) for i in range(40)]
    with tf.io.TFRecordWriter(path) as writer:
        for record in written:
            writer.write(record)
    whole = (tmp_path / "records").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for _ in range(300):
        data = bytearray(whole)
        if rng.random() < 0.5:
            data = data[: rng.integers(0, len(data))]
        else:
            data[rng.integers(0, len(data))] ^= 1 << rng.integers(0, 8)
        (tmp_path / "records").write_bytes(bytes(data))
        seen = []
        try:
            for record in tf.data.TFRecordDataset(path).prefetch(2):
                seen.append(record.numpy())
        except tf.errors.DataLossError as error:
            assert "records" in str(error)
            refused += 1
        assert seen == written[: len(seen)], "what was read before the damage is whole"
        assert refused or len(data) < len(whole)
    assert refused > 250


def test_batch_sizes_are_found_through_steps_that_keep_elements():
    from tidemark.data._dataset import compute_batch_size

    batches = Dataset.range(16).batch(8)
    assert int(compute_batch_size(batches.prefetch(2).take(1))) == 8
    assert int(compute_batch_size(Dataset.range(16).batch(8, drop_remainder=True))) == 8
    assert int(compute_batch_size(Dataset.range(4))) == -1
    assert int(compute_batch_size(batches.map(lambda x: x[:2]))) == -1


@pytest.mark.parametrize(
    ("local", "everywhere", "in_order"),
    [(None, None, True), (True, False, True), (False, True, False), (None, False, False)],
)
def test_elements_come_as_they_are_ready_where_order_is_not_wanted(local, everywhere, in_order):
    others, came = threading.Event(), []

    def slow_at_first(x):
        if x == 0:  # until the last one was computed, for which others have to be given first
            came.append(others.wait(0.2 if in_order else 20))
        elif x == 3:
            others.set()
        return x

    numbers = tf.data.Dataset.range(4).map(
        lambda x: tf.numpy_function(slow_at_first, [x], tf.int64),
        num_parallel_calls=2, deterministic=local,
    )  # fmt: skip
    options = tf.data.Options()
    options.deterministic = everywhere
    found = [int(x) for x in numbers.with_options(options)]
    assert sorted(found) == [0, 1, 2, 3]
    assert found == [0, 1, 2, 3] if in_order else came == [True]


def test_one_iterator_is_asked_by_many_threads():
    numbers = tf.data.Dataset.range(50).map(lambda x: (x, x * x)).repeat(20).batch(2)
    iterator, found = iter(numbers), []

    def ask():
        for pair in iterator:
            found.append(pair)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    firsts = np.concatenate([a.numpy() for a, _ in found])
    assert sorted(firsts) == sorted([*range(50)] * 20)
    assert all((b.numpy() == a.numpy() ** 2).all() for a, b in found)
