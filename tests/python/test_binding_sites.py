"""Every tensor knows the line of the user's own code that made it."""

import gc
import sys
import threading

import numpy as np
import pytest

import tidemark as tf
from tidemark import _tidemark as tm

pytestmark = pytest.mark.unwatched


def line():
    return sys._getframe(1).f_lineno


def place_of(bytes_asked):
    found = [b["place"] for b in tm.live_buffers() if b["bytes"] == bytes_asked]
    assert len(found) == 1, found
    return found[0]


def test_the_line_of_an_operator_and_of_a_constant():
    here = "test_binding_sites.py:{} in test_the_line_of_an_operator_and_of_a_constant"
    a = tm.convert(np.ones(7001, dtype=np.float32))
    made = line() - 1
    assert place_of(28004) == here.format(made)
    b = tm.call("concat", [[a, [1.0]]], {"axis": 0})
    made = line() - 1
    assert place_of(28008) == here.format(made)
    del a
    c = b + b
    made = line() - 1
    del b
    assert place_of(28008) == here.format(made)
    assert c is not None


def test_lines_can_be_switched_off():
    assert tm.set_source_lines(False) is True
    try:
        a = tm.convert(np.ones(7003, dtype=np.float32))
        assert "test_binding_sites" not in place_of(28012)
    finally:
        assert tm.set_source_lines(True) is False
    del a


def test_frames_inside_the_package_are_skipped():
    code = compile("def make(tm, x):\n    return x + x\n", "/pretend/package/inner.py", "exec")
    scope = {}
    exec(code, scope)
    tm.add_internal_path("/pretend/package/")
    x = tm.convert(np.ones(7005, dtype=np.float32))
    y = scope["make"](tm, x)
    made = line() - 1
    del x
    assert place_of(28020).startswith(f"test_binding_sites.py:{made} ")
    del y


def test_many_places_do_not_grow_without_bound():
    x = tm.convert([1.0])
    for i in range(3000):
        scope = {}
        exec(compile(f"def f{i}(x):\n    return x + x\n", f"generated{i}.py", "exec"), scope)
        scope[f"f{i}"](x)
    gc.collect()
    assert "test_binding_sites.py" in tm.current_place()


def test_threads_have_their_own_lines():
    results = {}

    def work(name):
        t = tm.convert(np.ones(7007 + name, dtype=np.float32))
        results[name] = (place_of(4 * (7007 + name)), t)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all("in work" in place for place, _ in results.values())


def test_report_names_the_lines():
    a = tm.convert(np.ones(100_000, dtype=np.float32))
    assert "test_binding_sites.py" in tm.report()
    assert any("test_report_names_the_lines" in p["place"] for p in tm.places())
    assert {h["holder"] for h in tm.holders()} >= {"value"}
    assert a is not None


def test_python_code_that_native_code_calls_has_lines_of_its_own():
    kept = []

    def rows():
        for _ in range(2):
            kept.append(tf.zeros([7019]))
            yield kept[-1]

    made = line() - 3
    data = tf.data.Dataset.from_generator(rows, output_signature=tf.TensorSpec([7019]))
    assert len(list(data)) == 2
    places = {b["place"] for b in tm.live_buffers() if b["bytes"] == 28076}
    assert places == {f"test_binding_sites.py:{made} in rows"}
    kept.clear()
    tf.function(lambda x: tf.py_function(lambda x: kept.append(tf.tile(x, [2])), [x], []))(
        tf.zeros([3511])
    )
    called = line() - 3
    places = {b["place"] for b in tm.live_buffers() if b["bytes"] == 28088}
    assert len(kept) == 1 and places == {f"test_binding_sites.py:{called} in <lambda>"}
