"""Several Python threads at once: right results, exact counters, the GIL free while computing."""

import gc
import threading
import time

import numpy as np
import programs
import pytest

import tidemark as tf

pytestmark = pytest.mark.unwatched


def run(functions):
    """Runs functions on threads of their own; raises what the first of them raised."""
    errors = []

    def guarded(function):
        try:
            function()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(f,)) for f in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_programs_side_by_side():
    for program in programs.ALL:
        program()
    gc.collect()
    before = tf.memory.stats()

    def work():
        for _ in range(15):
            for program in programs.ALL:
                program()

    run([work] * 6)
    gc.collect()
    after = tf.memory.stats()
    assert (after.live, after.live_buffers) == (before.live, before.live_buffers)


def test_results_are_right_in_each_thread():
    def work(seed):
        a = np.full((64, 64), seed, np.float32)
        x = tf.constant(a)
        for _ in range(200):
            y = tf.reduce_sum(x * 2 + 1, axis=0)
            assert y.numpy()[0] == 64 * (2 * seed + 1)

    run([lambda s=s: work(s) for s in range(8)])


def test_tensors_freed_on_other_threads():
    gc.collect()
    before = tf.memory.stats().live
    boxes = [[] for _ in range(4)]

    def give(box):
        for _ in range(300):
            box.append(tf.ones([257]))

    def take(box):
        taken = 0
        while taken < 300:
            if box:
                box.pop()
                taken += 1

    run([lambda b=b: give(b) for b in boxes] + [lambda b=b: take(b) for b in boxes])
    gc.collect()
    assert tf.memory.stats().live == before


def test_the_gil_is_free_while_kernels_run():
    x = tf.constant(np.random.default_rng(0).random(1 << 22, np.float32))
    ticks = []
    done = threading.Event()

    def tick():
        while not done.is_set():
            ticks.append(time.perf_counter())
            time.sleep(0.0005)

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        start = time.perf_counter()
        for _ in range(10):
            tf.sort(x)
            if time.perf_counter() - start > 0.5:
                break
        spent = time.perf_counter() - start
    finally:
        done.set()
        thread.join()
    # Were the lock held, the other thread would tick only between calls.
    assert len(ticks) > 20, f"{len(ticks)} ticks in {spent:.2f} s"


def test_limits_in_one_thread_do_not_stop_others():
    def limited():
        for _ in range(100):
            with tf.memory.limit("64KiB"):
                try:
                    tf.ones([100_000])
                except tf.errors.ResourceExhaustedError:
                    continue
                raise AssertionError("the limit did not hold")

    def free():
        for _ in range(100):
            tf.ones([100_000])

    run([limited, free, limited, free])
