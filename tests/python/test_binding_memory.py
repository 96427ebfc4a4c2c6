"""The memory functions of the extension, and errors that cross it."""

import gc
import threading

import numpy as np
import pytest

import tidemark as tf
from tidemark import _tidemark as tm

pytestmark = pytest.mark.unwatched


def floats(count):
    return tm.convert(np.ones(count, dtype=np.float32))


def test_stats_add_up():
    kept = floats(100_000)
    stats = tm.stats()
    parts = stats["live"] + stats["planned"] + stats["retained"] + stats["not_ours"]
    assert parts == stats["resident"]
    assert stats["tensor_bytes"] >= 400_000
    del kept
    assert tm.stats()["tensor_bytes"] <= stats["tensor_bytes"] - 400_000


def test_setters_return_the_old_value():
    old = tm.set_limit(2**30)
    assert tm.set_limit(old) == 2**30
    assert tm.limit() == old
    old = tm.set_retained_limit(2**20)
    assert tm.set_retained_limit(old) == 2**20
    old = tm.set_num_threads(1)
    assert tm.num_threads() == 1
    tm.set_num_threads(old)


def test_errors_of_plain_functions_are_typed_too():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tm.set_limit(-5)
    with pytest.raises(TypeError):
        tm.set_limit("much")
    with pytest.raises(tf.errors.NotFoundError):
        tm.load_op_library("./no_such_library.so")


def test_over_the_limit_the_error_names_the_holders_and_nothing_is_lost():
    kept = floats(1_000_000)
    with tm.LimitScope(2**20, "a small scope") as scope:
        inside = floats(1000)
        assert scope.used >= 4000
        with pytest.raises(tf.errors.ResourceExhaustedError) as caught:
            kept + kept
        assert "a small scope" in str(caught.value)
        smaller = kept[:1000] + kept[:1000]  # still inside the scope
        assert smaller.numpy()[0] == 2
    assert (kept + kept).numpy()[-1] == 2
    assert inside.numpy()[0] == 1


def test_a_scope_cannot_be_entered_twice():
    scope = tm.LimitScope(2**20)
    with scope, pytest.raises(ValueError, match="already in use"):
        scope.__enter__()


def test_scopes_belong_to_their_thread():
    big = floats(1_000_000)
    results = []
    with tm.LimitScope(2**20):
        thread = threading.Thread(target=lambda: results.append(big + big))
        thread.start()
        thread.join()
    assert len(results) == 1


def test_messages_with_odd_bytes_are_readable():
    with pytest.raises(Exception) as caught:
        tm.call("add", [tm.convert([b"\xff\xfe"]), tm.convert([1.0])])
    assert str(caught.value)


def test_settings_are_listed():
    names = {setting["name"] for setting in tm.settings()}
    assert "TIDEMARK_MEMORY_LIMIT" in names
    assert all(setting["doc"] for setting in tm.settings())


def test_live_buffers_describe_tensors():
    t = tm.convert(np.ones((3, 5003), dtype=np.float64))
    found = [b for b in tm.live_buffers() if b["shape"] == (3, 5003)]
    assert len(found) == 1
    assert found[0]["dtype"] == tf.float64 and found[0]["op"] == "constant"
    assert found[0]["bytes"] == t._nbytes


def test_tensors_in_cycles_leave_the_collector():
    for _ in range(300):  # more than are kept for the next tensors
        tensor = tf.constant([1.0])
        tensor.number = 1  # the collector knows the tensor before its attributes
        tensor.itself = tensor
    del tensor
    gc.collect()
    again = [tf.constant([1.0]) + i for i in range(300)]
    assert not any(map(gc.is_tracked, again))
    gc.collect()
    assert [float(t[0]) for t in again] == [1.0 + i for i in range(300)]
