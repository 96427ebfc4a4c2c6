"""f.plan: what a call will need, before anything runs."""

import json
import subprocess
import sys

import numpy as np
import pytest
import this_device

import tidemark as tf


@tf.function
def chain(x, w):
    h = x
    for _ in range(4):
        h = tf.tanh(tf.matmul(h, w))
    return tf.reduce_sum(h)


def spec(*shape):
    return tf.TensorSpec(shape, tf.float32)


def test_specs_are_enough_and_nothing_runs():
    before = tf.memory.stats().live
    plan = chain.plan(spec(1 << 20, 1 << 12), spec(1 << 12, 1 << 12))
    layer = (1 << 20) * (1 << 12) * 4
    assert 2 * layer <= plan.unbounded_peak < 2.1 * layer  # 32 GiB that are not there
    assert plan.peak == plan.arena + plan.results
    assert plan.lower_bound <= plan.peak
    assert tf.memory.stats().live - before < 1 << 20


@pytest.mark.parametrize("rows", [1 << 30, 1 << 40, (1 << 42) - 1])
def test_absurd_sizes_are_planned_too(rows):
    plan = chain.plan(spec(rows, 1 << 10), spec(1 << 10, 1 << 10))
    layer = rows * (1 << 10) * 4  # up to 16 petabytes
    assert 2 * layer <= plan.unbounded_peak < 2.1 * layer
    assert plan.gap < 1.02


def test_absurd_convolutions_are_planned_too():
    @tf.function
    def f(x, w):
        with tf.GradientTape() as tape:
            tape.watch([x, w])
            y = tf.reduce_sum(tf.nn.relu(tf.nn.conv2d(x, w, 1, "SAME")))
        return tape.gradient(y, [x, w])

    for images, side in [(1 << 36, 16), (1, 1 << 20), (1 << 20, 1 << 10)]:
        plan = f.plan(spec(images, side, side, 8), spec(3, 3, 8, 16))
        assert plan.unbounded_peak >= images * side * side * 16 * 4


@pytest.mark.parametrize(
    ("rows", "says"),
    [(1 << 48, "bytes; allowed is"), (1 << 52, "2^63 - 1 bytes"), (1 << 60, "2^63 - 1 elements")],
)
def test_sizes_that_no_count_of_bytes_can_hold_are_an_error(rows, says):
    with pytest.raises(tf.errors.OpError) as raised:
        chain.plan(spec(rows, 1 << 10), spec(1 << 10, 1 << 10))
    assert says in str(raised.value)


def test_how_long_the_planner_looks_can_be_set(monkeypatch):
    args = spec(4096, 256), spec(256, 256)
    usual = chain.plan(*args)
    monkeypatch.setenv("TIDEMARK_PLAN_MILLISECONDS", "0")
    quick = chain.plan(*args)
    assert usual.lower_bound <= usual.peak <= quick.peak
    monkeypatch.setenv("TIDEMARK_PLAN_MILLISECONDS", "soon")
    with pytest.raises(tf.errors.InvalidArgumentError, match="TIDEMARK_PLAN_MILLISECONDS"):
        chain.plan(*args)


def test_it_names_what_is_alive_at_the_peak():
    plan = chain.plan(spec(256, 128), spec(128, 128))
    assert any(b.op.startswith("matmul") for b in plan.at_peak())
    assert all("test_plan.py" in b.line for b in plan.at_peak())
    assert max(step.load for step in plan.steps) == plan.lower_bound
    text = str(plan)
    assert "alive at the peak" in text and "matmul" in text
    assert max(map(len, text.splitlines())) <= 80


def test_json_and_page():
    plan = chain.plan(spec(64, 32), spec(32, 32))
    said = json.loads(plan.to_json())
    assert said["peak"] == plan.peak and len(said["buffers"]) == len(plan.buffers)
    page = plan.to_html()
    assert page.lstrip().lower().startswith("<!doctype html") and "matmul" in page


def test_measured_is_planned():
    x, w = tf.random.normal((512, 256)), tf.random.normal((256, 256))
    # With a budget a call never takes a larger arena that waits for another function.
    bounded = tf.function(chain.python_function, memory_budget="1GiB")
    plan = bounded.plan(x, w)
    this_device.release()  # a block kept from before may be a little larger, and is counted whole
    bounded(x, w)
    before = this_device.stats().live
    this_device.reset_peak()
    bounded(x, w)
    used = this_device.stats().peak - before
    # The allocator counts whole pages and headers.
    assert plan.peak <= used <= plan.peak + 3 * 4096


def test_inefficient_and_efficient_plan_alike():
    """Article 002: one function names its intermediates, the other does not."""

    @tf.function
    def inefficient(x):
        a = x * 2.0
        b = a * a
        c = b + 1.0
        d = tf.tanh(c)
        return tf.reduce_sum(d)

    @tf.function
    def efficient(x):
        return tf.reduce_sum(tf.tanh((x * 2.0) * (x * 2.0) + 1.0))

    first, second = inefficient.plan(spec(1000, 1000)), efficient.plan(spec(1000, 1000))
    assert first.peak == second.peak
    assert len(first.steps) == len(second.steps)


def test_the_articles_own_two_functions_have_one_plan():
    """Article 002, example 2, word for word: the same steps, buffers, offsets and peak."""

    @tf.function
    def inefficient_computation(x):
        y = tf.square(x)
        z = tf.multiply(y, 2.0)
        w = tf.add(z, 1.0)
        return w

    @tf.function
    def efficient_computation(x):
        return tf.add(tf.multiply(tf.square(x), 2.0), 1.0)

    def without_lines(function):
        said = function.plan(spec(1000, 1000)).to_dict()
        for part in said["steps"] + said["buffers"]:
            del part["line"]
        return {k: said[k] for k in ("steps", "buffers", "peak", "lower_bound", "arena")}

    plan = without_lines(inefficient_computation)
    assert plan == without_lines(efficient_computation)
    assert plan["peak"] == 4_000_000  # the result, and nothing beside it


def test_unknown_sizes_are_an_error_that_says_so():
    with pytest.raises(tf.errors.InvalidArgumentError, match="needs all sizes"):
        chain.plan(tf.TensorSpec((None, 4), tf.float32), spec(4, 4))


def test_variables_are_counted_apart():
    v = tf.Variable(tf.zeros((100, 100)))

    @tf.function
    def step(x):
        v.assign_sub(0.1 * tf.matmul(x, v))
        return tf.reduce_sum(v)

    plan = step.plan(spec(100, 100))
    assert plan.variables == 40000 and plan.inputs == 40000


def test_steady_state_is_flat():
    v = tf.Variable(tf.zeros((64, 64)))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(x, v) - 1.0))
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    x = tf.constant(np.eye(64, dtype=np.float32))
    first = float(step(x))
    for _ in range(10):  # the code it runs comes back after compiling
        step(x)
    before = tf.memory.stats()
    for _ in range(3000):
        last = step(x)
    after = tf.memory.stats()
    assert float(last) < first
    assert after.live - before.live <= 4096 and after.resident - before.resident < 1 << 20


def deep(budget=None):
    """A training step whose activations dominate, and its variables."""
    rng = np.random.default_rng(0)
    weights = [tf.Variable(rng.normal(0, 0.1, (64, 64)).astype(np.float32)) for _ in range(8)]

    @tf.function(memory_budget=budget)
    def step(x):
        with tf.GradientTape() as tape:
            h = x
            for w in weights:
                h = tf.nn.gelu(tf.matmul(h, w)) + tf.sin(h)
            loss = tf.reduce_mean(tf.square(h))
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(0.01 * g)
        return loss

    return step, weights


@pytest.mark.parametrize("part", [0.7, 0.5])
def test_a_budget_is_kept_and_changes_no_result(part):
    x = tf.random.normal((2048, 64))
    free, free_weights = deep()
    whole = free.plan(x).unbounded_peak
    bounded, bounded_weights = deep(int(whole * part))
    plan = bounded.plan(x)
    assert plan.peak <= whole * part and plan.unbounded_peak == whole
    assert (plan.repeated > 0 or plan.splits) and 0 < plan.added_time < 1
    assert "done twice" in str(plan)
    tf.memory.release()
    for _ in range(3):
        np.testing.assert_allclose(free(x), bounded(x), rtol=1e-5)
    for a, b in zip(free_weights, bounded_weights, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4, atol=1e-6)
    before = this_device.stats().live
    this_device.reset_peak()
    bounded(x)
    # Large blocks are rounded up to huge pages where that costs an eighth at most.
    assert this_device.stats().peak - before <= plan.peak * 1.125 + 3 * 4096


def test_a_budget_scope_bounds_what_is_traced_inside():
    x = tf.random.normal((2048, 64))
    free, _ = deep()
    whole = free.plan(x).unbounded_peak
    free(x)
    inside, _ = deep()
    with tf.memory.budget(whole), tf.memory.budget(int(whole * 0.6)), tf.memory.budget("1TB"):
        inside(x)
        assert inside.plan(x).peak <= whole * 0.6
    assert this_device.taken_by(inside, x) <= whole * 0.6  # the trace keeps its budget
    assert free.plan(x).unbounded_peak == whole
    own, _ = deep(whole)
    with tf.memory.budget("1KB"):
        assert own.plan(x).peak == whole
    with tf.memory.budget("1KB"), pytest.raises(tf.errors.ResourceExhaustedError, match="lowest"):
        deep()[0](x)
    for nonsense in (0, "lots"):
        with (
            pytest.raises((ValueError, tf.errors.InvalidArgumentError)),
            tf.memory.budget(nonsense),
        ):
            pass


def test_a_budget_too_small_says_what_would_do():
    x = tf.random.normal((2048, 64))
    step, weights = deep("100KB")
    before = weights[0].numpy()
    with pytest.raises(tf.errors.ResourceExhaustedError, match=r"lowest peak found is .* [KM]iB"):
        step(x)
    np.testing.assert_array_equal(before, weights[0].numpy())


def test_budgets_that_make_no_sense():
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.function(lambda x: x, memory_budget="lots")


SCRIPT = """
import tensorflow as tf

@tf.function
def loss(x, w):
    return tf.reduce_sum(tf.tanh(tf.matmul(x, w)))

def slope(x, w):
    with tf.GradientTape() as tape:
        tape.watch(w)
        y = loss(x, w)
    return tape.gradient(y, w)
"""


def run_cli(tmp_path, *arguments):
    (tmp_path / "program.py").write_text(SCRIPT)
    return subprocess.run(
        [sys.executable, "-m", "tidemark", "plan", *arguments],
        cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def test_the_command_tells_plans_of_functions(tmp_path):
    done = run_cli(tmp_path, "program.py:loss", "--shapes", "256x64", "64x64", "--html", "p.html")
    assert done.returncode == 0, done.stderr
    assert "plan of loss: peak" in done.stdout and "program.py:6" in done.stdout
    assert "matmul" in (tmp_path / "p.html").read_text()
    sizes = "program.py:slope", "--shapes", "256x64", "64x64"
    done = run_cli(tmp_path, *sizes, "--json", "--seconds", "0.5")
    assert json.loads(done.stdout)["peak"] > 0, done.stderr
    done = run_cli(tmp_path, "program.py:slope", "--shapes", "256x64", "64x64", "--pareto")
    assert "100%" in done.stdout, done.stderr
    done = run_cli(
        tmp_path, "program.py:slope", "--shapes", "[256, 64]", "64,64", "--pareto", "--json",
        "--html", "trade.html",
    )  # fmt: skip
    points = json.loads(done.stdout)["points"]
    assert all(p["peak"] <= p["budget"] for p in points) and points, done.stderr
    assert {p["kind"] for p in points} <= {"as it is", "recompute", "split", "both"}
    assert all(bool(p["splits"]) == (p["kind"] in ("split", "both")) for p in points)
    assert points[-1]["kind"] == "split" and "program.py:6" in points[-1]["splits"][0]
    assert (tmp_path / "trade.html").read_text().count("<circle") == len(points)


@pytest.mark.parametrize(
    ("made", "done", "why"),
    [
        (lambda s, x: tf.exp(s) @ x, True, "last use of sort at test_plan.py"),
        (lambda s, x: tf.exp(s) @ s, False, "in f is needed by matmul at test_plan.py"),
        (lambda s, x: (tf.exp(s) @ x, s), False, "is a result"),
        (lambda s, x: tf.exp(x) @ s, False, "an argument is the caller's"),
    ],
)
def test_every_reuse_and_every_refusal_has_its_reason(made, done, why):
    @tf.function
    def f(x):
        return made(tf.sort(x), x)

    plan = f.plan(tf.TensorSpec([8, 8]), memory_budget="1GiB")
    (reuse,) = [r for r in plan.reuses if r.op == "exp"]
    assert reuse.done == done and why in reuse.why
    assert plan.steps[reuse.step].op == "exp" and reuse.bytes == 256
    assert plan.to_dict()["reuses"][0]["why"] == plan.reuses[0].why
    assert max(map(len, str(plan).splitlines())) <= 80


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("program.py:none",), "has no function 'none'; it has loss, slope"),
        (("program.py",), "SCRIPT.py:FUNCTION"),
        (("missing.py:f",), "cannot read missing.py"),
        (("program.py:loss", "--shapes", "2;3"), "is no shape"),
        (("program.py:loss", "--shapes", "2x3:floaty9"), "is no dtype"),
        (("program.py:loss", "--shapes", "2x3", "4x5"), "matmul"),
        (("program.py:loss", "--shapes", "8x8", "8x8", "--budget", "9B"), "lowest peak found"),
        ((), "--csv"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, arguments, says):
    done = run_cli(tmp_path, *arguments)
    assert done.returncode not in (0, 1) and says in done.stderr
    assert "Traceback" not in done.stderr
