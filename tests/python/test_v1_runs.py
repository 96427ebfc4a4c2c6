"""How sessions run: deadlines, closing while running, traces, budgets, runs in parts, callables."""

from __future__ import annotations

import threading
import time

import flat
import numpy as np
import pytest
import tidemark.compat.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as made:
        yield made


# --- time ----------------------------------------------------------------------------------------


def test_a_run_over_its_time_stops():
    i = tf.placeholder(tf.float32, [], name="start")
    loop = tf.while_loop(lambda i: i >= 0.0, lambda i: i + 1.0, [i])
    with tf.Session() as sess:
        began = time.monotonic()
        with pytest.raises(tf.errors.DeadlineExceededError, match="100 ms"):
            sess.run(loop, {i: 0.0}, options=tf.RunOptions(timeout_in_ms=100))
        assert time.monotonic() - began < 20
        assert sess.run(i + 1.0, {i: 1.0}, options=tf.RunOptions(timeout_in_ms=60_000)) == 2.0
    hurried = tf.Session(config=tf.ConfigProto(operation_timeout_in_ms=100))
    with hurried, pytest.raises(tf.errors.DeadlineExceededError):
        hurried.run(loop, {i: 0.0})


def test_closing_stops_runs_under_way():
    i = tf.placeholder(tf.float32, [], name="start")
    loop = tf.while_loop(lambda i: i >= 0.0, lambda i: i + 1.0, [i])
    sess, raised = tf.Session(), []

    def run():
        try:
            sess.run(loop, {i: 0.0})
        except tf.errors.OpError as error:
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    time.sleep(0.3)
    sess.close()
    thread.join(20)
    assert not thread.is_alive()
    assert isinstance(raised[0], tf.errors.CancelledError)
    with pytest.raises(RuntimeError, match="closed Session"):
        sess.run(i, {i: 1.0})


def test_bad_options():
    with tf.Session() as sess:
        with pytest.raises(TypeError, match="RunOptions"):
            sess.run(tf.constant(1), options=3)
        with pytest.raises(ValueError, match="at least 0"):
            sess.run(tf.constant(1), options=tf.RunOptions(timeout_in_ms=-1))
        with pytest.raises(AttributeError, match="timeout"):
            tf.RunOptions().timeout = 3


# --- traces --------------------------------------------------------------------------------------


def test_a_trace_tells_time_memory_and_line_of_each_op():
    x = tf.placeholder(tf.float32, [None, 64], name="x")
    y = tf.matmul(x, tf.ones([64, 32]), name="product")
    z = tf.reduce_sum(y, name="total")
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        sess.run(z, {x: np.ones((100, 64))}, options=options, run_metadata=metadata)
    (device,) = metadata.step_stats.dev_stats
    assert "CPU" in device.device
    nodes = {node.node_name: node for node in device.node_stats}
    product = nodes["product"]
    assert product.memory[0].live_bytes >= 100 * 32 * 4
    assert product.memory[0].peak_bytes >= product.memory[0].live_bytes
    assert "test_v1_runs.py" in product.timeline_label and "product" in product.timeline_label
    described = product.output[0].tensor_description
    assert [dim.size for dim in described.shape.dim] == [100, 32]
    assert described.allocation_description.requested_bytes == 100 * 32 * 4
    assert product.all_start_micros > 0 and nodes["total"].all_start_micros >= (
        product.all_start_micros
    )
    costs = {node.name: node for node in metadata.cost_graph.node}
    assert costs["product"].output_info[0].size == 100 * 32 * 4
    again = tf.RunMetadata.FromString(metadata.SerializeToString())
    assert again == metadata


def test_without_a_level_nothing_is_traced():
    metadata = tf.RunMetadata()
    with tf.Session() as sess:
        assert sess.run(tf.constant(2), run_metadata=metadata) == 2
        sess.run(tf.constant(2), options=tf.RunOptions(), run_metadata=metadata)
    assert metadata == tf.RunMetadata()


def test_tracing_stays_flat():
    x = tf.placeholder(tf.float32, [8])
    y = tf.reduce_sum(x * 2.0)
    values, options = np.ones(8, np.float32), tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
    with tf.Session() as sess:
        flat.assert_flat(
            lambda: sess.run(y, {x: values}, options=options, run_metadata=tf.RunMetadata()),
            rounds=1000,
        )


# --- budgets -------------------------------------------------------------------------------------


def small_session(megabytes):
    from tidemark._v1 import config

    options = tf.GPUOptions(per_process_gpu_memory_fraction=megabytes * 2**20
                            / config.machine_memory())  # fmt: skip
    return tf.Session(config=tf.ConfigProto(gpu_options=options))


def test_a_fraction_of_memory_is_a_limit_that_names_holders():
    n = tf.placeholder(tf.int32, [])
    kept = tf.get_variable("kept", initializer=tf.zeros([1 << 20]))  # 4 MiB
    large = tf.fill([n], 1.0, name="large") * 2.0
    with small_session(16) as sess:
        sess.run(kept.initializer)
        assert sess.run(large, {n: 1000}).shape == (1000,)
        with pytest.raises(tf.errors.ResourceExhaustedError) as raised:
            sess.run(large, {n: 8 << 20})
        text = str(raised.value)
        assert "session" in text and "MiB" in text and "test_v1_runs.py" in text
        assert sess.run(large, {n: 1000}).shape == (1000,)  # nothing was lost
        assert sess.run(tf.reduce_sum(kept)) == 0.0
    with tf.Session() as sess:
        assert sess.run(large, {n: 8 << 20}).shape == (8 << 20,)


def test_configurations():
    config = tf.ConfigProto(device_count={"GPU": 0}, allow_soft_placement=True)
    config.gpu_options.allow_growth = True
    config.graph_options.optimizer_options.global_jit_level = tf.OptimizerOptions.ON_1
    assert tf.ConfigProto.FromString(config.SerializeToString()) == config
    with tf.Session(config=config) as sess:
        assert sess.run(tf.constant(3)) == 3
    with pytest.raises(TypeError, match="ConfigProto"):
        tf.Session(config={"gpu": 1})
    with pytest.raises(ValueError, match="threads"):
        tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=-2))
    with pytest.raises(ValueError, match="fraction"):
        tf.Session(config=tf.ConfigProto(
            gpu_options=tf.GPUOptions(per_process_gpu_memory_fraction=-1.0)))  # fmt: skip


def test_threads_of_a_configuration():
    import tidemark as tf2

    before = tf2.config.threading.get_intra_op_parallelism_threads()
    try:
        with tf.Session(config=tf.ConfigProto(intra_op_parallelism_threads=1)) as sess:
            assert sess.run(tf.reduce_sum(tf.ones([1000]))) == 1000.0
        assert tf2.config.threading.get_intra_op_parallelism_threads() == 1
    finally:
        tf2.config.threading.set_intra_op_parallelism_threads(before)


# --- runs in parts -------------------------------------------------------------------------------


def test_a_run_in_parts_computes_everything_once():
    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    noise = tf.random_uniform([])
    first = a + noise
    second = first * b
    with tf.Session() as sess:
        handle = sess.partial_run_setup([first, second, noise], [a, b])
        one = sess.partial_run(handle, first, {a: 1.0})
        two = sess.partial_run(handle, second, {b: one})
        drawn = sess.partial_run(handle, noise)
        assert one == np.float32(1.0) + drawn
        assert two == one * one
        with pytest.raises(tf.errors.InvalidArgumentError, match="partial_run_setup"):
            sess.partial_run(handle, first)


def test_parts_that_do_not_fit():
    a, b = tf.placeholder(tf.float32, [], name="a"), tf.placeholder(tf.float32, [], name="b")
    y, z = tf.add(a, 1.0, name="y"), tf.multiply(a, b, name="z")
    with tf.Session() as sess:
        handle = sess.partial_run_setup([y, z], [a, b])
        with pytest.raises(tf.errors.InvalidArgumentError, match="a:0"):
            sess.partial_run(handle, y)
        sess.partial_run(handle, y, {a: 1.0})
        with pytest.raises(tf.errors.InvalidArgumentError, match="y:0"):
            sess.partial_run(handle, y)
        with pytest.raises(tf.errors.InvalidArgumentError, match="a:0"):
            sess.partial_run(handle, z, {a: 2.0, b: 2.0})
        assert sess.partial_run(handle, z, {b: 3.0}) == 3.0


# --- callables -----------------------------------------------------------------------------------


def test_callables():
    x, y = tf.placeholder(tf.float32, [], name="x"), tf.placeholder(tf.float32, [], name="y")
    tf.add(x, y, name="sum")
    with tf.Session() as sess:
        call = sess.make_callable("sum:0", ["x:0", y])
        assert call(1.0, 2.0) == 3.0
        both = sess.make_callable([x * y, x - y], [x, y])
        assert both(3.0, 2.0) == [6.0, 1.0]
        named = sess.make_callable({"p": x * 2.0}, [x], accept_options=True)
        metadata = tf.RunMetadata()
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert named(2.0, options=options, run_metadata=metadata) == {"p": 4.0}
        assert len(metadata.step_stats.dev_stats[0].node_stats) > 0
        with pytest.raises(ValueError, match="2 values are fed"):
            call(1.0)
        with pytest.raises(TypeError, match="accept_options"):
            call(1.0, 2.0, options=options)
    with pytest.raises(RuntimeError, match="closed"):
        call(1.0, 2.0)


# --- messages ------------------------------------------------------------------------------------


def test_errors_name_the_node_and_its_line():
    x = tf.placeholder(tf.float32, [None], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    z = tf.add(x, y, name="total")
    v = tf.get_variable("v", [2])
    gathered = tf.gather(x, tf.placeholder_with_default([5], [1]), name="picked")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            sess.run(z, {x: [1.0]})
        assert "'y:0'" in str(raised.value) and "test_v1_runs.py" in str(raised.value)
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            sess.run(z, {x: [1.0, 2.0], y: [1.0, 2.0, 3.0]})
        assert "{{node total}}" in str(raised.value) and "test_v1_runs.py" in str(raised.value)
        with pytest.raises(tf.errors.FailedPreconditionError) as raised:
            sess.run(v * 2.0)
        assert "uninitialized value v" in str(raised.value) and "{{node v}}" in str(raised.value)
        with pytest.raises(tf.errors.InvalidArgumentError) as raised:
            sess.run(gathered, {x: [1.0]})
        assert "{{node picked}}" in str(raised.value)
        with pytest.raises(ValueError, match="shape.*'x:0'"):
            sess.run(z, {x: [[1.0]], y: [1.0]})
        with pytest.raises(ValueError, match="could not convert|'x:0'"):
            sess.run(z, {x: ["a"], y: [1.0]})
    with tf.Graph().as_default(), tf.Session() as other:
        with pytest.raises(ValueError, match="not an element of this graph"):
            other.run(z)
        with pytest.raises(TypeError, match="Cannot interpret feed_dict key"):
            other.run(tf.constant(1), {x: [1.0]})
