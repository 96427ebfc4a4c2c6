"""Who keeps a buffer, in words."""

import gc
import threading

import numpy as np
import pytest
from tidemark._explain import holders

import tidemark as tf


def held(part):
    found = [h for h in tf.memory.explain() if part in h.text]
    assert found, [h.text for h in tf.memory.explain()]
    return found[0]


class Trainer:
    def __init__(self):
        self.history = []


class Node:
    pass


def test_a_list_in_a_function():
    def leaky():
        results = []
        for _ in range(12):
            results.append(tf.zeros([1000]) + 1.0)
        return held('list "results" in leaky()')

    holder = leaky()
    assert holder.count == 12 and holder.bytes >= 12 * 4000
    assert "12 tensors" in holder.text
    assert holder.words.endswith(f"at test_holders.py:{leaky.__code__.co_firstlineno + 3}")


def test_attribute_closure_and_global():
    trainer = Trainer()
    trainer.history += [tf.ones([500]) for _ in range(3)]
    assert held("attribute Trainer.history (list)").count == 3

    def outer():
        secret = tf.ones([7000])

        def predict(x):
            return x + secret

        return predict

    predict = outer()
    assert held('closure of predict ("secret")').bytes >= 28000
    del predict
    global kept_globally
    kept_globally = tf.ones([9000])
    assert held('variable "kept_globally"').kind == "global"
    del kept_globally


def test_variables_tapes_and_traces():
    v = tf.Variable(tf.ones([3000]), name="dense/kernel")
    assert held('variable "dense/kernel"').bytes >= 12000
    with tf.GradientTape(persistent=True) as tape:
        y = tf.sin(v * 2.0)
    holder = held("GradientTape (persistent)")
    assert holder.kind == "tape" and holder.bytes > 0
    del tape, y

    @tf.function
    def step(x):
        return x + tf.constant([1.0] * 5000)

    step(tf.ones([5000]))
    assert held("constant in trace 1 of step()").bytes >= 20000


def test_tracebacks_and_cycles():
    errors = []

    def work():
        big = tf.ones([4000])
        raise ValueError(str(big.shape))

    try:
        work()
    except ValueError as error:
        errors.append(error)
    assert held("traceback of the ValueError caught at test_holders.py").bytes >= 16000
    errors.clear()
    gc.collect()
    gc.disable()
    try:
        for _ in range(4):
            node = Node()
            node.me, node.value = node, tf.ones([6000])
        del node
        assert held("reference cycle of Node").count == 4
    finally:
        gc.enable()
        gc.collect()


def test_sessions_and_datasets():
    with tf.Graph().as_default():
        v = tf.compat.v1.get_variable("v", [50, 50], initializer=tf.compat.v1.ones_initializer())
        with tf.compat.v1.Session() as session:
            session.run(tf.compat.v1.global_variables_initializer())
            session.run(v)
            assert held("variables of the session opened at test_holders.py").bytes >= 10000
    data = iter(tf.data.Dataset.range(500).map(lambda i: tf.fill([100], i)).shuffle(400))
    next(data)
    assert held("dataset shuffle buffer made at test_holders.py").bytes >= 300 * 400
    ahead = iter(tf.data.Dataset.range(9).map(lambda i: tf.fill([1000], i)).batch(3).prefetch(2))
    next(ahead)
    kept = tf.data.Dataset.range(9).map(lambda i: tf.fill([1000], i)).cache()
    rows = list(kept)
    assert held("dataset prefetch buffer made at test_holders.py").bytes >= 3 * 8000
    del rows
    assert held("dataset cache made at test_holders.py").bytes >= 9 * 8000
    batch = [g for g in tf.memory.explain() if g.kind == "dataset"][0].groups
    assert all(place.startswith("test_holders.py:") for place, *_ in batch)


def test_arrays_over_tensors_count():
    kept = [np.asarray(tf.ones([3000])) for _ in range(5)]
    assert held('list "kept"').count == len(kept)


def test_another_thread_is_named():
    begun, end = threading.Event(), threading.Event()

    def worker():
        table = tf.ones([5000])
        begun.set()
        end.wait()
        return table

    thread = threading.Thread(target=worker, name="helper")
    thread.start()
    begun.wait()
    try:
        assert held('variable "table" in worker()').thread == "helper"
    finally:
        end.set()
        thread.join()


def test_looking_leaves_nothing_behind():
    def function():
        x = tf.ones([100_000])
        tf.memory.explain()
        before = tf.memory.stats().live
        del x
        return before - tf.memory.stats().live

    assert function() >= 400_000
    gc.collect()  # of earlier tests: else the looks' own objects may call the collector
    before = tf.memory.stats().live
    for _ in range(20):
        tf.memory.explain()
    assert tf.memory.stats().live == before


def test_nearly_every_byte_has_a_line_and_a_holder():
    model = tf.Variable(tf.random.normal([300, 300]))
    kept = []
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(model @ model))
        model.assign_sub(0.01 * tape.gradient(loss, model))
        kept.append(loss)
    live, known = holders.coverage()
    assert known >= 0.99 * live


@pytest.mark.parametrize("rows", [0, 1])
def test_the_report_fits_80_columns(rows):
    kept = {f"a rather long key number {i}": tf.ones([100]) for i in range(40 * rows)}
    report = tf.memory.report()
    assert max(map(len, report.splitlines())) <= 80, report
    values = report.to_dict()
    s = values["stats"]
    four = s["live"] + s["planned"] + s["retained"] + s["not_ours"]
    assert abs(four - s["resident"] - s["untouched"]) <= 2 << 20
    assert "<table>" in report._repr_html_() and '"holders"' in report.to_json()
    del kept


PLUGIN = """
import pytest
import tidemark as tf

@pytest.mark.tidemark(limit="1MB", growth=0)
def test_small():
    for _ in range(50):
        tf.ones([1000]) + 1.0

@pytest.mark.tidemark(limit="1MB")
def test_large():
    tf.ones([1000, 1000]) + 1.0

@pytest.mark.tidemark(growth=0)
def test_growing():
    kept = []
    for _ in range(50):
        x = tf.ones([1000])
        kept.append(x + 1.0)

@pytest.mark.tidemark(growth="8KB")
def test_growing_as_allowed():
    kept = []
    for _ in range(50):
        x = tf.ones([1000])
        kept.append(x + 1.0)
"""


def test_the_marker_of_tests(tmp_path):
    import subprocess
    import sys

    (tmp_path / "test_it.py").write_text(PLUGIN)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert "2 failed, 2 passed" in done.stdout, done.stdout
    assert "more than its limit of 977 KiB" in done.stdout
    assert "memory grows by 4.5 KiB in each of 50 steps" in done.stdout
    assert "test_it.py:19" in done.stdout


def test_looking_makes_no_garbage():
    def look():
        kept = tf.ones([100_000])
        tf.memory.explain()
        return kept.shape

    look()
    gc.collect()
    gc.disable()
    try:
        before = tf.memory.stats().live
        for _ in range(3):
            look()
        assert tf.memory.stats().live == before
        assert gc.collect() < 50
    finally:
        gc.enable()


def test_looking_does_not_collect_what_is_to_be_seen():
    gc.collect()
    threshold = gc.get_threshold()
    gc.set_threshold(5000, 10, 10)
    try:
        for _ in range(3):
            node = Node()
            node.me, node.value = node, tf.ones([6000])
        del node
        assert held("reference cycle of Node").count == 3
        assert gc.isenabled()
    finally:
        gc.set_threshold(*threshold)
        gc.collect()


def test_items_of_records_are_held_by_the_array():
    table = np.zeros(8, dtype=[("loss", "f4"), ("state", object)])
    table["state"][3] = tf.zeros([6151])
    assert held('ndarray "table"').bytes >= 4 * 6151


def test_a_dataset_holds_what_it_is_made_of():
    data = tf.data.Dataset.from_tensor_slices(tf.zeros([6161])).batch(4)
    holders = [h for h in tf.memory.explain() if any(s >= 4 * 6161 for s in h.groups.values())]
    ways = [way for holder in holders for way in holder.ways.values()]
    words = [link.label for way in ways for link, _ in way.links]
    assert any('"data"' in word for word in words), (words, data)
