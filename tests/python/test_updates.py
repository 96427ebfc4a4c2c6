"""Gradients of weights go straight into the variables: the update runs with the product."""

import gc
import os
import threading

import numpy as np
import pytest
import this_device

import tidemark as tf

FUSES = os.environ.get("TIDEMARK_FUSION", "on") != "off"
PLANS = os.environ.get("TIDEMARK_PLAN", "1") != "0"
needs_fusion = pytest.mark.skipif(
    not (FUSES and PLANS), reason="updates run one by one, each with values of its own"
)
needs_updating_products = pytest.mark.skipif(
    this_device.IS_GPU, reason="products on a GPU update no variables (decision 0031)"
)


@pytest.fixture(autouse=True)
def small_gradients_too(monkeypatch):
    monkeypatch.setenv("TIDEMARK_WHOLE_GRADIENTS", "0")


def values(seed, *shape):
    return tf.constant(np.random.default_rng(seed).normal(size=shape).astype(np.float32) / 4)


class Sgd:
    def __init__(self, variables):
        self.variables = variables
        self.state = []

    def apply(self, gradients):
        for w, g in zip(self.variables, gradients, strict=True):
            w.assign_sub(0.05 * g)


class Momentum(Sgd):
    def __init__(self, variables):
        super().__init__(variables)
        self.state = [tf.Variable(tf.zeros_like(w)) for w in variables]

    def apply(self, gradients):
        for w, m, g in zip(self.variables, self.state, gradients, strict=True):
            m.assign(0.9 * m - 0.05 * g)
            w.assign_add(0.9 * m - 0.05 * g)


class Adam(Sgd):
    def __init__(self, variables):
        super().__init__(variables)
        self.m = [tf.Variable(tf.zeros_like(w)) for w in variables]
        self.v = [tf.Variable(tf.zeros_like(w)) for w in variables]
        self.count = tf.Variable(0.0)
        self.state = [*self.m, *self.v, self.count]

    def apply(self, gradients):
        self.count.assign_add(1.0)
        rate = 0.01 * tf.sqrt(1 - 0.999**self.count) / (1 - 0.9**self.count)
        for w, m, v, g in zip(self.variables, self.m, self.v, gradients, strict=True):
            m.assign_add(0.1 * (g - m))
            v.assign_add(0.001 * (g * g - v))
            w.assign_sub(rate * m / (tf.sqrt(v) + 1e-7))


OPTIMIZERS = {"sgd": Sgd, "momentum": Momentum, "adam": Adam}


class Net:
    """Three layers and what trains them."""

    def __init__(self, optimizer=Adam, sizes=(70, 120, 90, 10), **options):
        self.x, self.y = values(1, 48, sizes[0]), values(2, 48, sizes[-1])
        self.w = [
            tf.Variable(values(10 + i, *s))
            for i, s in enumerate(zip(sizes, sizes[1:], strict=False))
        ]
        self.b = [tf.Variable(values(20 + i, n)) for i, n in enumerate(sizes[1:])]
        self.optimizer = optimizer([*self.w, *self.b])
        self.step = tf.function(self.train, **options)

    def loss(self):
        h = self.x
        for w, b in zip(self.w[:-1], self.b[:-1], strict=True):
            h = tf.nn.relu(tf.matmul(h, w) + b)
        return tf.reduce_mean(tf.square(tf.matmul(h, self.w[-1]) + self.b[-1] - self.y))

    def train(self):
        with tf.GradientTape() as tape:
            loss = self.loss()
        self.optimizer.apply(tape.gradient(loss, [*self.w, *self.b]))
        return loss

    def state(self):
        return [v.numpy() for v in [*self.w, *self.b, *self.optimizer.state]]


def ops(function, *args):
    return [step.op for step in function.plan(*args).steps]


def assert_same(got, want, tolerance=2e-5):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_training_gives_what_it_gives_eagerly(name):
    fast, plain = Net(OPTIMIZERS[name]), Net(OPTIMIZERS[name])
    for _ in range(5):
        np.testing.assert_allclose(fast.step().numpy(), plain.train().numpy(), rtol=1e-4)
    assert_same(fast.state(), plain.state(), 2e-4)


@needs_fusion
@needs_updating_products
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_every_gradient_of_weights_goes_into_its_variables(name):
    net = Net(OPTIMIZERS[name])
    steps = ops(net.step)
    assert steps.count("matmul+update") == 3
    assert steps.count("sweep") == 1  # the biases, all of them
    assert "update_variable" not in steps or name == "adam"  # its count of steps


@needs_fusion
@needs_updating_products
def test_small_gradients_are_whole_unless_asked_for(monkeypatch):
    monkeypatch.delenv("TIDEMARK_WHOLE_GRADIENTS")
    steps = ops(Net().step)
    assert "matmul+update" not in steps and steps.count("sweep") == 1
    assert ops(Net(sizes=(600, 1200, 900, 10)).step).count("matmul+update") == 2


@needs_fusion
def test_under_a_budget_no_gradient_waits_for_the_others(monkeypatch):
    monkeypatch.delenv("TIDEMARK_WHOLE_GRADIENTS")
    sizes = (300, 400, 400, 400, 10)
    free, tight = Net(sizes=sizes), Net(sizes=sizes, memory_budget="1MiB")
    gradients = sum(int(np.prod(w.shape)) * 4 for w in free.w)
    assert gradients > 1.5 * 2**20
    assert this_device.peak_of(tight.step.plan()) <= 2**20
    for _ in range(3):
        np.testing.assert_allclose(tight.step().numpy(), free.step().numpy(), rtol=1e-5)
    assert_same(tight.state(), free.state())


@needs_fusion
@needs_updating_products
def test_no_gradient_is_ever_whole():
    net = Net(sizes=(600, 1200, 900, 10))
    peak = this_device.peak_of(net.step.plan())
    gradients = sum(int(np.prod(w.shape)) * 4 for w in net.w)
    assert peak < 0.5 * gradients
    net.step()
    gc.collect()
    this_device.reset_peak()
    before = this_device.stats().tensor_bytes
    net.step()
    assert this_device.stats().tensor_peak - before == peak


@needs_fusion
@needs_updating_products
def test_plans_and_graphs_say_so():
    net = Net()
    plan = net.step.plan()
    update = next(s for s in plan.steps if s.op == "matmul+update")
    assert "test_updates.py" in update.line  # the optimizer's line
    assert "in apply" in update.line
    graph = net.step.graph()
    assert "into 3 variables" in graph.to_dot()
    assert "into 3 variables" in graph.to_svg()
    assert plan.variables == sum(v.nbytes for v in net.state())


def test_who_holds_an_old_value_keeps_it():
    net = Net()
    net.step()
    held = [w.value() for w in net.w] + [m.value() for m in net.optimizer.m]
    before = [h.numpy().copy() for h in held]
    net.step()
    for now, then, variable in zip(held, before, [*net.w, *net.optimizer.m], strict=False):
        np.testing.assert_array_equal(now.numpy(), then)
        assert not np.array_equal(variable.numpy(), then)


@needs_fusion
def test_an_update_stays_in_the_variables_memory():
    net = Net()
    for _ in range(3):
        net.step()
    this_device.reset_peak()
    before = this_device.stats().tensor_bytes
    for _ in range(3):
        net.step()
    assert this_device.stats().tensor_bytes == before


def test_readers_of_the_old_value_come_first():
    def run(function):
        w = tf.Variable(values(1, 60, 80))
        x, y = values(2, 50, 60), values(3, 50, 80)

        def step():
            old = tf.matmul(x, w)
            w.assign_sub(0.1 * tf.matmul(x, y - old, transpose_a=True))
            return old, tf.matmul(y, w, transpose_b=True), w + 1.0

        step = tf.function(step) if function else step
        return [[t.numpy() for t in step()] for _ in range(3)] + [[w.numpy()]]

    for got, want in zip(run(True), run(False), strict=True):
        assert_same(got, want, 1e-4)


def test_a_product_of_the_variable_itself():
    """What the product reads is what the update writes."""

    def run(function):
        w = tf.Variable(values(1, 90, 90))

        def step():
            w.assign_sub(0.1 * tf.matmul(w, w, transpose_a=True))
            w.assign_add(0.1 * tf.matmul(tf.reshape(w, (90, 90)), w))

        step = tf.function(step) if function else step
        for _ in range(3):
            step()
        return w.numpy()

    np.testing.assert_allclose(run(True), run(False), rtol=1e-4, atol=1e-4)


def test_two_products_into_one_variable():
    def run(function):
        w, m = tf.Variable(values(1, 70, 40)), tf.Variable(tf.zeros((70, 40)))
        a, b, c, d = (values(i, 30, n) for i, n in ((2, 70), (3, 40), (4, 70), (5, 40)))

        def step():
            g = tf.matmul(a, b, transpose_a=True) + tf.matmul(c, d, transpose_a=True)
            m.assign(0.9 * m + g)
            w.assign_sub(0.1 * m)

        step = tf.function(step) if function else step
        for _ in range(3):
            step()
        return w.numpy(), m.numpy()

    assert_same(run(True), run(False), 1e-4)


def test_a_gradient_that_is_needed_elsewhere_is_whole():
    def run(function):
        w = tf.Variable(values(1, 70, 40))
        x, y = values(2, 30, 70), values(3, 30, 40)

        def step():
            g = tf.matmul(x, y, transpose_a=True)
            w.assign_sub(0.1 * g)
            norm = tf.sqrt(tf.reduce_sum(g * g))
            return norm, g

        step = tf.function(step) if function else step
        return [t.numpy() for t in step()] + [w.numpy()]

    assert_same(run(True), run(False), 1e-4)


def test_clipping_by_the_global_norm():
    class Clipped(Adam):
        def apply(self, gradients):
            super().apply(tf.clip_by_global_norm(gradients, 0.5)[0])

    fast, plain = Net(Clipped), Net(Clipped)
    for _ in range(3):
        np.testing.assert_allclose(fast.step().numpy(), plain.train().numpy(), rtol=1e-4)
    assert_same(fast.state(), plain.state(), 2e-4)


def test_updates_inside_a_condition():
    def run(function):
        net = Net(Momentum)

        def maybe(go):
            return tf.cond(go > 0, net.train, lambda: tf.constant(-1.0))

        step = tf.function(maybe) if function else maybe
        losses = [step(tf.constant(n)).numpy() for n in (1, 0, 1, 1)]
        return losses, net.state()

    (losses, state), (eager_losses, eager_state) = run(True), run(False)
    np.testing.assert_allclose(losses, eager_losses, rtol=1e-4)
    assert_same(state, eager_state, 2e-4)


def test_an_error_before_the_updates_leaves_all_as_it_was():
    net = Net()

    @tf.function
    def step(go):
        with tf.GradientTape() as tape:
            loss = net.loss()
        gradients = tape.gradient(loss, [*net.w, *net.b])
        tf.debugging.assert_greater(go, 0)
        net.optimizer.apply(gradients)
        return loss

    step(tf.constant(1))
    before = net.state()
    with pytest.raises(tf.errors.InvalidArgumentError):
        step(tf.constant(0))
    for a, b in zip(net.state(), before, strict=True):
        np.testing.assert_array_equal(a, b)
    step(tf.constant(1))
    assert not np.array_equal(net.state()[0], before[0])


@needs_fusion
def test_where_no_memory_is_left_for_a_new_value_none_changes():
    """A variable changes with all of its moments, or not at all."""
    net = Net(sizes=(70, 512, 512, 10))
    for _ in range(2):
        net.step()
    failures = 0
    for n in range(1, 100):
        held = [v.value() for v in [*net.w, *net.optimizer.state]]  # new values go elsewhere
        before = net.state()
        try:
            with this_device.little_memory(n):
                net.step()
        except tf.errors.ResourceExhaustedError:
            failures += 1
        else:
            break
        finally:
            del held
        after = net.state()
        for i in range(3):
            same = {np.array_equal(after[k], before[k]) for k in (i, 6 + i, 12 + i)}
            assert len(same) == 1
    assert failures >= 3


def test_results_do_not_depend_on_the_number_of_threads():
    states = []
    threads = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        for count in (1, 2, 3):
            tf.config.threading.set_intra_op_parallelism_threads(count)
            net = Net(sizes=(200, 300, 150, 10))
            for _ in range(3):
                net.step()
            states.append(net.state())
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(threads)
    for state in states[1:]:
        for a, b in zip(state, states[0], strict=True):
            np.testing.assert_array_equal(a, b)


def test_from_several_threads_at_once():
    """Each call changes a variable and its moments as one."""
    w, n = tf.Variable(tf.zeros((64, 64))), tf.Variable(tf.zeros((64, 64)))
    x = tf.ones((64, 64))

    @tf.function
    def step():
        g = tf.matmul(x, x, transpose_a=True)
        w.assign_add(g)
        n.assign_add(2.0 * g)

    step()
    workers = [threading.Thread(target=lambda: [step() for _ in range(50)]) for _ in range(4)]
    for t in workers:
        t.start()
    for t in workers:
        t.join()
    np.testing.assert_array_equal(w.numpy(), np.full((64, 64), 64.0 * 201))
    np.testing.assert_array_equal(n.numpy(), np.full((64, 64), 128.0 * 201))


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_other_dtypes(dtype):
    def run(function):
        w = tf.Variable(tf.cast(values(1, 60, 70), dtype))
        master = tf.Variable(values(1, 60, 70))
        x, y = (tf.cast(values(i, 40, n), dtype) for i, n in ((2, 60), (3, 70)))

        def step():
            g = tf.matmul(x, y, transpose_a=True)
            master.assign_sub(0.1 * tf.cast(g, tf.float32))
            w.assign_sub(tf.cast(0.5, dtype) * g)

        step = tf.function(step) if function else step
        for _ in range(2):
            step()
        return tf.cast(w, tf.float32).numpy(), master.numpy()

    assert_same(run(True), run(False), 0.02 if dtype != "float64" else 1e-5)


def random_program(seed):
    """Products, what becomes of them, and variables that are read and written on the way."""
    rng = np.random.default_rng(seed)
    m, n, k = (int(rng.integers(2, 70)) for _ in range(3))
    variables = [tf.Variable(values(seed + i, m, n)) for i in range(3)]
    xs = [values(seed + 10 + i, k, m) for i in range(2)]
    ys = [values(seed + 20 + i, k, n) for i in range(2)]
    plan = [
        (int(rng.integers(8)), *(int(i) for i in rng.integers(3, size=2)), int(rng.integers(2)))
        for _ in range(8)
    ]

    def step():
        results = []
        for kind, i, j, side in plan:
            g = tf.matmul(xs[side], ys[side], transpose_a=True)
            if kind == 0:
                variables[i].assign_sub(0.1 * g)
            elif kind == 1:
                variables[i].assign(0.5 * variables[i] + 0.1 * g)
                variables[j].assign_add(0.1 * tf.tanh(g))
            elif kind == 2:
                results.append(tf.matmul(xs[side], variables[i]))
            elif kind == 3:
                variables[i].assign(0.9 * variables[i] + 0.1 * variables[j] * tf.tanh(g))
            elif kind == 4:
                d = tf.matmul(xs[side], variables[j]) - ys[side]
                variables[i].assign_sub(0.01 * tf.matmul(xs[side], d, transpose_a=True))
            elif kind == 5:
                results.append(variables[i] + 0.0)
            elif kind == 6:
                results.append(tf.reduce_sum(g))
                variables[j].assign_add(0.1 * tf.sigmoid(g))
            else:
                flat = tf.reshape(g, (-1,))
                variables[i].assign_add(0.1 * tf.reshape(tf.tanh(flat), (m, n)))
        return results

    return step, variables


@pytest.mark.parametrize("seed", range(60))
def test_random_programs(seed):
    plain, plain_variables = random_program(1000 * seed)
    fast, fast_variables = random_program(1000 * seed)
    fast = tf.function(fast)
    for _ in range(3):
        for a, b in zip(fast(), plain(), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=2e-3, atol=2e-4)
    assert_same([v.numpy() for v in fast_variables], [v.numpy() for v in plain_variables], 2e-3)


def test_thousands_of_steps_stay_flat():
    from flat import assert_flat

    net = Net()
    assert_flat(net.step, 3000)
