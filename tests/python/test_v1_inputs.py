"""TensorFlow 1's input pipelines: readers, producers and batches, through queues and threads."""

from __future__ import annotations

import numpy as np
import pytest
import tidemark.compat.v1 as tf

import tidemark as tf2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


def all_of(*fetches):
    """What the fetches give until the inputs end."""
    rows = []
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while not coord.should_stop():
                rows.append(sess.run(fetches[0] if len(fetches) == 1 else list(fetches)))
        except tf.errors.OutOfRangeError:
            pass
        finally:
            coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
    return rows


@pytest.fixture
def files(tmp_path):
    for name in "ab":
        lines = "".join(f"{name}{i},{i}\n" for i in range(5))
        (tmp_path / f"{name}.csv").write_text("word,number\n" + lines)
    return [str(tmp_path / f"{name}.csv") for name in "ab"]


def test_lines_of_files_in_batches(files):
    queue = tf.train.string_input_producer(files, num_epochs=2, shuffle=False)
    key, line = tf.TextLineReader(skip_header_lines=1).read(queue)
    word, number = tf.decode_csv(line, [[""], [0]])
    words, numbers = tf.train.batch([word, number], 4)
    rows = all_of(words, numbers)
    assert len(rows) == 5  # twenty lines
    assert rows[0][0].tolist() == [b"a0", b"a1", b"a2", b"a3"]
    assert rows[1][1].tolist() == [4, 0, 1, 2]
    assert [w.shape for w, _ in rows] == [(4,)] * 5


def test_the_last_batch_may_be_smaller(files):
    queue = tf.train.string_input_producer(files, num_epochs=1, shuffle=False)
    key, line = tf.TextLineReader().read(queue)
    batch = tf.train.batch({"key": key, "line": line}, 5, allow_smaller_final_batch=True)
    rows = all_of(batch)
    assert [len(row["line"]) for row in rows] == [5, 5, 2]
    assert rows[0]["key"][1].endswith(b"a.csv:2")


def test_shuffled_batches_hold_everything_once():
    numbers = tf.train.slice_input_producer([np.arange(50), np.arange(50) * 2], num_epochs=1)
    one, two = tf.train.shuffle_batch(numbers, 7, capacity=30, min_after_dequeue=5, seed=3,
                                      allow_smaller_final_batch=True)  # fmt: skip
    rows = all_of(one, two)
    first = np.concatenate([a for a, _ in rows])
    assert sorted(first.tolist()) == list(range(50)) and first.tolist() != sorted(first.tolist())
    assert all((b == a * 2).all() for a, b in rows)


def test_rows_at_once_and_padding():
    queue = tf.train.range_input_producer(4, num_epochs=1, shuffle=False)
    n = queue.dequeue()
    made = tf.train.batch([tf.range(n + 1)], 2, dynamic_pad=True)
    rows = all_of(made)
    assert rows[1].tolist() == [[0, 1, 2, 0], [0, 1, 2, 3]]


def test_records_and_other_readers(tmp_path):
    path = str(tmp_path / "r.tfrecord")
    with tf2.io.TFRecordWriter(path) as writer:
        for i in range(6):
            writer.write(b"record %d" % i)
    queue = tf.train.string_input_producer([path], num_epochs=1)
    key, value = tf.TFRecordReader().read(queue)
    rows = all_of(key, value)
    assert [v for _, v in rows] == [b"record %d" % i for i in range(6)]
    (tmp_path / "fixed").write_bytes(b"HHaabbccF")
    with tf.Graph().as_default():
        queue = tf.train.string_input_producer([str(tmp_path / "fixed")], num_epochs=1)
        reader = tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=1)
        assert [v for _, v in all_of(*reader.read(queue))] == [b"aa", b"bb", b"cc"]
    with tf.Graph().as_default():
        queue = tf.train.string_input_producer([str(tmp_path / "fixed")], num_epochs=1)
        assert all_of(tf.WholeFileReader().read(queue)[1]) == [b"HHaabbccF"]


def test_bad_inputs(tmp_path):
    with pytest.raises(ValueError, match="non-null"):
        tf.train.string_input_producer([])
    with pytest.raises(ValueError, match="num_epochs"):
        tf.train.string_input_producer(["x"], num_epochs=0)
    with pytest.raises(ValueError, match="batch_size"):
        tf.train.batch([tf.constant(1)], 0)
    with pytest.raises(ValueError, match="bigger than min_after_dequeue"):
        tf.train.shuffle_batch([tf.constant(1)], 2, capacity=3, min_after_dequeue=5)
    with pytest.raises(ValueError, match="fully defined"):
        tf.train.batch([tf.placeholder(tf.float32, [None])], 2)
    with pytest.raises(ValueError, match="record_bytes"):
        tf.FixedLengthRecordReader(0)
    queue = tf.train.string_input_producer([str(tmp_path / "missing")])
    value = tf.WholeFileReader().read(queue)[1]
    with tf.Session() as sess:
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            sess.run(value)
        coord.request_stop()
        coord.join(threads, stop_grace_period_secs=10)
