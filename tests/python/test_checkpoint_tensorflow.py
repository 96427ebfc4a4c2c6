"""Checkpoints that TensorFlow wrote are read, and ours are the bytes it would write.

The files in ``data/checkpoints`` are TensorFlow's; ``tools/record_checkpoints.py`` makes them.
"""

import hashlib
import importlib.util
import json
import os
import shutil
from pathlib import Path

import checkpoint_programs as programs
import numpy as np
import pytest

import tidemark as tf

DATA = Path(__file__).parent / "data/checkpoints"
RECORDED = json.loads((DATA / "read.json").read_text())
ALL = dict(programs.PROGRAMS)
if importlib.util.find_spec("keras") is not None:
    ALL.update(programs.KERAS_PROGRAMS)


def checksum(prefix):
    sha = hashlib.sha256()
    for suffix in (".index", ".data-00000-of-00001"):
        sha.update(Path(str(prefix) + suffix).read_bytes())
    return sha.hexdigest()


@pytest.mark.parametrize("name", ALL)
def test_our_files_are_those_that_tensorflow_writes_and_reads(tmp_path, name):
    parts, every = ALL[name](tf)
    programs.fill(every)
    tf.train.Checkpoint(**parts).write(str(tmp_path / name))
    assert checksum(tmp_path / name) == RECORDED["written"][name] == RECORDED["read"][name]


@pytest.mark.parametrize("name", [n for n in ALL if (DATA / f"{n}.index").exists()])
def test_files_of_tensorflow_are_restored(name):
    parts, every = ALL[name](tf)
    programs.fill(every)
    wanted = programs.held(every)
    parts, every = ALL[name](tf)
    status = tf.train.Checkpoint(**parts).read(str(DATA / name))
    assert programs.held(every) == wanted
    status.assert_consumed()
    status.assert_existing_objects_matched()


def test_a_generator_has_the_recorded_state():
    parts, _ = programs.states(tf)
    parts["generator"].reset([0, 0, 0])
    tf.train.Checkpoint(**parts).read(str(DATA / "states")).assert_consumed()
    assert parts["generator"].state.numpy().tolist() == [7, 0, 9]


def test_restoring_on_creation_from_a_file_of_tensorflow():
    net = tf.Module()
    status = tf.train.Checkpoint(net=net).read(str(DATA / "modules"))
    net.layers = [tf.Module(), tf.Variable(0), [tf.Variable([0.0])]]
    assert net.layers[1].numpy() == 2 and net.layers[2][0].numpy() == [3.0]
    net.layers[0].w = tf.Variable(tf.zeros([2, 3]))
    assert net.layers[0].w.numpy().tolist() == [[1, 2, 3], [4, 5, 6]]
    with pytest.raises(AssertionError, match="Unresolved object"):
        status.assert_consumed()
    status.expect_partial()


def test_partitioned_variables_and_names():
    path = str(DATA / "parts")
    assert tf.train.list_variables(path) == [("scope/parted", [200, 3]), ("whole", [2])]
    wanted = np.arange(600, dtype=np.float32).reshape(200, 3)
    np.testing.assert_array_equal(tf.train.load_variable(path, "scope/parted"), wanted)
    reader = tf.train.load_checkpoint(path)
    assert reader.get_variable_to_dtype_map() == {"scope/parted": tf.float32, "whole": tf.float32}
    whole = tf.Variable([0.0, 0.0], name="whole")
    other = tf.Variable(0.0, name="other")
    status = tf.train.Checkpoint(v=whole, other=other).read(path)  # by name: there are no objects
    assert whole.numpy().tolist() == [1.0, 2.0]
    with pytest.raises(AssertionError, match="scope/parted"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="other"):
        status.assert_existing_objects_matched()
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        parted = v1.get_variable("scope/parted", shape=[200, 3])
        v1.train.Saver([parted]).restore(session, path)
        np.testing.assert_array_equal(session.run(parted), wanted)


def test_a_saver_reads_a_checkpoint_of_objects():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        kernel = v1.get_variable("kernel", shape=[2, 3])
        v1.train.Saver().restore(session, str(DATA / "modules"))
        assert session.run(kernel).tolist() == [[1, 2, 3], [4, 5, 6]]
        other = v1.get_variable("no_such_name", shape=[2, 3])
        with pytest.raises(tf.errors.NotFoundError, match="no_such_name"):
            v1.train.Saver([other]).restore(session, str(DATA / "modules"))


def test_a_folder_of_tensorflow_is_gone_on_with(tmp_path):
    class Count(tf.train.experimental.PythonState):
        text = ""

        def serialize(self):
            return self.text

        def deserialize(self, text):
            self.text = text

    folder = tmp_path / "manager"
    shutil.copytree(DATA / "manager", folder)
    assert tf.train.latest_checkpoint(str(folder)) == str(folder / "état-3")
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    dense = tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -9, 8)
    checkpoint = tf.train.Checkpoint(table=table, dense=dense, count=(count := Count()))
    manager = tf.train.CheckpointManager(checkpoint, str(folder), 2, checkpoint_name="état")
    assert [os.path.basename(p) for p in manager.checkpoints] == ["état-2", "état-3"]
    assert manager.restore_or_initialize() == str(folder / "état-3")
    assert table.lookup(tf.constant(["a", "b", "c"])).numpy().tolist() == [3, 4, -1]
    assert dense.lookup(tf.constant([1, 2, 3], tf.int64)).numpy().tolist() == [10, 20, -1]
    assert count.text == b"twelve"
    assert manager.save() == str(folder / "état-4")
    state = tf.train.get_checkpoint_state(str(folder))
    assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ["état-3", "état-4"]
    assert len(state.all_model_checkpoint_timestamps) == 2
    assert not (folder / "état-2.index").exists()


def test_the_state_of_an_iterator_does_not_cross(tmp_path):
    """TensorFlow keeps it in a form of its own: it is told, and nothing else is lost."""
    path = str(DATA / "manager/état-3")
    dtypes = tf.train.load_checkpoint(path).get_variable_to_dtype_map()
    assert dtypes["iterator/.ATTRIBUTES/ITERATOR_STATE"] == tf.variant
    with pytest.raises(tf.errors.UnimplementedError, match="dtype number 21"):
        tf.train.load_variable(path, "iterator/.ATTRIBUTES/ITERATOR_STATE")
    iterator = iter(tf.data.Dataset.range(10))
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    status = tf.train.Checkpoint(iterator=iterator, table=table).read(path).expect_partial()
    assert int(table.size()) == 2 and int(next(iterator)) == 0
    with pytest.raises(AssertionError, match="ITERATOR|Unresolved"):
        status.assert_consumed()


def test_a_manager_leaves_files_outside_of_its_folder_alone(tmp_path):
    outside = tf.train.Checkpoint(v=tf.Variable(1.0)).write(str(tmp_path / "precious"))
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "checkpoint").write_text(
        f'model_checkpoint_path: "{outside}"\nall_model_checkpoint_paths: "{outside}"\n'
    )
    checkpoint = tf.train.Checkpoint(v=tf.Variable(2.0))
    manager = tf.train.CheckpointManager(checkpoint, str(folder), max_to_keep=1)
    manager.save()
    assert Path(outside + ".index").exists() and len(manager.checkpoints) == 1
