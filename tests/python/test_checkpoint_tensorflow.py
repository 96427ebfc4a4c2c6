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
import flat
import numpy as np
import pytest

import tidemark as tf
from tidemark import _tidemark

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


def test_several_shards():
    prefix = str(DATA / "shards")
    wanted = {f"v{at}": np.arange(4, dtype=np.float32) + at * 10 for at in range(3)}
    reader = tf.train.load_checkpoint(prefix)
    assert dict(tf.train.list_variables(prefix)) == dict.fromkeys(wanted, [4])
    for name, value in wanted.items():
        np.testing.assert_array_equal(reader.get_tensor(name), value)
    variables = {name: tf.Variable(tf.zeros([4])) for name in wanted}
    tf.compat.v1.train.Saver(variables).restore(None, prefix)
    for name, value in wanted.items():
        np.testing.assert_array_equal(variables[name], value)


def test_a_missing_shard_changes_nothing(tmp_path):
    for file in DATA.glob("shards.*"):
        shutil.copy(file, tmp_path)
    (tmp_path / "shards.data-00001-of-00003").unlink()
    variables = {f"v{at}": tf.Variable(tf.ones([4])) for at in range(3)}
    with pytest.raises(tf.errors.NotFoundError, match="shards.data-00001-of-00003"):
        tf.compat.v1.train.Saver(variables).restore(None, str(tmp_path / "shards"))
    assert all((v.numpy() == 1).all() for v in variables.values())


def varint(number):
    out = bytearray()
    while number >= 128:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes([*out, number])


def take_varint(data, at):
    number = shift = 0
    while data[at] >= 128:
        number |= (data[at] & 127) << shift
        at, shift = at + 1, shift + 7
    return number | data[at] << shift, at + 1


def snappy(data):
    """As Snappy has it: bytes as they are, and copies of four to 64 that were there before."""
    out, seen, at, plain = bytearray(varint(len(data))), {}, 0, bytearray()

    def put_plain():
        for begin in range(0, len(plain), 60):
            part = plain[begin : begin + 60]
            out.extend([(len(part) - 1) << 2, *part])
        plain.clear()

    while at < len(data):
        four = bytes(data[at : at + 4])
        before, seen[four] = seen.get(four), at
        if len(four) < 4 or before is None:
            plain.append(data[at])
            at += 1
            continue
        length = 4
        while (
            at + length < len(data) and length < 64 and data[before + length] == data[at + length]
        ):
            length += 1
        put_plain()
        out.extend([(length - 1) << 2 | 2, *(at - before).to_bytes(2, "little")])
        at += length
    put_plain()
    return bytes(out)


def with_snappy(index):
    """The index of a checkpoint with its blocks of entries compressed."""

    def block(data, kind):
        crc = _tidemark.crc32c(data + kind)
        masked = (((crc >> 15 | crc << 17) & 0xFFFFFFFF) + 0xA282EAD8) & 0xFFFFFFFF
        return data + kind + masked.to_bytes(4, "little")

    footer = index[-48:]
    offset, at = take_varint(footer, 0)
    size, at = take_varint(footer, at)
    first, at = take_varint(footer, at)
    empty, last = index[offset : offset + size], index[first : first + take_varint(footer, at)[0]]
    out, entries, starts, at = bytearray(), bytearray(), [], 0
    while at < len(last) - 4 - 4 * int.from_bytes(last[-4:], "little"):
        (_, key_size, value_size), at = last[at : at + 3], at + 3
        key, place, at = last[at : at + key_size], at + key_size, at + key_size + value_size
        begin, place = take_varint(last, place)
        data = snappy(index[begin : begin + take_varint(last, place)[0]])
        value = varint(len(out)) + varint(len(data))
        starts.append(len(entries))
        entries += bytes([0, key_size, len(value)]) + key + value
        out += block(data, b"\1")
    entries += b"".join(n.to_bytes(4, "little") for n in [*starts, len(starts)])
    places = varint(len(out)) + varint(len(empty))
    out += block(empty, b"\0")
    places += varint(len(out)) + varint(len(entries))
    return bytes(out + block(bytes(entries), b"\0") + places.ljust(40, b"\0") + footer[40:])


@pytest.mark.parametrize("name", ["modules", "slots", "dtypes"])
def test_blocks_compressed_with_snappy(tmp_path, name):
    index = (DATA / f"{name}.index").read_bytes()
    small = with_snappy(index)
    (tmp_path / f"{name}.index").write_bytes(small)
    shutil.copy(DATA / f"{name}.data-00000-of-00001", tmp_path)
    parts, every = ALL[name](tf)
    programs.fill(every)
    wanted = programs.held(every)
    parts, every = ALL[name](tf)
    tf.train.Checkpoint(**parts).read(str(tmp_path / name)).assert_consumed()
    assert programs.held(every) == wanted
    assert len(small) < len(index)
    for at in range(0, len(small), 7):
        (tmp_path / f"{name}.index").write_bytes(small[:at] + b"\xff" + small[at + 1 :])
        with pytest.raises((tf.errors.DataLossError, tf.errors.NotFoundError)):
            tf.train.load_checkpoint(str(tmp_path / name)).get_tensor("none")


def test_slots_are_restored_before_and_after_they_are_made():
    v1 = tf.compat.v1.train
    parts, every = ALL["slots"](tf)
    programs.fill(every)
    wanted = [parts["adam"].get_slot(parts["net"].w, "v").numpy().tolist(),
              parts["momentum"].get_slot(parts["net"].b, "momentum").numpy().tolist()]  # fmt: skip
    net, adam, momentum = tf.Module(), v1.AdamOptimizer(0.1), v1.MomentumOptimizer(0.1, 0.9)
    net.w = tf.Variable(tf.zeros([2, 3]), name="w")
    status = tf.train.Checkpoint(net=net, adam=adam, momentum=momentum).read(str(DATA / "slots"))
    assert adam.get_slot(net.w, "v").numpy().tolist() == wanted[0]
    net.b = tf.Variable(tf.zeros([3]), name="b")
    momentum.minimize(lambda: tf.reduce_sum(net.b) * 0, var_list=[net.b])
    np.testing.assert_allclose(momentum.get_slot(net.b, "momentum"), np.multiply(wanted[1], 0.9))
    status.assert_existing_objects_matched()


def test_restoring_slots_is_flat():
    v1 = tf.compat.v1.train

    def one_round():
        net, adam = tf.Module(), v1.AdamOptimizer(0.1)
        net.w = tf.Variable(tf.zeros([2, 3]), name="w")
        tf.train.Checkpoint(net=net, adam=adam).read(str(DATA / "slots")).expect_partial()

    flat.assert_flat(one_round, rounds=200, warm_up=50)


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


def test_dense_tables_have_the_buckets_of_tensorflow():
    """Recorded from TensorFlow 2.21, which finds keys in no others."""
    make = tf.lookup.experimental.DenseHashTable
    numbers = make(tf.int64, tf.float32, 0.0, -1, -2, 16)
    numbers.insert(tf.constant([1, 2, 3, 9, 17, -5], tf.int64), tf.range(6.0))
    keys, values = (rows.numpy().ravel().tolist() for rows in numbers.export())
    assert keys == [-1, 1, 2, 3, 17, -1, -1, -1, -1, 9, -1, -5, -1, -1, -1, -1]
    assert values == [0, 0, 1, 2, 4, 0, 0, 0, 0, 3, 0, 5, 0, 0, 0, 0]
    texts = make(tf.string, tf.float32, 0.0, "", "x", 16)
    texts.insert(["a", "b", "cd", "tidemark"], tf.range(4.0))
    keys = texts.export()[0].numpy().ravel().tolist()
    places = {key: at for at, key in enumerate(keys) if key}
    assert places == {b"tidemark": 2, b"cd": 3, b"b": 10, b"a": 12}


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
