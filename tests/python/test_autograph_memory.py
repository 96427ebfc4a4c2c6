"""AutoGraph: what it leaves behind, which is nothing."""

import contextlib
import gc
import linecache
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path

import pytest
from flat import resident_bytes
from staged import run, staged
from tidemark.autograph._impl import converted

import tidemark as tf

pytestmark = pytest.mark.unwatched

t = tf.constant


def test_importing_tidemark_does_not_import_the_conversion():
    script = (
        "import sys, tidemark as tf; tf.autograph.experimental.do_not_convert(len);"
        "assert not any(m == 'malt' or m.startswith('malt.') for m in sys.modules);"
        "assert 'tidemark.autograph._convert' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_a_dropped_function_is_freed_at_once():
    class Held:
        pass

    def make():
        held = Held()

        def program(x):
            if x > 0:
                return x, held
            return x, held

        return program, held

    gc.collect()
    gc.disable()
    try:
        program, held = make()
        step = converted(program)
        with staged():
            step(t(1))
        graph = tf.autograph.to_graph(program)
        graph(t(1))
        watched = [weakref.ref(thing) for thing in (program, held, step, graph)]
        del program, held, step, graph
        assert [reference() for reference in watched] == [None] * 4
    finally:
        gc.enable()


def test_an_error_frees_the_function_too():
    def make():
        def program(x):
            while x > 0:
                x = undefined_name  # noqa: F821
            return x

        return program

    gc.collect()
    gc.disable()
    try:
        program = make()
        with contextlib.suppress(NameError):
            run(program, t(1))
        watched = weakref.ref(program)
        del program
        assert watched() is None
    finally:
        gc.enable()


def test_generated_code_goes_with_the_code_it_was_made_from(tmp_path):
    from tidemark.autograph import _convert

    path = tmp_path / "short_lived.py"
    path.write_text("def f(x):\n    return x if x > 0 else -x\n")
    namespace = {}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    before = len(_convert.CACHE), _convert.CACHE.bytes
    converted(namespace["f"])(1)
    assert len(_convert.CACHE) == before[0] + 1 and _convert.CACHE.bytes > before[1]
    namespace.clear()
    assert (len(_convert.CACHE), _convert.CACHE.bytes) == before


def test_generated_code_is_bounded_in_bytes():
    from tidemark.autograph._convert import Cache

    class Entry:
        bytes = 400

    codes = [compile(str(n), "x", "eval") for n in range(10)]
    cache = Cache(1000)
    for n, code in enumerate(codes):
        cache.add(code, "key", Entry())
        if n:
            assert cache.find(codes[n - 1], "key") is not None
            assert cache.find(code, "key") is not None
    assert len(cache) == 2 and cache.bytes == 800
    assert cache.find(codes[0], "key") is None


def test_two_thousand_closures_leave_nothing_behind():
    def make(k):
        def program(x):
            total = x
            for i in range(3):
                if x > 0:
                    total = total + i * k
            return total

        return program

    def rounds(count):
        for k in range(count):
            assert converted(make(k))(1) == 1 + 3 * k

    rounds(200)
    gc.collect()
    before = resident_bytes()
    modules, lines = len(sys.modules), len(linecache.cache)
    temporary = len(list(Path(tempfile.gettempdir()).glob("*autograph*")))
    rounds(2000)
    assert resident_bytes() - before < 512 * 1024
    assert (len(sys.modules), len(linecache.cache)) == (modules, lines)
    assert len(list(Path(tempfile.gettempdir()).glob("*autograph*"))) == temporary


def test_conversions_of_new_code_leave_nothing_behind(tmp_path):
    path = tmp_path / "many.py"
    path.write_text("def f(x):\n    while x > 10:\n        x = x - 1\n    return x\n")
    source = path.read_text()

    def rounds(count):
        for _ in range(count):
            namespace = {"__name__": "many"}
            exec(compile(source, str(path), "exec"), namespace)
            assert converted(namespace["f"])(12) == 10

    rounds(20)
    gc.collect()
    before, modules = resident_bytes(), len(sys.modules)
    rounds(80)
    gc.collect()
    assert resident_bytes() - before < 1024 * 1024
    assert len(sys.modules) == modules


def test_threads_convert_one_function_at_once():
    from tidemark.autograph import _convert

    def program(x, k):
        total = 0
        for i in tf.range(x):
            if i % 2 == k:
                total += i
        return total

    made = []
    original = _convert.generate
    start = threading.Barrier(8)
    results = [None] * 8

    def counted(function, options):
        made.append(function)
        return original(function, options)

    def work(n):
        start.wait()
        with staged():
            results[n] = int(converted(program)(t(10), n % 2))

    _convert.generate = counted
    try:
        threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        _convert.generate = original
    assert results == [20, 25] * 4
    assert made == [program]


def test_errors_leave_nothing_behind():
    def program(x):
        while x > 0:
            if x > 1:
                raise ValueError("always")
            x = x - 1
        return x

    traced = tf.function(program)
    x = t(3)

    def rounds(count):
        for _ in range(count):
            with contextlib.suppress(ValueError):
                traced(x)

    rounds(100)
    gc.collect()
    gc.disable()
    try:
        before = resident_bytes()
        rounds(1000)
        assert resident_bytes() - before < 512 * 1024
    finally:
        gc.enable()
