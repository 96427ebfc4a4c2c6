"""Event files hold what was written, record by record, with right checksums."""

import struct

import numpy as np
import pytest
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
    with writer.as_default(), pytest.raises(RuntimeError, match="closed"):
        tf.summary.scalar("loss", 0.5, step=1)
    tf.summary.experimental.set_step(None)


def test_a_file_that_is_read_meanwhile_holds_whole_records(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path), max_queue=0)
    with writer.as_default():
        for step in range(20):
            tf.summary.scalar("loss", float(step), step=step)
            assert len(records(tmp_path)) == step + 2
