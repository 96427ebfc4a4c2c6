"""Thousands of rounds of each family leave resident memory where it was."""

import itertools
import json
import mmap
import sys
import threading

import programs
import pytest
from flat import assert_flat, growth, slope, stack_pages

import tidemark as tf

MIB = 1 << 20
ROUNDS = {"constants": 3000, "order": 3000, "products": 2000, "randoms": 3000}


@pytest.mark.parametrize("program", programs.ALL, ids=lambda p: p.__name__)
def test_families(program):
    assert_flat(program, ROUNDS.get(program.__name__, 2000))


def test_mixed_sizes():
    held = [tf.ones([size]) for size in (1, 10, 100, 1000, 10_000, 100_000)]

    def step():
        for i, x in enumerate(held):
            held[i] = tf.nn.relu(x + x) * 0.5
        held[-1] = tf.reshape(held[-1], [100, -1])
        held[-1] = tf.reshape(held[-1], [-1])

    assert_flat(step, 3000, allowed=1 << 20)


def test_variables_that_are_frozen_and_go():
    def step():
        v = tf.Variable(1.0)
        v._trainable = False
        with tf.GradientTape() as tape:
            v * 2.0
        assert not tape.watched_variables()

    assert_flat(step, 3000)
    assert tf.Variable(1.0).trainable


def test_templates_and_graphs_variables_go():
    v1 = tf.compat.v1

    def step():
        template = v1.make_template("net", lambda x: x * v1.get_variable("w", [2]))
        template(1.0)
        with tf.Graph().as_default():
            x = tf.Variable(1.0)
            with tf.control_dependencies([x.assign_add(1.0)]):
                kept = tf.group(x * 2.0)
            assert kept.type == "NoOp" and tf.Module().variables == ()

    assert_flat(step, 300)


def test_printing_and_errors_under_a_limit():
    x = tf.ones([100_000])

    def step():
        repr(x)
        with tf.memory.limit("64KiB"):
            try:
                x + 1
            except tf.errors.ResourceExhaustedError as error:
                str(error)

    assert_flat(step, 500)


def test_the_measure_notices_tensors_that_stay():
    kept = []
    with pytest.raises(AssertionError, match="still alive"):
        assert_flat(lambda: kept.append(tf.ones([1000])), 800)
    assert slope([0, 10, 20, 30]) == 10 and slope([5, 5, 5]) == 0


def resident_block(size):
    """Memory beside the heap, which may have as much left from before."""
    block = mmap.mmap(-1, size)
    for page in range(0, size, 4096):
        block[page] = 1
    return block


def test_the_measure_notices_a_steady_climb():
    kept = []
    with pytest.raises(AssertionError, match="resident memory grows"):
        assert_flat(lambda: kept.append(resident_block(4096)), 800)


@pytest.mark.parametrize("at", [30, 120, 210])
def test_the_measure_notices_one_jump(at):
    kept, calls = [], itertools.count()

    def jumps_once():
        if next(calls) == at:
            kept.append(resident_block(8 * MIB))

    with pytest.raises(AssertionError, match="resident memory grows"):
        assert_flat(jumps_once, 200, allowed=MIB, warm_up=20)


@pytest.mark.parametrize("size", [2 * MIB, 8 * MIB, 1024 * MIB])
@pytest.mark.parametrize("at", range(1, 9))
def test_a_jump_counts_wherever_it_is(size, at):
    assert growth([0] * at + [size] * (9 - at)) > MIB / 2


def test_one_small_step_is_measured_again():
    kept, calls = [], itertools.count()

    def steps_once():
        if next(calls) == 100:
            kept.append(resident_block(MIB // 4 - 8192))

    assert_flat(steps_once, 200, warm_up=20)


@pytest.mark.parametrize("every", [200, 25])
def test_small_steps_that_go_on_are_noticed(every):
    kept, calls = [], itertools.count()

    def steps():
        if next(calls) % every == every // 2:
            kept.append(resident_block(MIB // 4 - 8192))

    with pytest.raises(AssertionError, match="resident memory grows"):
        assert_flat(steps, 200, warm_up=0)


def test_a_larger_step_is_not_measured_again():
    kept, calls = [], itertools.count()

    def steps_once():
        if next(calls) == 100:
            kept.append(resident_block(MIB // 2))

    with pytest.raises(AssertionError, match="resident memory grows"):
        assert_flat(steps_once, 200, warm_up=20)


def test_what_a_thread_uses_of_its_stack_does_not_count():
    go_on, done, calls = threading.Semaphore(0), threading.Semaphore(0), itertools.count()
    nested = []
    for _ in range(4000):
        nested = [nested]

    def work():
        while True:
            go_on.acquire()
            if next(calls) == 100:
                json.dumps(nested, check_circular=False)  # C code that calls itself
            done.release()

    def step():
        go_on.release()
        done.acquire()

    threading.Thread(target=work, daemon=True).start()
    before, limit = stack_pages()[1], sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert_flat(step, 200, warm_up=20)
    finally:
        sys.setrecursionlimit(limit)
    assert stack_pages()[1] > before + MIB // 4


def test_threads_that_stay_are_noticed():
    stop = threading.Event()
    with pytest.raises(AssertionError, match="resident memory grows"):
        assert_flat(lambda: threading.Thread(target=stop.wait, daemon=True).start(), 16)
    stop.set()


def test_pages_of_files_do_not_count(tmp_path):
    (tmp_path / "pages").write_bytes(bytes(8 * MIB))
    with open(tmp_path / "pages", "rb") as file:
        mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    pages = iter(range(0, 8 * MIB, 4096))
    assert_flat(lambda: mapped[next(pages)], 1600, warm_up=20)
