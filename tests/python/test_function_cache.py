"""The cache of traces: what calls share, what is kept, what memory does."""

import gc
import threading
import weakref

import numpy as np
import pytest
from flat import resident_bytes as resident

import tidemark as tf
from tidemark import _tidemark

pytestmark = pytest.mark.unwatched

_MIB = 1 << 20


def grows(work, rounds, warm_up):
    """Bytes by which the process grows over the rounds that follow the warm-up."""
    for i in range(warm_up):
        work(i)
    gc.collect()
    before = resident()
    for i in range(warm_up, warm_up + rounds):
        work(i)
    gc.collect()
    return resident() - before


@pytest.fixture(autouse=True)
def quiet(caplog):
    caplog.set_level("ERROR", logger="tidemark")


def test_many_numbers():
    @tf.function
    def scaled(x, rate):
        return x * rate

    x = tf.constant([1.0, 2.0])
    assert grows(lambda i: scaled(x, i * 0.1), 30_000, 5_000) < 2 * _MIB
    assert len(scaled.traces()) <= 2


def test_many_lengths():
    @tf.function
    def total(x):
        return tf.reduce_sum(x * 2.0)

    assert grows(lambda i: total(tf.ones([1 + i % 2000])), 4_000, 2_000) < 2 * _MIB
    assert len(total.traces()) <= 2


def test_bound_methods_as_arguments():
    class Scale:
        def by(self, x):
            return x * 3.0

    @tf.function
    def apply(f, x):
        return f(x)

    scale, x = Scale(), tf.constant(2.0)
    assert grows(lambda _: apply(scale.by, x), 20_000, 2_000) < 2 * _MIB
    assert len(apply.traces()) == 1
    assert apply(scale.by, x).numpy() == 6.0


def test_objects_as_arguments_are_not_kept():
    class Config:
        rate = 2.0

    @tf.function
    def f(config, x):
        return x * config.rate

    config = Config()
    assert f(config, tf.constant(3.0)).numpy() == 6.0
    gone = weakref.ref(config)
    gc.disable()
    try:
        del config
        assert gone() is None
    finally:
        gc.enable()
    other = Config()
    other.rate = 5.0
    assert f(other, tf.constant(3.0)).numpy() == 15.0  # even at the address of the first one


def test_none_is_no_object_that_has_gone():
    class Config:
        rate = 2.0

    @tf.function
    def f(config, x):
        return x if config is None else x * config.rate

    config, x = Config(), tf.constant(3.0)
    assert f(config, x).numpy() == 6.0
    del config
    assert f(None, x).numpy() == 3.0


def test_an_argument_that_only_its_own_code_compares():
    class Pair:
        __slots__ = ("parts",)  # no weak references: by worth

        def __init__(self, *parts):
            self.parts = parts

        def __eq__(self, other):
            return self.parts == other.parts

        def __hash__(self):
            return hash(self.parts)

    traced = []

    @tf.function
    def f(x, pair):
        traced.append(pair.parts)
        return x * pair.parts[0] + pair.parts[1]

    x = tf.constant(3.0)
    for pair in (Pair(2.0, 1.0), Pair(2.0, 1.0), Pair(3.0, 0.0), Pair(2.0, 1.0)):
        assert f(x, pair).numpy() == 3.0 * pair.parts[0] + pair.parts[1]
    assert traced == [(2.0, 1.0), (3.0, 0.0)]


def test_a_new_function_each_time():
    x = tf.constant([1.0, 2.0])

    def work(i):
        assert tf.function(lambda x: x * 2.0 + 1.0, autograph=False)(x).numpy()[0] == 3.0

    assert grows(work, 1_000, 300) < 2 * _MIB


def test_errors_inside():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)] * 2)
    def add(a, b):
        return a + b

    two, three = tf.ones([2]), tf.ones([3])

    def work(_):
        with pytest.raises(tf.errors.InvalidArgumentError):
            add(two, three)

    assert grows(work, 5_000, 1_000) < 2 * _MIB
    assert add(two, two).numpy().tolist() == [2.0, 2.0]


def test_a_function_that_cannot_be_traced_leaves_nothing():
    @tf.function
    def broken(x, n):
        raise KeyError(n)

    x = tf.ones([1000])

    def work(i):
        with pytest.raises(KeyError):
            broken(x, i)

    assert grows(work, 300, 100) < 2 * _MIB
    assert broken.traces() == []


def test_dropped_functions_release_everything_at_once():
    big = tf.ones([1000])
    before = _tidemark.trace_cache_bytes()

    @tf.function
    def f(x):
        return x + big

    f(tf.constant(1.0))
    assert _tidemark.trace_cache_bytes() > before
    gone = [weakref.ref(f), weakref.ref(f._traces[0]), weakref.ref(f._traces[0].graph)]
    gc.disable()
    try:
        del f
        assert [ref() for ref in gone] == [None] * 3
        assert _tidemark.trace_cache_bytes() == before
    finally:
        gc.enable()


def test_the_bound_holds(monkeypatch):
    monkeypatch.setenv("TIDEMARK_TRACE_CACHE", "1MiB")
    if _tidemark.trace_cache_limit() != _MIB:
        pytest.skip("the setting was read before")

    def adding(weights):
        return tf.function(lambda x: x + tf.reduce_sum(weights), autograph=False)

    functions = []
    for i in range(20):
        functions.append(adding(tf.fill([50_000], float(i))))
        functions[-1](tf.constant(1.0))
    assert _tidemark.trace_cache_bytes() <= _MIB
    assert functions[-1].traces() and not functions[0].traces()
    assert functions[0](tf.constant(1.0)).numpy() == 1.0  # traced again


def test_traces_are_in_the_memory_report():
    f = tf.function(lambda x: x + 1, autograph=False)
    f(tf.constant(1))
    assert "traces of functions" in str(tf.memory.report())
    (info,) = f.traces()
    assert info.reason == "first call" and info.nbytes > 0 and info.calls == 1
    assert "test_function_cache.py" in info.line and "int32[]" in info.signature


def test_threads_share_one_trace():
    traced, wrong, start = [], [], threading.Barrier(8)

    @tf.function
    def f(x):
        traced.append(1)
        return tf.reduce_sum(x * x)

    def work(k):
        x = tf.fill([4], float(k))
        start.wait()
        for _ in range(300):
            if f(x).numpy() != 4.0 * k * k:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong and len(traced) == 1 and len(f.traces()) == 1


def test_equal_graphs_are_shared():
    @tf.function
    def f(x, name):
        return tf.tanh(x) * 2.0 + tf.constant([1.0, 2.0])

    x = tf.constant([1.0, 2.0])
    expected = np.tanh(x.numpy()) * 2.0 + [1.0, 2.0]
    for name in ("a", "b", "c"):
        np.testing.assert_allclose(f(x, name), expected, rtol=1e-6)
    graphs = {id(trace.graph) for trace in f._traces}
    assert len(f._traces) == 3 and len(graphs) == 1
    g = tf.function(lambda x, n: x * float(n) if n < 3 else x, autograph=False)
    assert [g(tf.constant(1.0), n).numpy() for n in (1, 2, 3)] == [1.0, 2.0, 1.0]


def looping(factor):
    """A new function each time, with a loop, a condition and a gradient in it."""

    @tf.function
    def f(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(3):
                if tf.reduce_sum(y) > 0.0:
                    y = y * factor
        return tape.gradient(y, x)

    return f


def test_new_functions_share_the_graph_of_earlier_ones():
    x = tf.constant([1.0, 2.0])
    functions = [looping(2.0) for _ in range(5)] + [looping(3.0)]
    results = [f(x).numpy()[0] for f in functions]
    assert results == [8.0] * 5 + [27.0]
    ids = [f._traces[0].graph.graph_id for f in functions]
    assert len(set(ids[:5])) == 1 and ids[5] != ids[0]
    del functions[:5]  # nobody else keeps it
    again = looping(2.0)
    again(x)
    assert again._traces[0].graph.graph_id not in ids


def test_functions_on_other_lines_keep_their_own_graph():
    f = tf.function(lambda x: x * 2.0)
    g = tf.function(lambda x: x * 2.0)
    x = tf.constant(1.0)
    assert f(x).numpy() == g(x).numpy() == 2.0
    assert f._traces[0].graph.graph_id != g._traces[0].graph.graph_id
    assert "lambda" in str(g.get_concrete_function(x).graph)


def test_functions_that_draw_numbers_do_not_share():
    def make():
        return tf.function(lambda: tf.random.normal([2]))

    tf.random.set_seed(3)
    f, g = make(), make()
    first, second = f().numpy(), g().numpy()
    assert f._traces[0].graph.graph_id != g._traces[0].graph.graph_id
    tf.random.set_seed(3)
    assert make()().numpy().tolist() == first.tolist()
    assert second.shape == (2,)
