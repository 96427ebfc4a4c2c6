"""What must hold on a GPU, one function each; run by tests/gpu/run.

A check returns what it measured, in words, and raises where something is wrong. On a machine
without a GPU all are skipped, and the reason is noted.
"""

import argparse
import importlib.util
import json
import re
import subprocess
import sys
import threading
import time
import traceback
from pathlib import Path

import numpy as np
from families import FAMILIES
from tidemark.config._devices import gpu_count, why_no_gpu

import tidemark as tf
from tidemark import _tidemark

GPU, GPU_NAME = "gpu:0", "/GPU:0"
CHECKS = []
# Relative to the result: docs/devices.md.
TOLERANCE = {"float64": 1e-12, "float32": 4e-6, "float16": 4e-3, "bfloat16": 3.2e-2}
FLOATS = ["float32", "float64", "float16", "bfloat16"]
INTS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


def check(function):
    CHECKS.append(function)
    return function


def on_gpu(op, inputs, **attrs):
    """The first output of a call there, which must have been computed there."""
    moved = [_tidemark.copied_to(t, GPU) for t in inputs]
    result = _tidemark.call(op, moved, attrs)
    return result[0] if isinstance(result, list) else result


def on_cpu(op, inputs, **attrs):
    result = _tidemark.call(op, inputs, attrs)
    return result[0] if isinstance(result, list) else result


def drawn(dtype, shape, seed):
    random = np.random.default_rng(seed)
    if dtype == "bool":
        return tf.constant(random.integers(0, 2, shape).astype(bool))
    if dtype in INTS:
        return tf.cast(tf.constant(random.integers(-(2**40), 2**40, shape)), dtype)
    values = random.uniform(-3, 3, shape)
    values.flat[::17] = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan][seed % 7]
    return tf.cast(tf.constant(values), dtype)


def difference(wanted, given):
    """The largest relative one, over the tolerance of the dtype: at most 1 is right."""
    assert wanted.shape == given.shape, f"shape {given.shape}, not {wanted.shape}"
    assert wanted.dtype == given.dtype, f"{given.dtype}, not {wanted.dtype}"
    allowed = TOLERANCE.get(wanted.dtype.name, 0)
    a = np.asarray(tf.cast(wanted, "float64") if allowed else wanted)
    b = np.asarray(tf.cast(given, "float64") if allowed else given)
    if not allowed:
        np.testing.assert_array_equal(a, b)
        return 0.0
    with np.errstate(all="ignore"):
        apart = np.abs(a - b) / np.maximum(np.abs(a), 1e-4 if allowed > 1e-3 else 1e-30)
    apart[(a == b) | (np.isnan(a) & np.isnan(b))] = 0
    return float(np.nan_to_num(apart, nan=np.inf).max(initial=0)) / allowed


def is_on_gpu(tensor):
    return tensor.device.endswith("GPU:0")


@check
def devices():
    assert len(tf.config.list_physical_devices("GPU")) == gpu_count()
    assert tf.test.is_gpu_available() and tf.test.is_built_with_cuda()
    with tf.device("/GPU:0"):
        x = tf.ones((4, 4)) * 2.0
    assert is_on_gpu(x), x.device
    assert float(np.asarray(x).sum()) == 32.0
    return f"{gpu_count()} GPU(s), limit {_tidemark.device_stats(GPU)['limit']:,} bytes"


@check
def elementwise_ops():
    count, worst, elsewhere, wrong = 0, ("", 0.0), set(), []
    for op in _tidemark.list_ops():
        for dtype in [*FLOATS, *INTS, "bool"]:
            inputs = elementwise_inputs(op, dtype)
            if not inputs:
                continue
            try:
                wanted = on_cpu(op["name"], inputs)
            except (TypeError, ValueError, tf.errors.OpError):
                continue
            given = on_gpu(op["name"], inputs)
            if not is_on_gpu(given):
                elsewhere.add(op["name"])
                continue
            again = on_gpu(op["name"], inputs)
            assert np.asarray(given).tobytes() == np.asarray(again).tobytes(), op["name"]
            apart = difference(wanted, given)
            count += 1
            if apart > 1:
                wrong.append(f"{op['name']} of {dtype}: {apart:.3g}")
            worst = max(worst, (f"{op['name']} of {dtype}", apart), key=lambda one: one[1])
    assert not wrong, f"{len(wrong)} of {count}: {wrong[:20]}"
    assert count > 300, count
    return f"{count} right, worst {worst}; on the host: {sorted(elsewhere)}"


def elementwise_inputs(op, dtype):
    """One tensor an input, the shapes unlike; None where the op takes other things, too."""
    inputs = [p for p in op["params"] if p["kind"] != "attr"]
    if not op["elementwise"] or any(dtype not in p["dtypes"] for p in inputs):
        return None
    shapes = [(37, 5), (5,), (37, 1)]
    return [drawn(dtype, shapes[i % 3], i) for i in range(len(inputs))]


@check
def casts():
    count = 0
    for source in [*FLOATS, *INTS, "bool"]:
        x = drawn(source, (129,), 3)
        for target in [*FLOATS, *INTS, "bool"]:
            given = on_gpu("cast", [x], dtype=target)
            assert is_on_gpu(given)
            apart = difference(on_cpu("cast", [x], dtype=target), given)
            assert apart <= 1, f"{source} to {target}: {apart}"
            count += 1
    return f"{count} pairs"


@check
def choices():
    condition, x, y = (
        drawn("bool", (7, 1), 0),
        drawn("float32", (7, 9), 1),
        drawn("float32", (9,), 2),
    )
    assert difference(on_cpu("select", [condition, x, y]), on_gpu("select", [condition, x, y])) == 0
    return "select"


@check
def movement():
    x, count = drawn("float32", (4, 1, 3, 5), 3), 0
    host = [tf.constant(v) for v in ([2, 4, 6, 3, 5], [2, 3, 1, 2], [1, 0, 0, 2], [2, 1, 3, 2])]
    for op, extra, attrs in [
        ("transpose", [], {"perm": [2, 0, 3, 1]}), ("transpose", [], {}),
        ("broadcast_to", [host[0]], {}), ("tile", [host[1]], {}), ("slice", host[2:], {}),
        ("zeros_like", [], {}),
    ]:  # fmt: skip
        for dtype in ["float32", "float16", "float64", "uint8"]:
            y = tf.cast(x, dtype)
            result = _tidemark.call(op, [_tidemark.copied_to(y, GPU), *extra], attrs)
            assert is_on_gpu(result), op
            wanted = _tidemark.call(op, [y, *extra], attrs)
            assert np.asarray(wanted).tobytes() == np.asarray(result).tobytes(), (op, dtype)
            count += 1
    moved = _tidemark.copied_to(x, GPU)
    for axis in range(4):
        for op in (tf.concat, tf.stack):
            wanted, given = op([x, x + 1.0], axis), op([moved, moved + 1.0], axis)
            assert is_on_gpu(given) and np.asarray(wanted).tobytes() == np.asarray(given).tobytes()
            count += 1
    with tf.device("/GPU:0"):
        filled = tf.fill((3, 5), 2.5)
    assert is_on_gpu(filled) and np.asarray(filled).tolist() == [[2.5] * 5] * 3
    return f"{count} cases"


@check
def reductions():
    count = 0
    for op in ("sum", "mean", "max", "min", "prod"):
        for dtype in [*FLOATS, "int32", "int64", "uint8"]:
            shapes = [((37, 5, 9), [1]), ((37, 5, 9), [0, 2]), ((3, 70000), [1]), ((70000, 3), [0])]
            for shape, axis in shapes:
                x = drawn(dtype, shape, 7 if op == "max" else 1)
                x = x if dtype not in FLOATS else tf.clip_by_value(x, x * 0 + 0.5, x * 0 + 1.0)
                given = on_gpu(op, [x], axis=axis)
                assert is_on_gpu(given), (op, dtype)
                again = on_gpu(op, [x], axis=axis)
                assert np.asarray(given).tobytes() == np.asarray(again).tobytes(), op
                apart = difference(on_cpu(op, [x], axis=axis), given)
                assert apart <= 1, f"{op} of {dtype} {shape} over {axis}: {apart}"
                count += 1
    return f"{count} cases"


@check  # before convolutions and products
def loads_no_library_that_it_does_not_need():
    with open("/proc/self/maps") as maps:
        names = set(re.findall(r"lib(?:cublas|cudnn|cufft|cusolver|nccl)\w*\.so", maps.read()))
    assert not names, names
    return "neither cuBLAS nor cuDNN"


def call_outputs(op, inputs, attrs):
    result = _tidemark.call(op, inputs, attrs)
    return result if isinstance(result, (list, tuple)) else [result]


def compare_family(calls):
    """Each call on the GPU, twice, and on the CPU."""
    count, worst, wrong = 0, ("", 0.0), []
    for op, inputs, attrs in calls:
        name = f"{op} of {', '.join(f'{t.dtype.name}{t.shape}' for t in inputs)} {attrs}"
        moved = [_tidemark.copied_to(t, GPU) for t in inputs]
        given, again = (call_outputs(op, moved, attrs) for _ in range(2))
        for one, other, wanted in zip(given, again, call_outputs(op, inputs, attrs), strict=True):
            count += 1
            if not is_on_gpu(one):
                wrong.append(f"{name}: on {one.device}")
            elif np.asarray(one).tobytes() != np.asarray(other).tobytes():
                wrong.append(f"{name}: other bits the second time")
            else:
                apart = difference(wanted, one)
                worst = max(worst, (name, apart), key=lambda case: case[1])
                if apart > 1:
                    wrong.append(f"{name}: {apart:.3g}")
    assert not wrong, f"{len(wrong)} of {count}: {wrong[:20]}"
    return f"{count} right, worst {worst}"


def add_family_checks():
    for family in FAMILIES:

        def compare(calls=family):
            return compare_family(calls())

        compare.__name__ = f"family_{family.__name__}"
        check(compare)


add_family_checks()


@check
def random_numbers_are_the_cpus():
    """To the bit; truncated normal numbers of float64 are near."""
    count, shape, seed = 0, tf.constant([1001, 77]), tf.constant([5, -9])
    for dtype in FLOATS:
        for kind in ("uniform", "normal", "truncated_normal"):
            drawn_at = []
            for device in ("/CPU:0", "/GPU:0"):
                with tf.device(device):
                    call = _tidemark.call
                    drawn_at.append(
                        call(f"stateless_random_{kind}", [shape, seed], {"dtype": dtype})
                    )
                    tf.random.set_seed(3)
                    drawn_at.append(call(f"random_{kind}", [shape], {"dtype": dtype}))
            assert all(map(is_on_gpu, drawn_at[2:])), [t.device for t in drawn_at]
            for here, there in zip(drawn_at[:2], drawn_at[2:], strict=True):
                count += 1
                if (kind, dtype) == ("truncated_normal", "float64"):
                    np.testing.assert_allclose(np.asarray(there), np.asarray(here), rtol=1e-9)
                else:
                    same = np.asarray(here).tobytes() == np.asarray(there).tobytes()
                    assert same, f"{kind} numbers of {dtype}"
    return f"{count} draws"


@check
def faults_are_typed_errors():
    x = _tidemark.copied_to(tf.constant(np.arange(100, dtype="int32")), GPU)
    for wrong, words in (
        (lambda: x // (x - x), "division by zero"),
        (lambda: tf.gather(tf.cast(x, "float32"), x + 50), "not in [0, 100)"),
    ):
        try:
            np.asarray(wrong())
            raise AssertionError(f"no error says {words}")
        except tf.errors.InvalidArgumentError as error:
            assert words in str(error), error
    assert np.asarray(x // (x + 1)).tolist() == [0] * 100
    return "division by zero, an index outside"


@check
def what_has_no_kernel_runs_on_the_host():
    x = drawn("float32", (6, 6), 2)
    clean = tf.where(tf.math.is_finite(x), x, tf.zeros_like(x))
    wanted, moved = tf.linalg.expm(clean), _tidemark.copied_to(clean, GPU)
    np.testing.assert_array_equal(np.asarray(tf.linalg.expm(moved)), np.asarray(wanted))
    return "expm"


@check
def factors_make_the_matrix():
    worst = 0.0
    for dtype in ("float32", "float64", "complex64", "complex128"):
        for shape in [(30, 20, 20), (2, 150, 60), (3, 40, 70)]:
            random = np.random.default_rng(sum(shape))
            x = random.uniform(-1, 1, shape)
            if dtype.startswith("complex"):
                x = x + 1j * random.uniform(-1, 1, shape)
            x = x.astype(dtype)
            t = _tidemark.copied_to(tf.constant(x), GPU)
            q, r = tf.linalg.qr(t)
            s, u, v = tf.linalg.svd(t)
            assert all(is_on_gpu(one) for one in (q, r, s, u, v))
            q, r, s, u, v = (one.numpy() for one in (q, r, s, u, v))
            whole = (u * s[..., None, :]) @ v.conj().swapaxes(-1, -2)
            made = [(q @ r, x), (whole, x), (q.conj().swapaxes(-1, -2) @ q, np.eye(q.shape[-1]))]
            if shape[-1] == shape[-2]:
                own = x + x.conj().swapaxes(-1, -2)
                e, vectors = tf.linalg.eigh(_tidemark.copied_to(tf.constant(own), GPU))
                assert is_on_gpu(vectors)
                e, vectors = e.numpy(), vectors.numpy()
                back = (vectors * e[..., None, :]) @ vectors.conj().swapaxes(-1, -2)
                made.append((back, own))
            rounding = 1e-5 if dtype in ("float32", "complex64") else 1e-13
            for given, wanted in made:
                worst = max(worst, float(np.abs(given - wanted).max()) / rounding)
    assert worst < 10, worst
    return f"{worst:.2g} of the rounding allowed, at most 10"


@check
def attention_in_one_kernel():
    """Of half types, with the gradient: near what the CPU gives, the same bits each time."""
    worst = 0.0
    for dtype in ("bfloat16", "float16"):
        for batch, queries, keys, depth in [((2, 3), 500, 500, 64), ((1, 2), 130, 300, 32)]:
            for causal, is_masked in [(False, False), (True, False), (False, True)]:
                random = np.random.default_rng(queries + causal)
                sizes = [(queries, depth), (keys, depth), (keys, depth), (queries, depth)]
                q, k, v, dy = (
                    tf.cast(tf.constant(random.normal(size=(*batch, *size))), dtype)
                    for size in sizes
                )
                mask = tf.constant(True)
                if is_masked:
                    mask = tf.constant(random.integers(0, 4, (*batch, queries, keys)) > 0)
                attrs = {"scale": depth**-0.5, "causal": causal}
                y, log_sum = _tidemark.call("attention", [q, k, v, mask], attrs)
                inputs = [q, k, v, mask, y, log_sum, dy, tf.constant(0.0)]
                wanted = [y, log_sum, *_tidemark.call("attention_grad", inputs, attrs)]

                def there(inputs=inputs, attrs=attrs):
                    moved = [_tidemark.copied_to(t, GPU) for t in inputs]
                    forward = _tidemark.call("attention", moved[:4], attrs)
                    return [*forward, *_tidemark.call("attention_grad", moved, attrs)]

                for one, given, again in zip(wanted, there(), there(), strict=True):
                    assert is_on_gpu(given)
                    assert np.asarray(given).tobytes() == np.asarray(again).tobytes()
                    a, b = (tf.cast(t, "float64").numpy() for t in (one, given))
                    apart = np.abs(a - b).max() / np.abs(a).max()
                    worst = max(worst, float(apart) / TOLERANCE[one.dtype.name])
    assert worst <= 1, worst
    return f"{worst:.2g} of the tolerance"


@check
def products():
    count, worst = 0, 0.0
    cases = [
        ((64, 96), (96, 32)),
        ((3, 20, 30), (30, 7)),
        ((2, 1, 5, 6), (4, 6, 8)),
        ((1, 9), (9, 1)),
    ]
    cases += [((512, 1000), (1000, 700))]
    for a_shape, b_shape in cases:
        for dtype in FLOATS:
            for swap_a in (False, True):
                for swap_b in (False, True):
                    random = np.random.default_rng(count)
                    a, b = (
                        tf.cast(tf.constant(random.uniform(0, 1, s)), dtype)
                        for s in (a_shape, b_shape)
                    )
                    a = tf.linalg.matrix_transpose(a) if swap_a else a
                    b = tf.linalg.matrix_transpose(b) if swap_b else b
                    attrs = {"transpose_a": swap_a, "transpose_b": swap_b}
                    given = on_gpu("matmul", [a, b], **attrs)
                    assert is_on_gpu(given)
                    apart = difference(on_cpu("matmul", [a, b], **attrs), given)
                    assert apart <= 1, f"{dtype} {a.shape} {b.shape} {attrs}: {apart}"
                    worst, count = max(worst, apart), count + 1
    whole = tf.cast(np.random.default_rng(0).uniform(0, 1, (65, 31)), "bfloat16")
    moved = _tidemark.copied_to(whole, GPU)
    for first in (1, 3, 8):  # a view that begins anywhere
        wanted = tf.matmul(whole[first : first + 31], whole[:31])
        assert difference(wanted, tf.matmul(moved[first : first + 31], moved[:31])) <= 1
    n = 8192
    a, b = (_tidemark.copied_to(tf.ones((n, n), "bfloat16"), GPU) for _ in range(2))
    seconds = timed(lambda: tf.matmul(a, b))
    return f"{count} right, worst {worst:.2f}; bfloat16 {2 * n**3 / seconds / 1e12:.0f} TFLOP/s"


@check
def memory_goes_back():
    _tidemark.release_device(GPU)
    before = _tidemark.device_stats(GPU)
    x = _tidemark.copied_to(tf.zeros((64, 2**20)), GPU)
    during = _tidemark.device_stats(GPU)
    assert during["committed"] - before["committed"] >= 2**28, during
    del x
    _tidemark.release_device(GPU)
    after = _tidemark.device_stats(GPU)
    assert after["committed"] == before["committed"], (before, after)
    return f"{during['committed'] - before['committed']:,} bytes came and went"


@check
def the_report_agrees_with_the_driver():
    """By torch's question to the driver, where it is there."""
    with tf.device("/GPU:0"):
        kept = tf.ones((2**26,)) * 2.0
    use = _tidemark.device_use(GPU)
    assert use["taken"] == use["committed"] + use["context"] + use["others"], use
    line = re.search(r"^gpu:0  live .*(?:\n .*)?= .*", str(tf.memory.report()), re.MULTILINE)
    assert line, tf.memory.report()
    try:
        import torch
    except ImportError:
        return f"{use}; {line[0]}"
    free, total = torch.cuda.mem_get_info()
    use = _tidemark.device_use(GPU)
    assert abs(total - free - use["taken"]) <= 2**21, (total - free, use)
    assert kept.shape == (2**26,)
    return f"{use}; {line[0]}"


@check
def limits_hold():
    old = _tidemark.set_device_limit(2**30, GPU)
    try:
        with tf.device("/GPU:0"):
            kept = tf.ones((2**26,))
            try:
                tf.ones((2**28,)) * 1.0
                raise AssertionError("a gibibyte came out of three quarters of one")
            except tf.errors.ResourceExhaustedError as error:
                small = tf.ones((2**20,)) * 3.0
                text = str(error)
        assert float(np.asarray(small)[5]) == 3.0 and float(np.asarray(kept)[5]) == 1.0
        assert GPU in text, text
    finally:
        _tidemark.set_device_limit(old, GPU)
    info = tf.config.experimental.get_memory_info("GPU:0")
    return f"{info}; {text.splitlines()[0]}"


@check
def ten_thousand_steps_are_flat():
    with tf.device("/GPU:0"):
        w, x = tf.ones((256, 256)), tf.ones((256, 256))
        seen = []
        for step in range(10_000):
            w = tf.tanh(w * 0.5 + x) - w * 0.001
            if step % 1000 == 999:
                seen.append(_tidemark.device_stats(GPU)["committed"])
        last = float(np.asarray(w)[0, 0])
    assert len(set(seen[1:])) == 1, seen
    return f"{seen[-1]:,} bytes, w = {last:.4f}"


@check
def functions_are_planned():
    @tf.function
    def step(x, y):
        return tf.nn.relu(x * y + 1.0) - tf.exp(-x * x)

    x, y = (np.random.default_rng(i).uniform(-2, 2, (512, 300)).astype("float32") for i in (0, 1))
    wanted = step(tf.constant(x), tf.constant(y))
    a, b = (_tidemark.copied_to(tf.constant(z), GPU) for z in (x, y))
    for _ in range(5):
        given = step(a, b)
    assert is_on_gpu(given), given.device
    # Terms of about 1 may cancel.
    np.testing.assert_allclose(np.asarray(given), np.asarray(wanted), rtol=4e-6, atol=4e-6)
    before = _tidemark.device_stats(GPU)["committed"]
    for _ in range(1000):
        given = step(a, b)
    assert _tidemark.device_stats(GPU)["committed"] == before
    return "the CPU's results, and flat over 1,000 calls"


def recorded_steps():
    """How many there are, as the report lists them: not before the GPU was opened."""
    line = re.search(r"^recorded steps of gpu:0\s+(\d+)", str(tf.memory.report()), re.M)
    return int(line[1]) if line else 0


@check
def steady_steps_are_recorded():
    @tf.function
    def step(x, w):
        for _ in range(12):
            x = tf.tanh(tf.matmul(x, w) * 0.1) * tf.random.uniform((64, 64), seed=3)
        return x

    def results(device, count):
        with tf.device(device):
            tf.random.set_seed(9)
            x, w = (tf.constant(np.linspace(-1, 1, 4096, dtype="float32").reshape(64, 64)) * 1.0
                    for _ in range(2))  # fmt: skip
            return [step(x, w).numpy() for _ in range(count)]

    before = recorded_steps()
    given, again, wanted = results(GPU_NAME, 12), results(GPU_NAME, 12), results("/CPU:0", 12)
    assert recorded_steps() > before
    for one, other, expected in zip(given, again, wanted, strict=True):
        assert one.tobytes() == other.tobytes(), "other bits the second time"
        np.testing.assert_allclose(one, expected, rtol=1e-4, atol=1e-6)
    committed = _tidemark.device_stats(GPU)["committed"]
    with tf.device(GPU_NAME):
        a = tf.ones((64, 64)) * 0.5
        for _ in range(20):
            step(a, a)
        began = time.perf_counter()
        for _ in range(1000):
            step(a, a)
        handed = time.perf_counter() - began
        _tidemark.wait_for_devices()
        seconds = time.perf_counter() - began
    assert _tidemark.device_stats(GPU)["committed"] <= committed + 2**21
    return f"{seconds * 1e3:.1f} us a step of 36 kernels, the host {handed * 1e3:.1f} us"


def trained(device, steps):
    """Losses of a small network, trained by a planned function on a device."""
    random = np.random.default_rng(5)
    with tf.device(device):
        sizes = [(20, 64), (64,), (64, 1)]
        weights = [tf.Variable(random.normal(0, 0.2, s).astype("float32")) for s in sizes]
        x = tf.constant(random.normal(0, 1, (256, 20)).astype("float32")) * 1.0
        y = tf.sin(tf.reduce_sum(x, 1, keepdims=True))

        @tf.function
        def step(x, y):
            with tf.GradientTape() as tape:
                hidden = tf.tanh(tf.matmul(x, weights[0]) + weights[1])
                loss = tf.reduce_mean(tf.square(tf.matmul(hidden, weights[2]) - y))
            for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
                w.assign_sub(0.05 * g)
            return loss

        losses, committed = [], []
        for _ in range(steps):
            losses.append(float(step(x, y)))
            committed.append(_tidemark.device_stats(GPU)["committed"])
    return losses, committed, weights[0].device


@check
def a_network_learns():
    wanted = trained("/CPU:0", 50)[0]
    given, committed, place = trained("/GPU:0", 50)
    np.testing.assert_allclose(given, wanted, rtol=1e-3)
    assert given == trained("/GPU:0", 50)[0], "other losses the second time"
    assert len(set(committed[10:])) == 1, committed
    return f"loss {given[0]:.4f} to {given[-1]:.4f}; variables on {place}"


@check
def four_threads():
    wrong = []

    def work(seed):
        x = drawn("float32", (1000, 100), seed)
        wanted = np.asarray(tf.tanh(x) + x)
        moved = _tidemark.copied_to(x, GPU)
        for _ in range(200):
            given = np.asarray(tf.tanh(moved) + moved)
        if not np.allclose(wanted, given, rtol=1e-5, equal_nan=True):
            wrong.append(seed)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong, wrong
    return "800 rounds"


@check
def four_threads_on_four_streams():
    """In a process of its own: a GPU is divided before it is used."""
    program = str(Path(__file__).with_name("four_streams.py"))
    done = subprocess.run(
        [sys.executable, program], capture_output=True, text=True, check=False, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout.strip()


def lent_to(library, is_there):
    """A tensor goes to another library and back, and stays where it is; so does one of theirs."""
    there = importlib.import_module(library)
    live = _tidemark.device_stats(GPU)["live"]
    x = _tidemark.copied_to(tf.reshape(tf.range(3_000_000, dtype="float32"), (1000, 3000)), GPU)
    taken = _tidemark.device_stats(GPU)["live"] - live
    for _ in range(50):
        y = there.from_dlpack(x * 2.0)
        assert is_there(y), y
        z = tf.experimental.dlpack.from_dlpack((y + 1.0) * 1.0)
        assert z.device.endswith("GPU:0"), z.device
        np.testing.assert_array_equal((z + 1.0).numpy()[::97], x.numpy()[::97] * 2 + 2)
    try:
        tf.experimental.dlpack.from_dlpack(y.T)
    except BufferError as error:
        assert "contiguous" in str(error), error
    else:
        raise AssertionError("strided elements were taken as they are")
    del y, z
    _tidemark.wait_for_devices()
    assert _tidemark.device_stats(GPU)["live"] == live + taken
    return library


@check
def tensors_are_lent_to_others():
    users = {"torch": lambda t: t.is_cuda, "cupy": lambda a: a.device.id == 0}
    found = [name for name in users if importlib.util.find_spec(name)]
    return ", ".join(lent_to(name, users[name]) for name in found) or "nobody is installed"


@check
def attention_takes_little():
    """Long sequences in parts: scores of all queries would take 16 GiB."""
    shape = (1, 2, 32768, 64)
    q, key, value = (_tidemark.copied_to(tf.random.normal(shape, seed=i), GPU) for i in range(3))
    q, key, value = (tf.cast(t, "bfloat16") for t in (q, key, value))
    base = _tidemark.device_stats(GPU)["live"]
    tf.memory.reset_peak(GPU)
    scores = [q, key, value, tf.constant(True)]
    y, log_sum = _tidemark.call("attention", scores, {"scale": 0.125, "causal": True})
    _tidemark.wait_for_devices()
    taken = tf.memory.stats(GPU).peak - base
    seen = slice(0, 100)  # by query 99
    of_query, keys, values = (
        np.asarray(tf.cast(t[0, 0], "float32"))[seen] for t in (q, key, value)
    )
    weights = np.exp(keys @ of_query[99] * 0.125)
    wanted = weights / weights.sum() @ values
    given = tf.cast(y[0, 0, 99], "float32").numpy()
    np.testing.assert_allclose(given, wanted, rtol=3e-2, atol=3e-2)
    assert taken < 200 << 20, taken
    began = time.perf_counter()
    for _ in range(5):
        _tidemark.call("attention", scores, {"scale": 0.125, "causal": True})
    _tidemark.wait_for_devices()
    spent = (time.perf_counter() - began) / 5
    return f"{taken:,} bytes beside the inputs, {spent * 1e3:.1f} ms"


ROUNDED = """
import sys, time
import numpy as np
import tidemark as tf
from tidemark import _tidemark
is_asked = sys.argv[1] == "rounded"
tf.config.experimental.enable_tensor_float_32_execution(is_asked)
rng = np.random.default_rng(1)
a, b = rng.normal(size=(2, 2048, 2048)).astype("float32")
images, filters = rng.normal(size=(8, 32, 32, 64)), rng.normal(size=(3, 3, 64, 64))
images, filters = images.astype("float32"), filters.astype("float32")
with tf.device("/CPU:0"):
    wanted = tf.matmul(a, b).numpy(), tf.nn.conv2d(images, filters, 1, "SAME").numpy()
with tf.device("/GPU:0"):
    x, y, u, v = (_tidemark.copied_to(tf.constant(one), "gpu:0") for one in (a, b, images, filters))
    for work, right in ((lambda: tf.matmul(x, y), wanted[0]),
                        (lambda: tf.nn.conv2d(u, v, 1, "SAME"), wanted[1])):
        given = work().numpy()
        error = np.abs(given - right).max() / np.abs(right).max()
        assert given.tobytes() == work().numpy().tobytes(), "other bits the second time"
        assert (1e-5 < error < 2e-3) if is_asked else error < 4e-6, error
        _tidemark.wait_for_devices()
        began = time.perf_counter()
        for _ in range(20):
            work()
        _tidemark.wait_for_devices()
        print(f"{(time.perf_counter() - began) / 20 * 1e6:.0f} us, error {error:.1e}", end="; ")
"""


@check
def operands_of_products_are_rounded_where_asked_for():
    told = []
    for how in ("whole", "rounded"):
        command = [sys.executable, "-c", ROUNDED, how]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        told.append(f"{how}: {done.stdout}")
    return " ".join(told)


@check
def how_fast():
    n = 2**28
    x, y = (_tidemark.copied_to(tf.ones((n,)), GPU) for _ in range(2))
    seconds = timed(lambda: x + y)
    small = _tidemark.copied_to(tf.ones((16,)), GPU)
    overhead = timed(lambda: small + small, 2000)
    host = tf.ones((2**26,))
    upload = timed(lambda: _tidemark.copied_to(host, GPU), 5)
    back = timed(lambda: np.asarray(_tidemark.copied_to(x[: 2**26], "cpu:0")), 3)
    return (
        f"add {3 * 4 * n / seconds / 1e12:.2f} TB/s; a small add {overhead * 1e6:.1f} us; "
        f"to the GPU {2**28 / upload / 1e9:.1f} GB/s, back {2**28 / back / 1e9:.1f} GB/s"
    )


def timed(work, times=10):
    """Seconds of one, the best of three series."""
    best = float("inf")
    for _ in range(3):
        _tidemark.wait_for_devices()
        began = time.perf_counter()
        for _ in range(times):
            work()
        _tidemark.wait_for_devices()
        best = min(best, (time.perf_counter() - began) / times)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    parser.add_argument("--only", nargs="*", default=[""], help="whose names begin with these")
    parser.add_argument("--without", nargs="*", default=[], help="those apart from these")
    args = parser.parse_args()
    results = []
    for function in CHECKS:
        name = function.__name__
        if not name.startswith(tuple(args.only)) or name.startswith(tuple(args.without)):
            continue
        began = time.monotonic()
        status, detail = "skipped", why_no_gpu()
        if not detail:
            try:
                status, detail = "ok", function()
            except Exception:  # whatever it is, the next ones are run
                status, detail = "failed", traceback.format_exc(limit=-4)
        seconds = round(time.monotonic() - began, 2)
        results.append(
            {"check": function.__name__, "status": status, "detail": detail, "seconds": seconds}
        )
        print(f"{status}: {function.__name__} ({seconds} s)", flush=True)
        with open(args.out, "w") as out:
            json.dump(results, out, indent=1)


if __name__ == "__main__":
    main()
