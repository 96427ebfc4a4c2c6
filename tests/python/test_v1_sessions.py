"""Savers, coordinators, queues and monitored sessions of TensorFlow 1."""

import os
import threading
import types

import numpy as np
import pytest

import tidemark as tf

v1 = tf.compat.v1
train = v1.train


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


# --- checkpoints ---------------------------------------------------------------------------------


def test_values_come_back(tmp_path):
    a = v1.get_variable("a", initializer=[[1.0, 2.0], [3.0, 4.0]])
    b = v1.get_variable("b", initializer=np.int64(7))
    saver = train.Saver()
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "model"), global_step=3)
    assert path.endswith("model-3") and train.latest_checkpoint(str(tmp_path)) == path
    with v1.Session() as sess:
        saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(a), [[1, 2], [3, 4]])
        assert sess.run(b) == 7
    assert train.list_variables(path) == [("a", [2, 2]), ("b", [])]
    assert not [name for name in os.listdir(tmp_path) if name.endswith(".tmp")]


def test_old_checkpoints_go(tmp_path):
    v1.get_variable("a", initializer=1.0)
    saver = train.Saver(max_to_keep=2)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for step in range(5):
            saver.save(sess, str(tmp_path / "m"), global_step=step)
    state = train.get_checkpoint_state(str(tmp_path))
    assert [os.path.basename(p) for p in state.all_model_checkpoint_paths] == ["m-3", "m-4"]
    assert not train.checkpoint_exists(str(tmp_path / "m-2"))


def test_bad_checkpoints(tmp_path):
    v = v1.get_variable("a", initializer=[1.0, 2.0])
    saver = train.Saver()
    with v1.Session() as sess:
        sess.run(v.initializer)
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(sess, str(tmp_path / "none"))
        with pytest.raises(ValueError, match="Parent directory"):
            saver.save(sess, str(tmp_path / "missing" / "m"))
        path = saver.save(sess, str(tmp_path / "m"))
        file = tmp_path / "m.index"
        good = file.read_bytes()
        flipped = bytes([*good[:40], good[40] ^ 1, *good[41:]])
        for bad in (b"", b"{}\n", b"[1]\n", good[:-3], b"\xff" * 50, flipped):
            file.write_bytes(bad)
            with pytest.raises((tf.errors.DataLossError, tf.errors.InvalidArgumentError)):
                saver.restore(sess, path)
        np.testing.assert_array_equal(sess.run(v), [1, 2])  # nothing half restored
        with pytest.raises(tf.errors.NotFoundError):
            file.write_bytes(good)
            train.Saver({"other": v}).restore(sess, path)
    with pytest.raises(ValueError, match="No variables to save"), tf.Graph().as_default():
        train.Saver()


# --- threads -------------------------------------------------------------------------------------


def test_a_coordinator_stops_all_and_tells_why():
    coordinator = train.Coordinator()
    rounds = []

    def work():
        while not coordinator.should_stop():
            rounds.append(1)

    def fail():
        with coordinator.stop_on_exception():
            raise ValueError("enough")

    threads = [threading.Thread(target=work), threading.Thread(target=fail)]
    for thread in threads:
        thread.start()
    with pytest.raises(ValueError, match="enough"):
        coordinator.join(threads)
    assert not any(thread.is_alive() for thread in threads)


def test_queues_pass_elements_on():
    queue = v1.FIFOQueue(10, [tf.float32, tf.int32], shapes=[[2], []])
    put = queue.enqueue([[1.0, 2.0], 3])
    many = queue.enqueue_many([[[3.0, 4.0], [5.0, 6.0]], [4, 5]])
    one, pair, size, close = queue.dequeue(), queue.dequeue_many(2), queue.size(), queue.close()
    with v1.Session() as sess:
        sess.run(put)
        sess.run(many)
        assert sess.run(size) == 3
        first = sess.run(one)
        np.testing.assert_array_equal(first[0], [1, 2])
        assert first[1] == 3
        rest = sess.run(pair)
        np.testing.assert_array_equal(rest[0], [[3, 4], [5, 6]])
        sess.run(close)
        with pytest.raises(tf.errors.OutOfRangeError):
            sess.run(one)
        with pytest.raises(tf.errors.CancelledError):
            sess.run(put)


def test_runners_fill_queues():
    queue = v1.RandomShuffleQueue(50, 5, tf.float32, shapes=[], seed=1)
    runner = train.QueueRunner(queue, [queue.enqueue(tf.random.uniform([]))] * 2)
    train.add_queue_runner(runner)
    batch = queue.dequeue_many(8)
    with v1.Session() as sess:
        coordinator = train.Coordinator()
        threads = train.start_queue_runners(sess, coordinator)
        seen = np.concatenate([sess.run(batch) for _ in range(20)])
        coordinator.request_stop()
        coordinator.join(threads)
    assert len(np.unique(seen)) == 160


# --- monitored sessions --------------------------------------------------------------------------


def _counting():
    step = train.get_or_create_global_step()
    w = v1.get_variable("w", initializer=1.0)
    return step, train.GradientDescentOptimizer(0.1).minimize(tf.square(w), global_step=step)


def test_a_monitored_session_goes_on_where_it_was(tmp_path):
    for last, runs in ((5, 5), (8, 3)):
        with tf.Graph().as_default() as graph:
            step, train_op = _counting()
            count = 0
            with train.MonitoredTrainingSession(
                checkpoint_dir=str(tmp_path),
                hooks=[train.StopAtStepHook(last_step=last)],
                save_checkpoint_steps=2,
            ) as sess:
                while not sess.should_stop():
                    sess.run(train_op)
                    count += 1
            assert count == runs and graph.finalized
    assert train.load_variable(str(tmp_path), "global_step") == 8


def test_hooks_see_the_runs():
    x = v1.placeholder(tf.float32, [])
    y = x * 2.0
    seen = []

    class Watch(train.SessionRunHook):
        def before_run(self, run_context):
            return train.SessionRunArgs(y)

        def after_run(self, run_context, run_values):
            seen.append(run_values.results)

        def end(self, session):
            seen.append("end")

    with train.MonitoredSession(hooks=[Watch()]) as sess:
        assert sess.run(y, {x: 4.0}) == 8.0
    assert seen == [8.0, "end"]
    with pytest.raises(train.NanLossDuringTrainingError), tf.Graph().as_default():
        z = tf.constant(float("nan"))
        with train.MonitoredSession(hooks=[train.NanTensorHook(z)]) as sess:
            sess.run(z)


# --- where ops run -------------------------------------------------------------------------------


def test_a_session_tells_where_ops_run(capfd):
    x = v1.placeholder(tf.float32, [2, 2])
    y = tf.matmul(x, x, name="product")
    with (
        v1.Session() as silent,
        v1.Session(config=v1.ConfigProto(log_device_placement=True)) as sess,
    ):
        silent.run(y, {x: np.eye(2)})
        assert not capfd.readouterr().err
        for _ in range(3):
            sess.run(y, {x: np.eye(2)})
        told = capfd.readouterr().err.splitlines()
        silent.run(y, {x: np.eye(2)})
        assert not capfd.readouterr().err
    assert told
    assert all(
        "matmul" in line and line.endswith(" /job:localhost/replica:0/task:0/device:CPU:0")
        for line in told
    )


def test_functions_of_a_session_told_by_names():
    options = types.SimpleNamespace(feed=["x:0"], fetch=["twice:0"], target=[], run_options=None)
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        v = tf.Variable(1.0)
        kept = [tf.add(x, x, name="twice"), v.assign_add(2.0, name="more")]
        session.run(v.initializer)
        options.target.append(kept[1].op.name)
        run = session._make_callable_from_options(options)
        assert [run([1.0, 2.0])[0].tolist(), run([3.0, 4.0])[0].tolist()] == [[2, 4], [6, 8]]
        assert session.run(v) == 5.0
