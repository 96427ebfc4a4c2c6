"""Ctrl-C and time-outs in the middle of long work; Python's other threads meanwhile."""

import gc
import itertools
import signal
import threading
import time

import long_calls
import numpy as np
import pytest

import tidemark as tf
from tidemark import _tidemark

pytestmark = pytest.mark.unwatched

# A tenth of a second is promised; machines that run other things besides are slow to wake threads.
SOON = 0.5


def interrupted(work, after=0.3):
    """Seconds from Ctrl-C, given so long after the start, to the KeyboardInterrupt of ``work``."""
    sent = []

    def send():
        sent.append(time.perf_counter())
        signal.raise_signal(signal.SIGINT)

    timer = threading.Timer(after, send)
    timer.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            work()
            pytest.fail("it ended before it was interrupted")
        return time.perf_counter() - sent[0]
    finally:
        timer.cancel()
        timer.join()


def big(*shape):
    return tf.constant(np.random.default_rng(0).normal(size=shape).astype(np.float32))


@tf.function
def count_to(n):
    i = tf.constant(0, tf.int64)
    while i < n:
        i += 1
    return i


def count_to_many(n):
    return count_to(n + 10**10)


def endless():
    """Looks for an element for good."""
    return tf.data.Dataset.range(10**12).filter(lambda x: x < 0)


@tf.function
def multiply_often(a, times):
    for _ in tf.range(times):
        a = tf.matmul(a, a) * 1e-3
    return a


# What is made before, and what is interrupted.
WORK = {
    "a loop of scalars": (lambda: [tf.constant(10**9, tf.int64)], count_to),
    "a loop of products": (lambda: [big(200, 200), 10**6], multiply_often),
    "a product": (lambda: [big(6000, 6000)] * 2, tf.matmul),
    "a product of whole numbers": (lambda: [tf.ones([6000, 6000], tf.int32)] * 2, tf.matmul),
    "singular values": (lambda: [big(1000, 1000)], tf.linalg.svd),
    "eigenvalues": (lambda: [big(2000, 2000)], tf.linalg.eigh),
    "general eigenvalues": (lambda: [big(600, 600)], tf.linalg.eig),
    "a QR decomposition": (lambda: [big(3000, 3000)], tf.linalg.qr),
    "many small ones": (lambda: [big(2000, 64, 64)], tf.linalg.svd),
    "the sorting of a line": (lambda: [big(1 << 24)], tf.sort),
    "the order of a line": (lambda: [big(1 << 23)], tf.argsort),
    "the best of a line": (lambda: [big(1 << 23)], lambda x: tf.math.top_k(x, 1 << 20)),
    "distinct values": (lambda: [big(1 << 24)], tf.unique),
    "overlapping boxes": (
        lambda: [tf.tile(tf.constant([[0.0, 0.0, 0.0, 0.0]]), [60000, 1]), tf.range(60000.0)],
        lambda boxes, scores: tf.image.non_max_suppression(boxes, scores, 60000),
    ),
    "a Fourier transform": (lambda: [tf.cast(tf.ones([1 << 24]), tf.complex64)], tf.signal.fft),
    "a convolution": (
        lambda: [tf.ones([64, 128, 128, 64]), tf.ones([5, 5, 64, 128])],
        lambda x, f: tf.nn.conv2d(x, f, 1, "SAME"),
    ),
    "a pipeline": (lambda: [endless()], list),
    "a pipeline ahead": (lambda: [endless().prefetch(2)], list),
    "a pipeline of several threads": (
        lambda: [tf.data.Dataset.range(4).map(count_to_many, num_parallel_calls=2)],
        list,
    ),
    "pipelines in pipelines": (
        lambda: [endless().prefetch(2).map(lambda x: x, num_parallel_calls=2).prefetch(2)],
        list,
    ),
}


@pytest.mark.parametrize("name", WORK)
def test_control_c_ends_long_work(name):
    make, work = WORK[name]
    given = make()
    assert interrupted(lambda: work(*given)) < SOON
    assert tf.reduce_sum(tf.ones([300, 300])).numpy() == 90000  # and the next op is as ever


# Those that go on for longer where inputs are large: they change a table, or hold its lock.
UNSTOPPED = {"table_insert", "table_find", "table_remove", "table_export"}
PROMISED = 0.1
# Other tests load libraries with ops of their own, later.
OWN_OPS = {op["name"]: op for op in _tidemark.list_ops()}


@pytest.fixture
def one_thread():
    before = _tidemark.set_num_threads(1)
    yield
    _tidemark.set_num_threads(before)


def longest_pause(work):
    """The most seconds of this thread's own time between two runs of a signal's handler, which long
    work runs when it looks whether to stop, and the seconds of all. What else the machine does does
    not count."""
    seen = []
    before = signal.signal(signal.SIGALRM, lambda *_: seen.append(time.thread_time()))
    seen.append(time.thread_time())
    signal.setitimer(signal.ITIMER_REAL, 0.002, 0.002)
    try:
        work()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    seen.append(time.thread_time())
    return max(b - a for a, b in itertools.pairwise(seen)), seen[-1] - seen[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(long_calls.CALLS.keys() - UNSTOPPED))
def test_long_calls_look_whether_to_stop(one_thread, name):
    work = long_calls.CALLS[name]()
    longest, whole = min(longest_pause(work) for _ in range(2))
    assert longest < PROMISED
    assert whole < PROMISED / 2 or longest < 0.9 * whole, "it does not look"


def test_there_is_a_long_call_of_every_op():
    called = {name.split()[0] for name in long_calls.CALLS}
    left_out = {
        name for name, op in OWN_OPS.items()
        if name not in called and not (op["elementwise"] or op["cheap"] or op["stateful"])
    }  # fmt: skip
    assert left_out == long_calls.BRIEF


def test_nothing_is_left_behind():
    a, often = big(4000, 4000), tf.constant(10**4)
    multiply_often(a, tf.constant(1))
    gc.collect()
    live = tf.memory.stats().live
    interrupted(lambda: multiply_often(a, often))
    gc.collect()
    assert tf.memory.stats().live == live


def test_a_variable_is_old_or_new_as_a_whole():
    v = tf.Variable(tf.zeros([3000, 3000]))
    one = tf.ones([3000, 3000])

    @tf.function
    def grow():
        for _ in tf.range(10**6):
            v.assign_add(one)

    def eagerly():
        while True:
            v.assign_add(one)

    for work in [grow, eagerly] * 3:
        interrupted(work, after=0.15)
        values = v.numpy()
        assert values.min() == values.max()


BUSY = {
    "ahead": lambda: endless().prefetch(2),
    "several threads": lambda: tf.data.Dataset.range(9).map(count_to_many, num_parallel_calls=2),
}


@pytest.mark.parametrize("name", BUSY)
def test_a_pipeline_goes_though_its_threads_are_busy(name):
    gc.collect()
    gc.freeze()  # how long the collector looks at what other tests left does not count
    try:
        iterator = iter(BUSY[name]())
        time.sleep(0.1)
        start = time.perf_counter()
        del iterator
        gc.collect()
        assert time.perf_counter() - start < SOON
    finally:
        gc.unfreeze()


def test_a_pipeline_goes_on_after_an_interrupt():
    wanted = [0, 1, 2]

    def slow(n):
        return n + 0 * count_to(3 * 10**6 + 0 * n)

    iterator = iter(tf.data.Dataset.range(3).map(slow, num_parallel_calls=2).prefetch(1))
    interrupted(lambda: next(iterator), after=0.05)
    assert [int(one) for one in iterator] == wanted


def test_other_handlers_run_and_the_work_goes_on():
    heard = []
    before = signal.signal(signal.SIGUSR1, lambda *_: heard.append(time.perf_counter()))
    try:
        sent = []
        timer = threading.Timer(
            0.2, lambda: (sent.append(time.perf_counter()), signal.raise_signal(signal.SIGUSR1))
        )
        timer.start()
        n = 3 * 10**6
        assert count_to(tf.constant(n, tf.int64)).numpy() == n
        timer.join()
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert heard[0] - sent[0] < SOON


def test_a_session_that_timed_out_ends_within_an_op():
    v1 = tf.compat.v1
    with v1.Graph().as_default():
        a = v1.placeholder(tf.float32, [6000, 6000])
        product = v1.matmul(a, a)
        session = v1.Session()
    given = np.ones((6000, 6000), np.float32)
    options = v1.RunOptions(timeout_in_ms=200)
    start = time.perf_counter()
    with pytest.raises(tf.errors.DeadlineExceededError):
        session.run(product, {a: given}, options=options)
    assert time.perf_counter() - start < 0.2 + 4 * SOON  # the product alone takes longer


def test_a_loop_of_scalars_lets_other_threads_go_on():
    pauses = []
    is_done = threading.Event()

    def watch():
        last = time.perf_counter()
        while not is_done.is_set():
            time.sleep(0.001)
            now = time.perf_counter()
            pauses.append(now - last)
            last = now

    thread = threading.Thread(target=watch)
    thread.start()
    count_to(tf.constant(4 * 10**6, tf.int64))
    is_done.set()
    thread.join()
    assert max(pauses) < 0.3
