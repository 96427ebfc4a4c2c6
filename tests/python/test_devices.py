"""Ops on the emulated device give what they give on the CPU; its memory is counted and bounded."""

import os
import re
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from op_cases import CASES, Draw, dtypes_of
from test_op_properties import ALL, OPS, bits, run

import tidemark as tf
from tidemark import _tidemark

NAME = "/device:EMULATED:0"


def on_device(op, example):
    """The outputs of a call on the device, as arrays."""
    tf.random.set_seed(7)
    inputs = []
    for x in example.inputs:
        t = tf.constant(x) if isinstance(x, np.ndarray) else x
        if isinstance(t, tf.Tensor) and t.dtype != tf.string:
            t = _tidemark.copied_to(t, "emulated:0")
        inputs.append(t)
    with tf.device(NAME):
        results = _tidemark.call(op, inputs, example.attrs)
    results = results if isinstance(results, list) else [results]
    return [np.array(r.numpy(), object if r.dtype == tf.string else None) for r in results]


@pytest.mark.hypothesis
@pytest.mark.parametrize("op", ALL)
def test_ops_have_the_bits_they_have_on_the_cpu(op):
    @settings(
        deadline=None, suppress_health_check=list(HealthCheck), database=None,
        max_examples=3, phases=[Phase.generate],
    )  # fmt: skip
    @given(st.data())
    def one(data):
        dtype = data.draw(st.sampled_from(dtypes_of(OPS[op])), label="dtype")
        example = CASES[op](Draw(data, op, dtype))
        for a, b in zip(run(op, example), on_device(op, example), strict=True):
            assert (a.shape, a.dtype) == (b.shape, b.dtype)
            assert bits(a) == bits(b)

    with np.errstate(all="ignore"):
        one()


def test_where_tensors_are():
    x = tf.ones((3, 4))
    assert x.device.endswith("device:CPU:0")
    with tf.device(NAME):
        y = x * 2.0
        sizes = tf.shape(y) + 1
        with tf.device("/CPU:0"):
            z = x * 2.0
    assert y.device.endswith("device:EMULATED:0")
    assert sizes.device.endswith("device:CPU:0")
    assert z.device.endswith("device:CPU:0")
    assert float(tf.reduce_sum(y)) == 24.0
    np.testing.assert_array_equal(np.asarray(y), np.full((3, 4), 2.0))
    np.testing.assert_array_equal(memoryview(y), np.full((3, 4), 2.0))
    assert (x * 2.0).device.endswith("device:CPU:0")


def test_constants_are_made_where_they_belong():
    with tf.device(NAME):
        before = tf.memory.stats("emulated:0").live
        x = tf.constant([[1.0, 2.0]], shape=(2, 1))
        assert tf.memory.stats("emulated:0").live > before
        many, few, text = tf.constant(list(range(100))), tf.constant([1, 2]), tf.constant("a")

        @tf.function
        def f(y):
            return y + tf.constant([[10.0], [20.0]])

        np.testing.assert_array_equal(f(x).numpy(), [[11.0], [22.0]])
    assert x.device.endswith("device:EMULATED:0") and many.device.endswith("device:EMULATED:0")
    assert few.device.endswith("device:CPU:0") and text.device.endswith("device:CPU:0")
    np.testing.assert_array_equal(x.numpy(), [[1.0], [2.0]])
    assert many.numpy().tolist() == list(range(100))


def test_variables_are_made_on_the_device():
    with tf.device(NAME):
        v, count = tf.Variable(np.ones((3, 4))), tf.Variable(0)
        address = v._operand()._data_address
        v[1, 2].assign(5.0)
        v.assign_add(np.ones((3, 4)))
        count.assign_add(1)
    assert v._operand()._data_address == address, "updated where it lies"
    assert v.device.endswith("device:EMULATED:0") and count.device.endswith("device:CPU:0")
    kept = tf.Variable(v.value())
    assert kept.device.endswith("device:EMULATED:0"), "a value stays where it is"
    assert kept.numpy()[1, 2] == 6.0


def test_late_errors_say_which_line_they_are_about():
    with tf.device(NAME):
        x = tf.constant([1.0, 2.0])
        wrong = tf.gather(x, [7])  # the line
        after = x + 1.0
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"indices\[0\] = 7") as info:
        wrong.numpy()
    line = test_late_errors_say_which_line_they_are_about.__code__.co_firstlineno + 3
    assert f"enqueued at test_devices.py:{line}" in str(info.value)
    assert after.numpy().tolist() == [2.0, 3.0]


def test_dlpack_hands_out_copies_on_the_host():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    there = _tidemark.copied_to(tf.constant(x), "emulated:0")
    for options in ({}, {"copy": True}, {"max_version": (1, 0)}):
        capsule = there.__dlpack__(**options)
        assert tf.experimental.dlpack.from_dlpack(capsule).numpy().tolist() == x.tolist()
    with pytest.raises(BufferError, match="emulated:0 is handed out as a copy"):
        there.__dlpack__(copy=False)


def test_a_device_that_is_not_there():
    with pytest.raises(tf.errors.InvalidArgumentError, match="There is no device"):
        tf.device("/device:EMULATED:99").__enter__()


def test_gradients():
    with tf.device(NAME):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(tf.matmul(v, v)))
        gradient = tape.gradient(loss, v)
        v.assign_sub(0.01 * gradient)
    a = np.array([[1.0, 2.0], [3.0, 4.0]])
    want = 2 * (a @ a @ a.T + a.T @ a @ a)
    np.testing.assert_allclose(gradient.numpy(), want, rtol=1e-5)
    np.testing.assert_allclose(v.numpy(), a - 0.01 * want, rtol=1e-5)


def test_functions_of_tensors_on_the_device():
    @tf.function
    def f(x, y):
        if tf.reduce_sum(x) > 3.0:
            return tf.nn.softmax(tf.matmul(x, y))
        return x + y

    a, b = tf.ones((2, 2)), tf.fill((2, 2), 0.5)
    x, y = _tidemark.copied_to(a, "emulated:0"), _tidemark.copied_to(b, "emulated:0")
    for _ in range(3):
        result = f(x, y)
        np.testing.assert_array_equal(result.numpy(), f(a, b).numpy())
        np.testing.assert_array_equal(f(x * 0.1, y).numpy(), f(a * 0.1, b).numpy())


def layers(x, w):
    for _ in range(3):
        x = tf.tanh(tf.matmul(x, w))
    return x, tf.reduce_sum(x)


def normal(*shape):
    return tf.random.stateless_normal(shape, (len(shape), shape[0]))


def there(*tensors):
    return [_tidemark.copied_to(t, "emulated:0") for t in tensors]


def test_functions_are_planned_on_the_device():
    f = tf.function(layers)
    x, w = normal(32, 64), normal(64, 64)
    given = there(x, w)
    plan = f.plan(*given)
    (host,) = plan.devices
    assert plan.device == "emulated:0" and host.name == "cpu:0"
    assert host.arena == 0 and plan.copies == []
    assert plan.arena + plan.results >= plan.peak >= plan.lower_bound == 2 * 32 * 64 * 4
    assert {step.device for step in plan.steps} == {"emulated:0"}
    assert " on emulated:0, 0 B on cpu:0" in str(plan).splitlines()[0]
    for got, want in zip(f(x, w), layers(x, w), strict=True):
        np.testing.assert_allclose(got, want, atol=1e-4)  # products of products
    wanted = f(x, w)  # by fused steps, as there
    for _ in range(3):
        for got, want in zip(f(*given), wanted, strict=True):
            assert got.device.endswith("EMULATED:0")
            assert got.numpy().tobytes() == want.numpy().tobytes()
    assert tf.memory.stats("emulated:0").planned >= plan.arena
    assert re.search(r"\nemulated:0  live .* \+ planned [1-9]", str(tf.memory.report()))


def test_scopes_in_a_function_are_kept_and_copies_are_shown():
    @tf.function
    def f(x):
        with tf.device(NAME):
            y = tf.tanh(x)
        with tf.device("/CPU:0"):
            return y, x + 1.0

    x = normal(8, 16)
    for _ in range(3):
        y, z = f(x)
        assert y.device.endswith("EMULATED:0")
        assert z.device.endswith("CPU:0")
        np.testing.assert_array_equal(y.numpy(), tf.tanh(x).numpy())
    (copy,) = f.plan(x).copies
    assert (copy.source, copy.target) == ("cpu:0", "emulated:0")
    assert copy.bytes == 8 * 16 * 4
    assert "1 copies between devices" in str(f.plan(x))


def test_ten_thousand_planned_steps_are_flat_on_both_sides():
    with tf.device(NAME):
        w = tf.Variable(normal(16, 16) * 0.1)
        x = tf.identity(normal(4, 16))

        @tf.function
        def step():
            with tf.GradientTape() as tape:
                loss = tf.reduce_sum(tf.square(tf.matmul(x, w)))
            w.assign_sub(1e-4 * tape.gradient(loss, w))
            return loss

        first = float(step())
        for _ in range(100):
            step()
        host, device = tf.memory.stats(), tf.memory.stats("emulated:0")
        for _ in range(10_000):
            loss = step()
        assert float(loss) < first
        del loss
    assert tf.memory.stats().live <= host.live + 4096
    assert tf.memory.stats("emulated:0").committed == device.committed
    assert tf.memory.stats("emulated:0").live == device.live
    assert w.device.endswith("EMULATED:0")


def test_a_plan_over_the_limit_is_refused_before_it_runs():
    @tf.function
    def f(x):
        parts = [tf.tanh(x * float(i)) for i in range(1, 9)]
        return tf.reduce_sum(tf.concat(parts, 0))

    x = tf.ones((1 << 17,))
    (given,) = there(x)
    wanted = float(f(x))
    assert wanted == pytest.approx(float(f.python_function(x)), rel=1e-6)
    before = tf.memory.stats("emulated:0").live
    old = tf.memory.set_limit(before + (2 << 20), device="emulated:0")
    try:
        for _ in range(2):
            with pytest.raises(tf.errors.ResourceExhaustedError, match="emulated:0"):
                f(given)
                f(given)
    finally:
        tf.memory.set_limit(old, device="emulated:0")
    assert tf.memory.stats("emulated:0").live == before
    assert float(f(given)) == wanted


def test_other_threads_run_while_one_waits_for_the_device():
    turns, done = [], threading.Event()

    def count():
        while not done.wait(0.001):
            turns.append(time.monotonic())

    x = _tidemark.copied_to(tf.ones((700, 700)) / 700.0, "emulated:0")
    counting = threading.Thread(target=count)
    counting.start()
    try:
        for _ in range(20):
            x = x @ x
        began = time.monotonic()
        x.numpy()
        ended = time.monotonic()
    finally:
        done.set()
        counting.join()
    meanwhile = sum(began < turn < ended for turn in turns)
    assert meanwhile > 0 or ended - began < 0.01, (meanwhile, ended - began)


def test_a_limit_holds_and_nothing_is_lost():
    before = tf.memory.stats("emulated:0").live
    old = tf.memory.set_limit(before + (4 << 20), device="emulated:0")
    try:
        kept = _tidemark.copied_to(tf.ones((1 << 18,)), "emulated:0")
        with pytest.raises(tf.errors.ResourceExhaustedError, match="limit of emulated:0") as info:
            _tidemark.copied_to(tf.ones((4 << 20,)), "emulated:0")
        assert "test_devices.py" in str(info.value)
        assert float(kept[0]) == 1.0
        _tidemark.copied_to(tf.ones((100,)), "emulated:0")
    finally:
        tf.memory.set_limit(old, device="emulated:0")


def test_the_report_and_the_counters():
    kept = _tidemark.copied_to(tf.ones((1 << 16,)), "emulated:0")
    stats = tf.memory.stats("emulated:0")
    assert stats.live + stats.planned + stats.retained == stats.committed <= stats.limit
    assert stats.tensor_bytes >= 4 * kept.shape.num_elements()
    assert "\nemulated:0  live " in str(tf.memory.report())


def test_ten_thousand_steps_are_flat_on_both_sides():
    w = _tidemark.copied_to(tf.fill((64, 64), 0.01), "emulated:0")
    x = _tidemark.copied_to(tf.ones((8, 64)), "emulated:0")

    def step():
        return tf.reduce_sum(tf.nn.relu(tf.matmul(x, w)))

    for _ in range(100):
        float(step())
    host, device = tf.memory.stats().live, tf.memory.stats("emulated:0")
    for _ in range(10_000):
        result = step()
    float(result)
    del result
    assert tf.memory.stats().live <= host + 4096
    assert tf.memory.stats("emulated:0").committed == device.committed


def test_a_forked_process_is_told():
    x = _tidemark.copied_to(tf.ones((4,)), "emulated:0")
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            x.numpy()
            os.write(write, b"no error")
        except tf.errors.FailedPreconditionError as error:
            os.write(write, str(error).encode())
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    os.close(write)
    assert "before this process was forked" in os.read(read, 1000).decode()
    os.close(read)
    assert x.numpy().tolist() == [1.0] * 4


PROGRAM = """
import tidemark as tf
x = tf.random.stateless_normal((16, 8), (1, 2))
w = tf.Variable(tf.random.stateless_normal((8, 4), (3, 4)))
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.softmax(x @ w)[:, 0])
    w.assign_sub(0.1 * tape.gradient(loss, w))
print(loss.device[-10:], w.numpy().tolist())
"""


def test_a_program_runs_there_by_a_setting():
    def output(**environment):
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True,
            env={**os.environ, **environment},
        )  # fmt: skip
        return done.stdout.partition(" ")

    place, _, values = output(TIDEMARK_DEVICE="emulated", TIDEMARK_EMULATED_DELAY="50")
    assert place == "EMULATED:0"
    assert values == output(TIDEMARK_DEVICE="cpu")[2]


def test_where_ops_run_is_told(capfd):
    def where(name):
        return f"/job:localhost/replica:0/task:0/device:{name}"

    @tf.function
    def f(x):
        return tf.matmul(tf.matmul(x, x), x)

    x = tf.ones((3, 3))
    tf.debugging.set_log_device_placement(True)
    try:
        with tf.device(NAME):
            y = tf.matmul(x, x)
            for _ in range(4):  # what is called again is planned
                f(y)
        tf.linalg.svd(x)
    finally:
        tf.debugging.set_log_device_placement(False)
    tf.matmul(x, x)
    told = capfd.readouterr().err.splitlines()
    products = [line for line in told if "matmul" in line]
    assert products[0] == f"Executing op matmul in device {where('EMULATED:0')}"
    assert products[-1] == f"matmul: (matmul): {where('EMULATED:0')}"
    assert len(products) <= 5  # one here, two of the first call, two of the plan
    assert told[-1] == f"Executing op svd in device {where('CPU:0')}"
