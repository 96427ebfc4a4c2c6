"""Event files hold what was written, record by record, with right checksums."""

import struct

import numpy as np
import pytest
from flat import assert_flat
from tidemark._proto import wire

import tidemark as tf
from tidemark import _tidemark


def records(folder):
    """The messages of the one event file in a folder; checks lengths and checksums."""
    (path,) = folder.glob("events.out.tfevents.*")
    data, found = path.read_bytes(), []
    while data:
        (length,) = struct.unpack("<Q", data[:8])
        message, rest = data[12 : 12 + length], data[12 + length :]
        assert struct.unpack("<I", data[8:12])[0] == masked(data[:8])
        assert struct.unpack("<I", rest[:4])[0] == masked(message)
        found.append(message)
        data = rest[4:]
    return found


def masked(data):
    crc = _tidemark.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(message):
    found = {}
    for number, _, value in wire.fields(message):
        found.setdefault(number, []).append(value)
    return found


def values(folder):
    """(step, tag, plugin, tensor's bytes or strings) of each summary."""
    out = []
    for message in records(folder)[1:]:
        event = fields(message)
        value = fields(fields(event[5][0])[1][0])
        name = fields(fields(value[9][0])[1][0])[1][0]
        tensor = fields(value[8][0])
        out.append((event[2][0], value[1][0], name, tensor.get(4, tensor.get(8))))
    return out


def test_what_is_written_can_be_read(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(step=7):
        assert bool(tf.summary.scalar("loss", 0.5))
        with tf.name_scope("layer"):
            tf.summary.text("note", ["a", "b"], step=8)
        tf.summary.histogram("spread", [0.0, 1.0, 1.0, 4.0], step=9, buckets=2)
        with tf.summary.record_if(False):
            assert not bool(tf.summary.scalar("hidden", 1.0))
    writer.close()
    assert fields(records(tmp_path)[0])[3] == [b"brain.Event:2"]
    first, second, third = values(tmp_path)
    assert first == (7, b"loss", b"scalars", [struct.pack("<f", 0.5)])
    assert second == (8, b"layer/note", b"text", [b"a", b"b"])
    assert third[:3] == (9, b"spread", b"histograms")
    np.testing.assert_allclose(
        np.frombuffer(third[3][0]).reshape(2, 3), [[0.0, 2.0, 3.0], [2.0, 4.0, 1.0]]
    )


def test_images_are_files(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        tf.summary.image("picture", np.ones((5, 4, 6, 3)), step=1, max_outputs=2)
    ((_, _, plugin, parts),) = values(tmp_path)
    assert plugin == b"images" and parts[:2] == [b"6", b"4"] and len(parts) == 4
    assert parts[2].startswith(b"\x89PNG")


def test_nothing_is_written_without_a_writer(tmp_path):
    assert not bool(tf.summary.scalar("loss", 0.5, step=1))
    assert not tf.summary.should_record_summaries()
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default(), pytest.raises(ValueError, match="No step set"):
        tf.summary.scalar("loss", 0.5)
    with writer.as_default(), pytest.raises(ValueError, match="takes a scalar"):
        tf.summary.scalar("loss", [0.5], step=1)
    writer.close()
    with pytest.raises(RuntimeError, match="closed"), writer.as_default():
        tf.summary.scalar("loss", 0.5, step=1)
    tf.summary.experimental.set_step(None)


def test_a_file_that_is_read_meanwhile_holds_whole_records(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=0)
    with writer.as_default():
        for step in range(20):
            tf.summary.scalar("loss", float(step), step=step)
            assert len(records(tmp_path)) == step + 2


def test_functions_write_whenever_they_run(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    step = tf.Variable(0, dtype=tf.int64)

    @tf.function
    def train(x):
        with writer.as_default(step=step):
            written = [tf.summary.scalar("loss", tf.reduce_sum(x))]
            tf.summary.histogram("spread", x, buckets=2)
            with tf.summary.record_if(step % 2 == 0):
                written.append(tf.summary.text("note", tf.strings.as_string(x)))
            with tf.summary.record_if(False):
                written.append(tf.summary.scalar("hidden", 1.0))
        step.assign_add(1)
        return written

    assert [[bool(w) for w in train([i + 0.5])] for i in range(3)] == [
        [True, True, False], [True, False, False], [True, True, False]
    ]  # fmt: skip
    found = values(tmp_path)  # the end of the context has written them
    assert [(at, tag) for at, tag, *_ in found] == [
        (0, b"loss"), (0, b"spread"), (0, b"note"), (1, b"loss"), (1, b"spread"),
        (2, b"loss"), (2, b"spread"), (2, b"note"),
    ]  # fmt: skip
    assert [struct.unpack("<f", data[0])[0] for _, tag, _, data in found if tag == b"loss"] == [
        0.5, 1.5, 2.5
    ]  # fmt: skip


def test_sessions_write_whenever_they_run(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        at = tf.compat.v1.placeholder(tf.int64, [])
        with writer.as_default():
            write = tf.summary.write("tag", 2.0, step=at, metadata=b"\n\x03\n\x01x")
        begin, flush = writer.init(), writer.flush()
        session.run(begin)
        assert [session.run(write, {at: number}) for number in (3, 5)] == [True, True]
        assert len(records(tmp_path)) == 1
        session.run(flush)
    assert [number for number, *_ in values(tmp_path)] == [3, 5]


def test_messages_that_are_there_already(tmp_path):
    value = wire.bytes_field(1, wire.bytes_field(1, b"tag"))
    with tf.summary.create_file_writer(str(tmp_path)).as_default(step=1):
        assert tf.summary.experimental.write_raw_pb([value, value])
        with pytest.raises(tf.errors.DataLossError, match="Bad tf.compat.v1.Summary"):
            tf.summary.experimental.write_raw_pb("notaproto")
    event = fields(records(tmp_path)[1])
    assert fields(event[5][0])[1] == [b"\n\x03tag"] * 2


def test_a_writer_that_does_nothing_leaves_the_one_in_use(tmp_path):
    noop = tf.summary.create_noop_writer()
    with noop.as_default():
        assert not tf.summary.write("tag", 1, step=0)
    with tf.summary.create_file_writer(str(tmp_path)).as_default(), noop.as_default():
        assert tf.summary.write("tag", 1, step=0)


def test_writing_in_functions_keeps_memory_flat(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def train(x, at):
        with writer.as_default():
            tf.summary.scalar("loss", tf.reduce_sum(x), step=at)

    assert_flat(lambda: train(tf.ones([1000]), tf.constant(1, tf.int64)), rounds=50)
