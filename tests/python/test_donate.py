"""``tf.function(donate=…)``: arguments whose memory a call may have."""

import copy
import gc
import os
import threading

import numpy as np
import pytest
from environments import needs_plans

import tidemark as tf
from tidemark import _tidemark

GONE = tf.errors.FailedPreconditionError


def allocations():
    return _tidemark.allocation_count()


@tf.function(donate=("state",))
def update(state, x):
    return tf.reverse(state * 0.5 + x, [0]) * 2.0


def expected(state, x):
    return (state * 0.5 + x)[::-1] * 2.0


@needs_plans
def test_a_loop_allocates_nothing_and_stays_flat():
    state, x = tf.zeros([64, 32]), tf.random.normal([64, 32])
    for _ in range(40):  # some calls are looked at, the arena is made
        state = update(state, x)
    want = state.numpy()
    before, live = allocations(), tf.memory.stats().live
    for _ in range(3000):
        state = update(state, x)
        want = expected(want, x.numpy())
    # numpy() above makes no tensor: what is counted is the function's own.
    assert allocations() == before
    assert tf.memory.stats().live == live
    np.testing.assert_allclose(state, want, rtol=1e-5)


@needs_plans
def test_resident_memory_is_flat():
    state, x = tf.zeros([512, 512]), tf.ones([512, 512])
    for _ in range(64):
        state = update(state, x)
    before = tf.memory.stats().resident
    for _ in range(2000):
        state = update(state, x)
    assert tf.memory.stats().resident - before < 1 << 20


def test_what_was_donated_has_no_value_and_tells_where_it_went():
    state, x = tf.ones([4, 2]), tf.ones([4, 2])
    result = update(state, x)
    uses = [
        lambda: state + 1.0,
        lambda: state.numpy(),
        lambda: np.asarray(state),
        lambda: float(tf.reduce_sum(state)),
        lambda: bool(state),
        lambda: state[0],
        lambda: tf.identity(state),
        lambda: update(state, x),
        lambda: tf.function(lambda t: t * 2.0 + 1.0)(state),
        lambda: tf.Variable(tf.zeros([4, 2])).assign(state),
        lambda: update.get_concrete_function(state, x)(state, x),
    ]
    for use in uses:
        with pytest.raises(GONE, match=r"donated to update\(\) at test_donate\.py:\d+"):
            use()
    with pytest.raises(BufferError, match="donated to"):
        memoryview(state)
    with pytest.raises(GONE):
        tf.Variable(state)
    assert state.shape == (4, 2) and state.dtype == tf.float32
    np.testing.assert_allclose(result, expected(np.ones([4, 2]), np.ones([4, 2])))


@pytest.mark.parametrize(
    "share",
    [
        lambda t: t[1:3],
        lambda t: tf.reshape(t, [-1]),
        lambda t: tf.Variable(t),
        lambda t: np.asarray(t),
        lambda t: memoryview(t),
        lambda t: t.__array__(),
        lambda t: np.from_dlpack(t),
        lambda t: tf.function(lambda: t * 1.0 + 0.0),
        lambda t: tf.identity(t),
        lambda t: tf.data.Dataset.from_tensors(t),
    ],
)
def test_memory_that_others_have_is_not_taken(share):
    state, x = tf.random.normal([16, 8]), tf.ones([16, 8])
    before = state.numpy()
    other = share(state)

    def look():
        if callable(other):
            return np.asarray(other()).copy()
        if isinstance(other, tf.data.Dataset):
            return next(iter(other)).numpy()
        return np.asarray(other).copy()

    seen = look()
    result = update(state, x)
    np.testing.assert_array_equal(look(), seen)
    np.testing.assert_allclose(result, expected(before, 1.0), rtol=1e-5)
    with pytest.raises(GONE):
        state + 1.0


def test_arrays_borrowed_from_numpy_stay_as_they_are():
    array = np.ones([256, 64], np.float32)
    update(tf.convert_to_tensor(array), tf.ones([256, 64]))
    update(array, tf.ones([256, 64]))
    assert (array == 1).all()


def test_structures_give_up_all_their_tensors():
    @tf.function(donate=0)
    def step(state, lr):
        return {"w": state["w"] - lr * state["m"], "m": [state["m"] * 0.9 + 1.0, lr * 1.0]}

    state = {"w": tf.ones([32, 32]), "m": tf.ones([32, 32])}
    lr = tf.constant(0.5)
    out = step(state, lr)
    np.testing.assert_allclose(out["w"], np.full([32, 32], 0.5), rtol=1e-6)
    np.testing.assert_allclose(out["m"][0], np.full([32, 32], 1.9), rtol=1e-6)
    for gone in state.values():
        with pytest.raises(GONE):
            gone.numpy()
    assert float(lr) == 0.5


@needs_plans
@pytest.mark.skipif(
    os.environ.get("TIDEMARK_FUSION") == "off", reason="op by op, results begin as other values"
)
def test_optimizer_states_in_a_structure_need_no_second_copy():
    @tf.function(donate=("weights", "moments"))
    def adam(weights, moments, gradients):
        now = [0.9 * m + 0.1 * g for m, g in zip(moments, gradients, strict=True)]
        return [w - 0.01 * m for w, m in zip(weights, now, strict=True)], now

    shapes = [[64, 64], [64], [128, 32]]
    weights, moments, gradients = ([tf.ones(s) for s in shapes] for _ in range(3))
    plan = adam.plan(weights, moments, gradients)
    assert [d.done for d in plan.donations] == [True] * 6
    assert [d.argument for d in plan.donations][:2] == ["weights[0]", "weights[1]"]
    for _ in range(20):
        weights, moments = adam(weights, moments, gradients)
    before = allocations()
    for _ in range(50):
        weights, moments = adam(weights, moments, gradients)
    assert allocations() == before


@needs_plans
def test_the_plan_counts_it_and_says_why_not():
    x = tf.ones([64, 64])
    kept = tf.function(lambda state, x: tf.reverse(state * 0.5 + x, [0]) * 2.0)
    assert update.plan(x, x).peak == kept.plan(x, x).peak - x.numpy().nbytes
    (donation,) = update.plan(x, x).donations
    assert donation.done and donation.argument == "state" and donation.bytes == 64 * 64 * 4
    assert "donated arguments" in str(update.plan(x, x))
    assert update.plan(x, x).to_dict()["donations"][0]["done"]

    def why(code, *args):
        (said,) = tf.function(code, donate=0).plan(*args).donations
        assert not said.done
        return said.why

    assert "no result has its size" in why(lambda s: tf.reduce_sum(s * 2.0 + 1.0), x)
    assert "still reads it" in why(lambda s, t: tf.matmul(s, t), x, x)
    assert "it is a result itself" in why(lambda s: (tf.reshape(s, [-1]), tf.exp(s) + 1.0), x)


@needs_plans
def test_measured_peak_is_the_planned_one_to_the_byte():
    @tf.function(donate=(0, 1))
    def f(a, b):
        c = tf.matmul(tf.exp(a), tf.reverse(b, [0]))
        return tf.transpose(c) * 2.0, tf.reduce_sum(c)

    def fresh():
        return tf.random.normal([128, 128]), tf.random.normal([128, 128])

    f(*fresh())
    planned = f.plan(*fresh()).peak
    for _ in range(3):
        a, b = fresh()
        tf.memory.reset_peak()
        before = tf.memory.stats().tensor_bytes
        result = f(a, b)
        assert tf.memory.stats().tensor_peak - before == planned
        del a, b, result


def test_one_tensor_cannot_be_given_up_and_read():
    x = tf.ones([3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="given twice"):
        update(x, x)
    np.testing.assert_array_equal(x, [1, 1, 1])


def test_nothing_is_given_up_under_a_tape_or_in_another_function():
    state, x = tf.ones([3]), tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(state)
        loss = tf.reduce_sum(update(state, x) * x)
    np.testing.assert_allclose(tape.gradient(loss, state), [3, 2, 1])
    np.testing.assert_array_equal(state, [1, 1, 1])

    @tf.function
    def outer(state):
        return update(state, x) + state

    np.testing.assert_allclose(outer(state), expected(np.ones(3), x.numpy()) + 1)
    np.testing.assert_array_equal(state, [1, 1, 1])


def test_a_call_that_fails_before_it_runs_gives_nothing_up():
    add = tf.function(lambda state, x: (state + x) * 2.0, donate=0)
    state = tf.ones([4])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        add(state, tf.ones([7]))
    with pytest.raises(TypeError):
        add(state)
    np.testing.assert_array_equal(state, np.ones(4))


def test_after_a_failed_run_arguments_are_gone_and_nothing_is_lost():
    @tf.function(donate=0)
    def checked(state, x):
        with tf.control_dependencies([tf.debugging.assert_greater(x, 0.0)]):
            return tf.reverse(state + x, [0]) * 2.0

    x, bad = tf.ones([128, 128]), tf.fill([128, 128], -1.0)
    checked(tf.ones([128, 128]), x)
    gc.collect()
    live = tf.memory.stats().live
    for _ in range(20):
        state = tf.ones([128, 128])
        with pytest.raises(tf.errors.InvalidArgumentError):
            checked(state, bad)
        try:
            state.numpy()
        except GONE as error:
            assert "donated to checked()" in str(error)
        del state
    gc.collect()
    assert tf.memory.stats().live == live
    np.testing.assert_allclose(checked(tf.ones([128, 128]), x), np.full([128, 128], 4.0))


def test_new_shapes_and_dtypes_are_traced_again():
    for shape in ([2], [3], [5, 2], [4], [6, 2]):
        for dtype in (tf.float32, tf.float64):
            state, x = tf.ones(shape, dtype), tf.ones(shape, dtype)
            np.testing.assert_allclose(update(state, x), np.full(shape, 3.0))
            with pytest.raises(GONE):
                state.numpy()


def test_threads_cannot_both_have_a_tensor():
    x = tf.ones([256, 256])
    update(tf.ones([256, 256]), x)
    for _ in range(20):
        state, outcomes = tf.fill([256, 256], 2.0), []
        start = threading.Barrier(4)

        def call(state=state, outcomes=outcomes, start=start):
            start.wait()
            try:
                outcomes.append(float(update(state, x)[0, 0]))
            except GONE:
                outcomes.append(None)

        threads = [threading.Thread(target=call) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert sorted(outcomes, key=str) == [4.0, None, None, None]


def test_a_thread_that_reads_it_keeps_what_it_reads():
    x = tf.ones([512, 512])
    update(tf.ones([512, 512]), x)
    for _ in range(30):
        state, seen = tf.fill([512, 512], 3.0), []

        def read(state=state, seen=seen):
            try:
                for _ in range(50):
                    seen.append(float(tf.reduce_max(tf.abs(state * state - 9.0))))
                    seen.append(float(tf.reduce_max(tf.abs(-state + 3.0))))
            except GONE:
                pass

        reader = threading.Thread(target=read)
        reader.start()
        result = update(state, x)
        reader.join()
        assert not any(seen)
        assert float(result[0, 0]) == 5.0


def test_results_written_into_former_ones_do_not_show_through_arrays():
    f = tf.function(lambda x: tf.reverse(x * 2.0, [0]) + 1.0)
    x = tf.ones([32, 32])
    f(x)
    out = f(x)
    array = np.asarray(out)
    f.call_into(out, x * 5.0)
    assert (array == 3.0).all()


def test_methods_copies_and_call_into():
    class Model:
        @tf.function(donate="state")
        def step(self, state, x=1.0):
            return state * 2.0 + x

    model = Model()
    state = tf.ones([8])
    result = model.step(state)
    np.testing.assert_array_equal(result, np.full(8, 3.0))
    with pytest.raises(GONE):
        state.numpy()
    again, state = copy.copy(update), tf.ones([2])
    again(state, tf.ones([2]))
    with pytest.raises(GONE):
        state.numpy()
    former = update(tf.ones([2]), tf.ones([2]))
    state = tf.zeros([2])
    update.call_into(former, state, tf.ones([2]))
    np.testing.assert_array_equal(former, [2, 2])
    with pytest.raises(GONE):
        state.numpy()


def test_names_positions_and_the_rest():
    @tf.function(donate=["more", "named", "only"])
    def f(a, *more, only, **named):
        return a + more[0] + only + named["x"]

    values = [tf.ones([3]) for _ in range(4)]
    np.testing.assert_array_equal(
        f(values[0], values[1], only=values[2], x=values[3]), np.full(3, 4.0)
    )
    values[0].numpy()
    for gone in values[1:]:
        with pytest.raises(GONE):
            gone.numpy()


@pytest.mark.parametrize(
    ("donate", "error"),
    [
        ("nobody", ValueError),
        (3, ValueError),
        (-1, ValueError),
        (1.5, TypeError),
        ([None], TypeError),
    ],
)
def test_bad_choices_are_refused_at_once(donate, error):
    with pytest.raises(error, match="donate"):
        tf.function(lambda state, x: state + x, donate=donate)


def test_variables_numbers_and_none_are_nothing_to_give_up():
    @tf.function(donate=("v", "n", "nothing"))
    def f(v, n, nothing):
        return v * 2.0 + float(n)

    v = tf.Variable([1.0, 2.0])
    np.testing.assert_array_equal(f(v, 3, None), [5, 7])
    np.testing.assert_array_equal(v, [1, 2])


def test_running_eagerly_gives_nothing_up():
    state = tf.ones([3])
    tf.config.run_functions_eagerly(True)
    try:
        update(state, tf.ones([3]))
    finally:
        tf.config.run_functions_eagerly(False)
    np.testing.assert_array_equal(state, [1, 1, 1])
