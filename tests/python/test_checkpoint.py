"""tf.train.Checkpoint and its kin: what is restored, when, and what damaged files say."""

import contextlib
import gc
import importlib.util
import json
import os
import signal
import subprocess
import sys

import flat
import numpy as np
import pytest
import this_device

import tidemark as tf
from tidemark import _tidemark


class Net(tf.Module):
    def __init__(self, value=0.0):
        super().__init__()
        self.w = tf.Variable([value, value + 1])
        self.parts = [tf.Variable(value + 2), {"deep": tf.Variable(value + 3)}]


def values(net):
    return [*net.w.numpy(), net.parts[0].numpy(), net.parts[1]["deep"].numpy()]


def test_write_and_read(tmp_path):
    path = tf.train.Checkpoint(net=Net(5.0), n=tf.Variable(7)).write(str(tmp_path / "one"))
    assert path == str(tmp_path / "one")
    net, n = Net(), tf.Variable(0)
    status = tf.train.Checkpoint(net=net, n=n).read(path)
    assert values(net) == [5.0, 6.0, 7.0, 8.0] and n.numpy() == 7
    status.assert_consumed()
    status.assert_existing_objects_matched()
    status.assert_nontrivial_match()


def test_save_numbers_checkpoints_and_names_the_latest(tmp_path):
    net = Net()
    checkpoint = tf.train.Checkpoint(net=net)
    for number in (1, 2, 3):
        net.w.assign([number, number])
        assert checkpoint.save(str(tmp_path / "ck")) == str(tmp_path / f"ck-{number}")
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "ck-3")
    fresh = tf.train.Checkpoint(net=Net())
    fresh.restore(str(tmp_path / "ck-2")).assert_consumed()
    assert fresh.net.w.numpy().tolist() == [2.0, 2.0]
    assert int(fresh.save_counter) == 2
    names = dict(tf.train.list_variables(str(tmp_path)))
    assert names["net/w/.ATTRIBUTES/VARIABLE_VALUE"] == [2]
    loaded = tf.train.load_variable(str(tmp_path), "net/w/.ATTRIBUTES/VARIABLE_VALUE")
    assert loaded.tolist() == [3.0, 3.0]


def test_a_root_takes_the_place_of_names(tmp_path):
    path = tf.train.Checkpoint(Net(3.0)).save(str(tmp_path / "ck"))
    net = Net()
    tf.train.Checkpoint(root=net).restore(path).assert_consumed()
    assert values(net) == [3.0, 4.0, 5.0, 6.0]


def test_what_is_made_later_gets_its_value_then(tmp_path):
    path = tf.train.Checkpoint(net=Net(5.0)).write(str(tmp_path / "ck"))
    later = tf.Module()
    status = tf.train.Checkpoint(net=later).read(path)
    with pytest.raises(AssertionError, match="Unresolved object in checkpoint"):
        status.assert_consumed()
    later.w = tf.Variable([0.0, 0.0])
    assert later.w.numpy().tolist() == [5.0, 6.0]
    later.parts = [tf.Variable(0.0), {"deep": tf.Variable(0.0)}]
    assert values(later) == [5.0, 6.0, 7.0, 8.0]
    status.assert_consumed()
    after = tf.train.Checkpoint()
    status = after.read(path)
    after.net = Net()
    assert values(after.net) == [5.0, 6.0, 7.0, 8.0]


def test_partial_matches(tmp_path, caplog):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable(2.0)).write(str(tmp_path / "ck"))
    a, c = tf.Variable(0.0), tf.Variable(9.0)
    status = tf.train.Checkpoint(a=a, c=c).read(path)
    assert a.numpy() == 1.0 and c.numpy() == 9.0
    with pytest.raises(AssertionError, match="b/.ATTRIBUTES"):
        status.assert_consumed()
    with pytest.raises(AssertionError, match="Object not assigned a value"):
        status.assert_existing_objects_matched()
    tf.train.Checkpoint(a=a).read(path).assert_existing_objects_matched().expect_partial()
    caplog.clear()
    tf.train.Checkpoint(a=a).read(path).expect_partial()
    gc.collect()
    assert not caplog.records
    del status
    status = tf.train.Checkpoint(a=a).read(path)
    del status
    gc.collect()
    with pytest.raises(AssertionError, match="Nothing except the root"):
        tf.train.Checkpoint(other=c).read(path).expect_partial().assert_nontrivial_match()


def test_values_that_do_not_fit_change_nothing(tmp_path):
    path = tf.train.Checkpoint(a=tf.Variable(1.0), b=tf.Variable([2.0])).write(str(tmp_path / "c"))
    a, b = tf.Variable(5.0), tf.Variable([5.0, 5.0])
    with pytest.raises(ValueError, match="incompatible tensor with shape"):
        tf.train.Checkpoint(a=a, b=b).read(path)
    assert a.numpy() == 5.0 and b.numpy().tolist() == [5.0, 5.0]


def test_iterators_tables_and_python_state(tmp_path):
    class Count(tf.train.experimental.PythonState):
        value = 0

        def serialize(self):
            return str(self.value)

        def deserialize(self, text):
            self.value = int(text)

    def make():
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        return iter(tf.data.Dataset.range(10)), table, Count()

    iterator, table, count = make()
    assert [int(next(iterator)) for _ in range(4)] == [0, 1, 2, 3]
    table.insert(["a"], tf.constant([3], tf.int64))
    count.value = 12
    path = tf.train.Checkpoint(i=iterator, t=table, c=count).save(str(tmp_path / "ck"))
    iterator, table, count = make()
    tf.train.Checkpoint(i=iterator, t=table, c=count).restore(path).assert_consumed()
    assert int(next(iterator)) == 4 and count.value == 12
    assert table.lookup(tf.constant(["a", "b"])).numpy().tolist() == [3, -1]


def test_strings_bfloat16_and_shared_variables(tmp_path):
    text, half = tf.Variable("déjà"), tf.Variable(tf.constant([1.5, -2.0], tf.bfloat16))
    path = tf.train.Checkpoint(t=text, h=half, again=half).write(str(tmp_path / "ck"))
    assert len(tf.train.list_variables(path)) == 3  # the objects stand beside them
    other, twin = tf.Variable(""), tf.Variable(tf.zeros([2], tf.bfloat16))
    tf.train.Checkpoint(t=other, h=twin, again=twin).read(path).assert_consumed()
    assert other.numpy().decode() == "déjà" and twin.numpy().tolist() == [1.5, -2.0]


def test_manager_keeps_the_newest(tmp_path):
    v = tf.Variable(0)
    checkpoint = tf.train.Checkpoint(v=v)
    manager = tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=2)
    assert manager.latest_checkpoint is None
    for number in range(1, 5):
        v.assign(number)
        assert manager.save() == str(tmp_path / f"ckpt-{number}")
    assert manager.checkpoints == [str(tmp_path / "ckpt-3"), str(tmp_path / "ckpt-4")]
    assert sorted(os.listdir(tmp_path)) == [
        "checkpoint", "ckpt-3.data-00000-of-00001", "ckpt-3.index",
        "ckpt-4.data-00000-of-00001", "ckpt-4.index",
    ]  # fmt: skip
    v.assign(0)
    again = tf.train.CheckpointManager(tf.train.Checkpoint(v=v), str(tmp_path), max_to_keep=2)
    assert again.restore_or_initialize() == str(tmp_path / "ckpt-4") and v.numpy() == 4
    assert again.save() == str(tmp_path / "ckpt-5")
    with pytest.raises(ValueError, match="max_to_keep"):
        tf.train.CheckpointManager(checkpoint, str(tmp_path), max_to_keep=0)


def test_manager_interval_and_init(tmp_path):
    step, called = tf.Variable(0), []
    manager = tf.train.CheckpointManager(
        tf.train.Checkpoint(step=step), str(tmp_path), None, step_counter=step,
        checkpoint_interval=5, init_fn=lambda: called.append(1),
    )  # fmt: skip
    assert manager.restore_or_initialize() is None and called == [1]
    saved = []
    for _ in range(11):
        saved.append(manager.save() is not None)
        step.assign_add(1)
    assert saved == [n % 5 == 0 for n in range(11)]


def test_no_checkpoint_and_things_that_cannot_be_saved(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    with pytest.raises(tf.errors.NotFoundError, match="Failed to find any matching files"):
        checkpoint.restore(str(tmp_path / "none"))
    with pytest.raises(AssertionError, match="No checkpoint specified"):
        checkpoint.restore(None).assert_consumed()
    with pytest.raises(ValueError, match="expecting a trackable object"):
        tf.train.Checkpoint(v=3)
    (tmp_path / "file").write_text("")
    with pytest.raises(OSError, match="file"):
        checkpoint.save(str(tmp_path / "file" / "ck"))
    assert int(checkpoint.save_counter) == 0


@pytest.mark.parametrize("suffix", [".index", ".data-00000-of-00001"])
def test_every_cut_and_many_flips_are_typed_and_change_nothing(tmp_path, suffix):
    path = tf.train.Checkpoint(net=Net(5.0)).write(str(tmp_path / "ck"))
    with open(path + suffix, "rb") as file:
        whole = file.read()
    net = Net()
    checkpoint = tf.train.Checkpoint(net=net)
    before = values(net)

    def put(data):
        with open(path + suffix, "wb") as file:
            file.write(data)

    for end in range(0, len(whole), 7):
        put(whole[:end])
        with pytest.raises(tf.errors.DataLossError):
            checkpoint.read(path)
        assert values(net) == before
    random = np.random.default_rng(1)
    for _ in range(100):
        data = bytearray(whole)
        data[random.integers(0, len(data))] ^= 1 << random.integers(0, 8)
        put(data)
        with contextlib.suppress(tf.errors.OpError):
            checkpoint.read(path).expect_partial()
        assert values(net) in (before, [5.0, 6.0, 7.0, 8.0])


def write_as_before(prefix, tensors, records):
    """A checkpoint as versions before TensorFlow's format wrote it."""
    metadata = json.dumps({"objects": records}) if records else ""
    _tidemark.write_tensors(prefix + ".tidemark", tensors, metadata)


def test_files_of_earlier_versions_are_read_and_replaced(tmp_path):
    path = str(tmp_path / "ck-1")
    tensors = {
        "v/.ATTRIBUTES/VARIABLE_VALUE": tf.constant([1.0, 2.0]),
        "t/.ATTRIBUTES/keys": tf.constant(["a"]),
        "t/.ATTRIBUTES/values": tf.constant([3], tf.int64),
    }
    states = [{}, {"VARIABLE_VALUE": "v/.ATTRIBUTES/VARIABLE_VALUE"},
              {"keys": "t/.ATTRIBUTES/keys", "values": "t/.ATTRIBUTES/values"}]  # fmt: skip
    records = [{"children": {}, "state": state} for state in states]
    records[0]["children"] = {"v": 1, "t": 2}
    write_as_before(path, tensors, records)
    v = tf.Variable([0.0, 0.0])
    table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
    checkpoint = tf.train.Checkpoint(v=v, t=table)
    checkpoint.read(path).assert_consumed()
    assert v.numpy().tolist() == [1.0, 2.0] and table.lookup(tf.constant(["a"])).numpy() == [3]
    assert tf.train.load_variable(path, "v/.ATTRIBUTES/VARIABLE_VALUE").tolist() == [1.0, 2.0]
    checkpoint.write(path)
    assert sorted(os.listdir(tmp_path)) == ["ck-1.data-00000-of-00001", "ck-1.index"]
    for damaged in ([{"children": {"v": 7}, "state": {}}], [{"children": {}}], ["x"]):
        write_as_before(str(tmp_path / "bad"), tensors, damaged)
        with pytest.raises(tf.errors.DataLossError):
            checkpoint.read(str(tmp_path / "bad"))


def test_a_generator_goes_on_where_it_stood(tmp_path):
    generator = tf.random.Generator.from_seed(5)
    generator.normal([3])
    path = tf.train.Checkpoint(g=generator).write(str(tmp_path / "ck"))
    wanted = generator.normal([3]).numpy().tolist()
    other = tf.random.Generator.from_seed(6)
    status = tf.train.Checkpoint(g=other).read(path)
    assert other.normal([3]).numpy().tolist() == wanted
    status.assert_consumed()  # gives nothing again
    assert other.state.numpy().tolist() == generator.state.numpy().tolist()


def test_dense_tables_come_back(tmp_path):
    def make():
        return tf.lookup.experimental.DenseHashTable(tf.int64, tf.int64, -1, 0, -9, 8)

    table = make()
    table.insert([1, 2, 3], [10, 20, 30])
    table.remove([2])
    path = tf.train.Checkpoint(t=table).write(str(tmp_path / "ck"))
    other = make()
    other.insert([7], [70])
    tf.train.Checkpoint(t=other).read(path).assert_consumed()
    assert other.lookup(tf.constant([1, 2, 3, 7], tf.int64)).numpy().tolist() == [10, -1, 30, -1]


def test_layers_in_lists_of_a_keras_model_are_saved(tmp_path):
    if importlib.util.find_spec("keras") is None:
        pytest.skip("Keras is not installed")

    def make(value):
        class Net(tf.keras.Model):
            def __init__(self):
                super().__init__()
                self.blocks = [tf.keras.layers.Dense(2), tf.keras.layers.Dense(2)]

            def call(self, x):
                return self.blocks[1](self.blocks[0](x))

        net = Net()
        net(np.zeros((1, 2), np.float32))
        net.set_weights([np.full(w.shape, value, np.float32) for w in net.get_weights()])
        return net

    path = tf.train.Checkpoint(net=make(3.0)).write(str(tmp_path / "ck"))
    net = make(0.0)
    tf.train.Checkpoint(net=net).read(path).assert_consumed()
    assert all((w == 3.0).all() for w in net.get_weights())


KILLED = """
import sys, tidemark as tf
v = tf.Variable(tf.zeros([100_000]))
checkpoint = tf.train.Checkpoint(v=v)
manager = tf.train.CheckpointManager(checkpoint, sys.argv[1], max_to_keep=2)
manager.restore_or_initialize()
manager.save()
print("ready", flush=True)
while True:
    v.assign_add(tf.ones_like(v))
    manager.save()
"""


def test_a_save_killed_at_any_moment_leaves_one_that_loads(tmp_path):
    v = tf.Variable(tf.zeros([100_000]))
    random, last = np.random.default_rng(3), -1.0
    for _ in range(8):
        process = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout.readline() == "ready\n"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(random.uniform(0.0, 0.3))
        process.kill()
        process.wait()
        process.stdout.close()
        latest = tf.train.latest_checkpoint(str(tmp_path))
        assert latest is not None
        tf.train.Checkpoint(v=v).restore(latest).expect_partial()
        assert v.numpy().min() == v.numpy().max() >= last
        last = v.numpy()[0]
    assert last > 0
    tf.train.Checkpoint(v=v).save(str(tmp_path / "last"))
    assert not [name for name in os.listdir(tmp_path) if "writing" in name]  # tidied away


def test_saving_holds_nothing_twice_and_restoring_one_tensor(tmp_path):
    each = 1 << 20
    variables = [tf.Variable(tf.fill([each // 4], float(n))) for n in range(16)]
    checkpoint = tf.train.Checkpoint(v=variables)

    def added(act):
        gc.collect()
        tf.memory.reset_peak()
        before = tf.memory.stats().live
        act()
        return tf.memory.stats().peak - before

    path = str(tmp_path / "ck")
    on_host = 0 if this_device.IS_CPU else each  # of another device one tensor is copied
    assert added(lambda: checkpoint.write(path)) < on_host + each / 4
    for variable in variables:
        variable.assign(tf.zeros([each // 4]))
    assert added(lambda: checkpoint.read(path)) < 1.25 * each
    assert [v.numpy()[7] for v in variables] == list(range(16))


def test_a_save_that_is_interrupted_leaves_what_was_there(tmp_path):
    def stop(*_):
        raise KeyboardInterrupt

    variables = [tf.Variable(tf.zeros([1 << 20])) for _ in range(4)]
    checkpoint = tf.train.Checkpoint(v=variables)
    path = checkpoint.write(str(tmp_path / "ck"))
    before = signal.signal(signal.SIGALRM, stop)
    try:
        for delay in (0.003, 0.01, 0.03, 0.1):
            for variable in variables:  # the last interrupt may have come between two of them
                variable.assign(tf.zeros_like(variable))
            signal.setitimer(signal.ITIMER_REAL, delay)
            with contextlib.suppress(KeyboardInterrupt):
                while True:
                    for variable in variables:
                        variable.assign_add(tf.ones_like(variable))
                    checkpoint.write(path)
            others = [tf.Variable(tf.zeros([1 << 20])) for _ in range(4)]
            tf.train.Checkpoint(v=others).read(path).assert_consumed()
            assert len({v.numpy()[at] for v in others for at in (0, -1)}) == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    checkpoint.write(path)
    assert len(os.listdir(tmp_path)) == 2


def test_what_was_restored_goes_with_its_last_name(tmp_path):
    def made():
        return tf.train.Checkpoint(v=[tf.Variable(tf.ones([1000]))], n=Net())

    path = made().write(str(tmp_path / "ck"))
    gc.collect()
    before = this_device.live()
    gc.disable()
    try:
        made().read(path).assert_consumed()
        assert this_device.live() == before, "no cycle waits for Python's collector"
    finally:
        gc.enable()


def test_saving_and_restoring_is_flat(tmp_path):
    net = Net()
    checkpoint = tf.train.Checkpoint(net=net)

    def one_round():
        path = checkpoint.write(str(tmp_path / "ck"))
        tf.train.Checkpoint(net=Net()).read(path).assert_consumed()

    flat.assert_flat(one_round, rounds=400, warm_up=100)
