"""The n-th allocation fails, for every n: each program ends in one error, and nothing is lost."""

import contextlib
import gc

import programs
import pytest

import tidemark as tf
from tidemark import _tidemark

pytestmark = pytest.mark.unwatched


def let_idle_memory_go():
    """Idle arenas of functions elsewhere in the process go before an allocation is refused."""
    _tidemark.fail_allocation(1)
    with contextlib.suppress(tf.errors.ResourceExhaustedError):
        tf.constant([1.0])
    _tidemark.fail_allocation(0)


@pytest.mark.parametrize("program", programs.ALL, ids=lambda p: p.__name__)
def test_every_allocation_in_turn(program):
    for _ in range(2):  # caches fill
        program()
    gc.collect()
    let_idle_memory_go()
    before = tf.memory.stats()
    failures = 0
    for n in range(1, 100_000):
        _tidemark.fail_allocation(n)
        try:
            program()
        except tf.errors.ResourceExhaustedError as error:
            failures += 1
            assert error.message
        else:
            assert _tidemark.failure_pending(), f"nobody noticed that allocation {n} failed"
            break
        finally:
            _tidemark.fail_allocation(0)
        gc.collect()
        after = tf.memory.stats()
        assert (after.live, after.live_buffers, after.tensor_bytes) == (
            before.live, before.live_buffers, before.tensor_bytes
        ), f"after allocation {n} failed"  # fmt: skip
    assert failures >= 3, "the program allocates more than this"
    program()
    gc.collect()
    assert tf.memory.stats().live == before.live
