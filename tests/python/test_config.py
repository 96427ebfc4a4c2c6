"""tf.config and tf.device: names, defaults and errors of TensorFlow on a machine with a CPU."""

import logging
import threading

import pytest

import tidemark as tf

CPU = tf.config.PhysicalDevice("/physical_device:CPU:0", "CPU")


def test_devices():
    assert tf.config.list_physical_devices() == [CPU]
    assert repr(CPU) == "PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')"
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_logical_devices() == [tf.config.LogicalDevice("/device:CPU:0", "CPU")]
    assert tf.config.get_visible_devices() == [CPU]
    tf.config.set_visible_devices([], "GPU")
    with pytest.raises(RuntimeError, match="Visible devices cannot be modified"):
        tf.config.set_visible_devices([], "CPU")
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices([tf.config.PhysicalDevice("x", "GPU")])


def test_tensors_know_their_device():
    assert tf.constant(1).device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert tf.constant(1).backing_device == tf.constant(1).device


def test_memory_info_works_on_the_cpu():
    before = tf.config.experimental.get_memory_info("CPU:0")
    x = tf.ones([1 << 16])
    during = tf.config.experimental.get_memory_info("CPU:0")
    assert (
        during["current"] >= before["current"] + (1 << 18) and during["peak"] >= during["current"]
    )
    del x
    assert tf.config.experimental.get_memory_info("CPU:0")["current"] == before["current"]
    tf.config.experimental.reset_memory_stats("CPU:0")
    after = tf.config.experimental.get_memory_info("CPU:0")
    assert after["peak"] == after["current"]
    with pytest.raises(ValueError, match="No matching devices found for 'GPU:0'"):
        tf.config.experimental.get_memory_info("GPU:0")


def test_without_a_gpu_programs_go_on_and_are_told_why():
    if tf.config.list_physical_devices("GPU"):
        pytest.skip("there is one: tests/gpu/run")
    assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == ""
    with tf.device("/GPU:0"):
        assert (tf.ones(2) + 1.0).device.endswith("device:CPU:0")
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="no GPU: "), tf.device("/GPU:0"):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


def test_memory_growth_is_how_it_is():
    tf.config.experimental.set_memory_growth(CPU, True)
    assert tf.config.experimental.get_memory_growth(CPU) is True


def test_logical_configuration_limits_memory():
    assert tf.config.get_logical_device_configuration(CPU) is None
    old = tf.memory.get_limit()
    wanted = tf.config.LogicalDeviceConfiguration(memory_limit=512)
    try:
        tf.config.set_logical_device_configuration(CPU, [wanted])
        assert tf.memory.get_limit() == 512 << 20
        assert tf.config.get_logical_device_configuration(CPU) == [wanted]
    finally:
        tf.memory.set_limit(old)
        tf.config._devices._state["configuration"].clear()


def test_threads():
    assert tf.config.threading.get_intra_op_parallelism_threads() == 0
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        one = tf.reduce_sum(tf.range(1_000_000, dtype=tf.float32)).numpy()
        tf.config.threading.set_intra_op_parallelism_threads(2)
        assert tf.config.threading.get_intra_op_parallelism_threads() == 2
        assert tf.reduce_sum(tf.range(1_000_000, dtype=tf.float32)).numpy() == one
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(0)
    with pytest.raises(ValueError, match="number of threads"):
        tf.config.threading.set_inter_op_parallelism_threads(-1)


def test_switches():
    assert tf.config.get_soft_device_placement() is True
    assert tf.config.functions_run_eagerly() is False
    assert tf.config.experimental.get_device_policy() == "silent"
    with pytest.raises(ValueError, match="Invalid argument `device_policy`: 'foo'"):
        tf.config.experimental.set_device_policy("foo")
    assert tf.config.optimizer.get_jit() == ""


@pytest.mark.parametrize(
    "name", ["/CPU:0", "cpu", "/device:CPU:0", None, "", "/job:localhost/replica:0/task:0/cpu:0",
             "/gpu:0", "/GPU:3", tf.DeviceSpec(device_type="CPU", device_index=0)]
)  # fmt: skip
def test_device_scopes(name):
    with tf.device(name):
        assert (tf.constant([1.0]) + 1).numpy() == [2]


def test_device_scopes_nest_per_thread():
    seen = []
    with tf.device("/CPU:0"):
        with tf.device("/gpu:0"):
            pass
        thread = threading.Thread(target=lambda: seen.append(tf.ones([1]).numpy()[0]))
        thread.start()
        thread.join()
    assert seen == [1]


def test_bad_device_names():
    with pytest.raises(ValueError, match="Unknown attribute 'foo' is encountered while parsing"):
        tf.device("foo").__enter__()
    with pytest.raises(RuntimeError, match="tf.device does not support functions"):
        tf.device(lambda op: "cpu")


def test_hard_placement():
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not satisfy"):
            tf.device("/gpu:0").__enter__()
        with tf.device("/cpu:0"):
            pass
    finally:
        tf.config.set_soft_device_placement(True)


def test_device_specs():
    spec = tf.DeviceSpec.from_string("/job:a/gpu:1")
    assert spec.to_string() == "/job:a/device:GPU:1"
    assert (
        repr(spec)
        == "<DeviceSpec(job=a, replica=None, task=None, device_type=GPU, device_index=1)>"
    )
    assert spec.replace(device_index=0).to_string() == "/job:a/device:GPU:0"
    other = tf.DeviceSpec(device_type="CPU", device_index=0)
    assert spec.make_merged_spec(other).to_string() == "/job:a/device:CPU:0"


def test_names_and_versions():
    assert tf.executing_eagerly() and tf.version.VERSION == tf.__version__ == "2.21.0"
    with tf.name_scope("a") as scope:
        assert scope == "a/"
        with tf.name_scope("b"):
            assert tf.get_current_name_scope() == "a/b"
    assert tf.get_current_name_scope() == ""
    with pytest.raises(ValueError, match="must be a string"):
        tf.name_scope(3)
    level = tf.get_logger().level
    tf.get_logger().setLevel("ERROR")
    assert tf.get_logger().level == logging.ERROR
    tf.get_logger().setLevel(level)
    assert tf.is_tensor(tf.constant(1)) and not tf.is_tensor(1)
    assert "math" in dir(tf) and "device" in dir(tf)
    with pytest.raises(AttributeError, match="has no attribute 'no_such_thing'"):
        _ = tf.no_such_thing
