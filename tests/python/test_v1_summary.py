"""TensorFlow 1's summaries: operations whose values go into event files."""

from __future__ import annotations

import struct
import zlib

import flat
import numpy as np
import pytest
import tidemark.compat.v1 as tf

import tidemark as tf2
from tidemark import _tidemark


def events(folder):
    """The events of the files in a folder; checks lengths and masked checksums."""
    found = []
    for path in sorted(folder.glob("events.out.tfevents.*")):
        data = path.read_bytes()
        while data:
            (length,) = struct.unpack("<Q", data[:8])
            body, rest = data[12 : 12 + length], data[12 + length :]
            assert struct.unpack("<I", data[8:12])[0] == masked(data[:8])
            assert struct.unpack("<I", rest[:4])[0] == masked(body)
            found.append(tf.Event.FromString(body))
            data = rest[4:]
    return found


def masked(data):
    crc = _tidemark.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def test_a_training_program_writes_what_tensorboard_reads(tmp_path):
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None], name="x")
        with tf.name_scope("layer"):
            made = tf.summary.scalar("loss", tf.reduce_mean(x))
            tf.summary.histogram("spread", x)
        assert made.name == "layer/loss:0" and made.dtype == tf.string
        merged = tf.summary.merge_all()
        writer = tf.summary.FileWriter(str(tmp_path), sess.graph)
        for step in range(3):
            writer.add_summary(sess.run(merged, {x: [step, step + 1.0]}), step)
        writer.close()
        nodes = {node.name for node in graph.as_graph_def().node}
    found = events(tmp_path)
    assert found[0].file_version == "brain.Event:2"
    written = tf.GraphDef.FromString(found[1].graph_def)
    assert {node.name for node in written.node} == nodes
    rows = [(e.step, v.tag, v.simple_value) for e in found[2:] for v in e.summary.value
            if v.WhichOneof("value") == "simple_value"]  # fmt: skip
    assert rows == [(0, "layer/loss", 0.5), (1, "layer/loss", 1.5), (2, "layer/loss", 2.5)]
    histogram = found[2].summary.value[1].histo
    assert (histogram.min, histogram.max, histogram.num, histogram.sum) == (0, 1, 2, 1)
    assert sum(histogram.bucket) == 2 and histogram.sum_squares == 1
    assert len(histogram.bucket) == len(histogram.bucket_limit)


def test_buckets_are_tensorflows():
    from tidemark._v1.summary import histogram_of

    values = [-3.0, -1e-13, 0.0, 1e-13, 0.25, 0.25, 7.0]
    made = histogram_of(values)
    found = [(round(limit, 4), count) for limit, count in zip(made.bucket_limit, made.bucket,
                                                              strict=True)]  # fmt: skip
    # Recorded from TensorFlow 2.21.
    assert found[:-1] == [
        (-3.1666, 0.0), (-2.8787, 1.0), (-0.0, 0.0), (0.0, 1.0), (0.0, 2.0), (0.2415, 0.0),
        (0.2657, 2.0), (6.7879, 0.0), (7.4666, 1.0),
    ]  # fmt: skip
    assert found[-1] == (np.finfo(np.float64).max, 0.0)


def test_images_text_and_audio(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        pictures = np.linspace(0, 1, 2 * 4 * 5 * 3).reshape(2, 4, 5, 3).astype(np.float32)
        made = sess.run(tf.summary.image("pictures", pictures, max_outputs=2))
        summary = tf.Summary.FromString(made)
        assert [v.tag for v in summary.value] == ["pictures/image/0", "pictures/image/1"]
        first = summary.value[0].image
        assert (first.height, first.width, first.colorspace) == (4, 5, 3)
        assert first.encoded_image_string.startswith(b"\x89PNG")
        assert zlib.crc32(first.encoded_image_string) != 0
        made = tf.Summary.FromString(sess.run(tf.summary.text("note", tf.constant(["a", "b"]))))
        assert made.value[0].metadata.plugin_data.plugin_name == "text"
        assert list(made.value[0].tensor.string_val) == [b"a", b"b"]
        clip = np.zeros((1, 8, 1), np.float32)
        made = tf.Summary.FromString(sess.run(tf.summary.audio("clip", clip, 8000, 1)))
        assert made.value[0].tag == "clip/audio"
        assert made.value[0].audio.encoded_audio_string.startswith(b"RIFF")


def test_merging_families_and_collections():
    with tf.Graph().as_default(), tf.Session() as sess:
        a = tf.summary.scalar("a", 1.0, family="f")
        b = tf.summary.scalar("b", 2.0, collections=["mine"])
        merged = tf.Summary.FromString(sess.run(tf.summary.merge([a, b])))
        assert [(v.tag, v.simple_value) for v in merged.value] == [("f/f/a", 1.0), ("b", 2.0)]
        assert tf.get_collection("mine") == [b]
        assert tf.summary.merge_all("nothing") is None
        only = tf.Summary.FromString(sess.run(tf.summary.merge_all("mine")))
        assert [v.tag for v in only.value] == ["b"]


def test_the_top_level_names_serve_both_generations(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        made = tf2.summary.scalar("loss", tf.constant(2.0))
        assert tf.Summary.FromString(sess.run(made)).value[0].simple_value == 2.0
        assert tf2.summary.FileWriter is tf.summary.FileWriter
    writer = tf2.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        tf2.summary.scalar("loss", 3.0, step=1)
    writer.close()
    assert len(events(tmp_path)) == 2


def test_other_events(tmp_path):
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(tf.Summary(value=[tf.Summary.Value(tag="x", simple_value=4.0)]), 7)
        writer.add_session_log(tf.SessionLog(status=tf.SessionLog.START), 1)
        writer.add_run_metadata(tf.RunMetadata(), "step_1", 1)
        with pytest.raises(ValueError, match="already used"):
            writer.add_run_metadata(tf.RunMetadata(), "step_1", 1)
        with pytest.raises(TypeError, match="tf.Summary"):
            writer.add_summary(3)
    with pytest.warns(UserWarning, match="closed"):
        writer.add_summary(tf.Summary())
    found = events(tmp_path)
    assert found[1].summary.value[0].simple_value == 4.0 and found[1].step == 7
    assert found[2].session_log.status == tf.SessionLog.START
    assert found[3].tagged_run_metadata.tag == "step_1"


def test_bad_summaries(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32)
        spread = tf.summary.histogram("spread", x)
        with pytest.raises(
            tf.errors.InvalidArgumentError, match="Nan in summary histogram.*spread"
        ):
            sess.run(spread, {x: [np.nan]})
        with pytest.raises(Exception, match="not the same shape"):
            sess.run(tf.summary.scalar("s", x), {x: [1.0, 2.0]})
        with pytest.raises(tf.errors.InvalidArgumentError, match="4-D"):
            sess.run(tf.summary.image("i", x), {x: [1.0]})
        with pytest.raises(ValueError, match="dtype string"):
            tf.summary.text("t", tf.constant(1.0))
    assert b"x" in tf.summary.scalar("x", 1.0).numpy()  # eagerly it is there at once
    with pytest.raises(TypeError, match="Graph"):
        tf.summary.FileWriter(str(tmp_path)).add_graph(3)


def test_writing_for_long_stays_flat(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [8])
        tf.summary.scalar("loss", tf.reduce_mean(x))
        tf.summary.histogram("spread", x)
        merged = tf.summary.merge_all()
        values = np.arange(8, dtype=np.float32)
        with tf.summary.FileWriter(str(tmp_path)) as writer:
            flat.assert_flat(
                lambda: writer.add_summary(sess.run(merged, {x: values}), 1), rounds=2000
            )
