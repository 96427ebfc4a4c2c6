"""TensorFlow 1's graphs and sessions."""

import gc
import subprocess
import sys
import threading
import weakref

import numpy as np
import pytest

import tidemark as tf

v1 = tf.compat.v1


@pytest.fixture
def graph():
    graph = tf.Graph()
    with graph.as_default():
        yield graph


def test_feeds_and_fetches_of_any_structure(graph):
    x = v1.placeholder(tf.float32, [None, 2], name="x")
    y = tf.reduce_sum(x, axis=1)
    with v1.Session() as sess:
        value = np.arange(4.0).reshape(2, 2)
        out = sess.run({"y": y, "parts": [x, (y * 2.0,)]}, {x: value})
    np.testing.assert_array_equal(out["y"], [1, 5])
    np.testing.assert_array_equal(out["parts"][0], value)
    np.testing.assert_array_equal(out["parts"][1][0], [2, 10])
    assert graph.get_tensor_by_name("x:0").shape.as_list() == [None, 2]


def test_each_session_has_its_own_values(graph):
    v = v1.get_variable("v", initializer=1.0)
    add = v.assign_add(2.0)
    first, second = v1.Session(), v1.Session()
    for sess in (first, second):
        sess.run(v1.global_variables_initializer())
    first.run(add)
    assert (first.run(v), second.run(v)) == (3.0, 1.0)
    third = v1.Session()
    with pytest.raises(tf.errors.FailedPreconditionError, match="uninitialized value v"):
        third.run(v)


def test_gradients_train(graph):
    x = v1.placeholder(tf.float32, [None])
    w = tf.Variable(0.0, name="w")
    loss = tf.reduce_mean(tf.square(x * w - 3.0 * x))
    (dw,) = v1.gradients(loss, [w])
    step = w.assign_sub(0.1 * dw)
    with v1.Session() as sess:
        sess.run(v1.global_variables_initializer())
        for n in range(1, 150):
            sess.run(step, {x: np.linspace(-1, 1, n + 2)})
        assert abs(sess.run(w) - 3.0) < 0.1


def test_control_dependencies_run_first(graph):
    v = tf.Variable(1.0)
    with tf.control_dependencies([v.assign_add(1.0)]):
        after = v.read_value()
    with v1.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(after) == 2.0
        assert sess.run(v) == 2.0


def test_nodes_that_nobody_needs_are_gone(graph):
    kept = tf.constant(1.0)
    node = weakref.ref(v1.get_default_graph())
    before = len(gc.get_objects())
    with v1.Session() as sess:
        a = kept
        for _ in range(2000):
            a = tf.add(a, tf.constant(1.0))
            sess.run(a)
        assert sess.run(a) == 2001.0
        assert sess._session.num_plans == 0  # constants alone need no plan
    assert node() is graph
    assert len(gc.get_objects()) - before < 200


def test_plans_are_bounded(graph):
    x = v1.placeholder(tf.float32, [4])
    with v1.Session() as sess:
        for i in range(1000):
            assert sess.run(x[i % 4], {x: [0, 1, 2, 3]}) == i % 4
        assert sess._session.num_plans <= 256


def test_errors_name_what_is_wrong(graph):
    x = v1.placeholder(tf.float32, [2], name="input")
    y = x + 1.0
    with v1.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="input"):
            sess.run(y)
        with pytest.raises(ValueError, match=r"shape \(3,\).*input"):
            sess.run(y, {x: [1, 2, 3]})
        with tf.Graph().as_default():
            other = tf.constant(1.0)
        with pytest.raises(ValueError, match="not an element of this graph"):
            sess.run(other)
    with pytest.raises(RuntimeError, match="closed"):
        sess.run(y, {x: [1, 2]})


def test_threads_share_a_session(graph):
    x = v1.placeholder(tf.float32, [3])
    w = tf.Variable([1.0, 2.0, 3.0])
    y = tf.reduce_sum(x * w)
    sess = v1.Session()
    sess.run(v1.global_variables_initializer())
    wrong = []

    def work(n):
        for i in range(100):
            if sess.run(y, {x: [n, i, 1.0]}) != n + 2 * i + 3:
                wrong.append((n, i))

    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_runs_programs_for_tensorflow(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        "import sys\n"
        "import tensorflow as tf\n"
        "with tf.Session() as sess:\n"
        "    print(sess.run(tf.constant([1.0, 2.0]) * 2), sys.argv[1:], __name__)\n"
        "sys.exit(3)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", str(program), "a", "-b"], capture_output=True, text=True
    )
    assert done.stdout == "[2. 4.] ['a', '-b'] __main__\n"
    assert done.returncode == 3


def test_a_constant_that_somebody_holds_can_be_fed(graph):
    a = tf.add(2, 5)
    b = tf.multiply(a, 3)
    with v1.Session() as sess:
        assert sess.run(b) == 21
        assert sess.run(b, {a: 15}) == 45
        assert sess.run(b) == 21


def test_a_default_is_known_when_the_graph_runs(graph):
    x = v1.placeholder_with_default(tf.constant([1.0, 2.0]), [None], name="x")
    y = x * 2.0
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(y), [2, 4])
        np.testing.assert_array_equal(sess.run(y, {x: [5.0]}), [10])
        np.testing.assert_array_equal(sess.run("x:0"), [1, 2])


def test_names_stay_and_are_found(graph):
    x = v1.placeholder(tf.float32, [2], name="x")
    with tf.name_scope("inner"):
        tf.add(x, 1.0, name="sum")
    tf.multiply(x, 2.0, name="twice")
    tf.multiply(x, 3.0, name="twice")
    with v1.Session() as sess:
        found = sess.run(["inner/sum:0", "twice:0", "twice_1:0"], {"x:0": [1, 2]})
    np.testing.assert_array_equal(found, [[2, 3], [2, 4], [3, 6]])
    v = v1.get_variable("v", initializer=[1.0])
    assert graph.get_tensor_by_name("v:0").shape == v.shape
    assert isinstance(v, tf.Variable)


def test_a_finalized_graph_says_which_line_tried(graph):
    x = v1.placeholder(tf.float32, [2])
    y = x + 1.0
    graph.finalize()
    with pytest.raises(RuntimeError, match=r"finalized.*test_session\.py"):
        tf.add(x, y)
    with v1.Session() as sess:
        np.testing.assert_array_equal(sess.run(y, {x: [1, 2]}), [2, 3])


def test_new_threads_build_the_graph_too():
    program = (
        "import threading\n"
        "import tidemark as tf\n"
        "tf.compat.v1.disable_eager_execution()\n"
        "seen = []\n"
        "class Mine(threading.Thread):\n"
        "    def run(self):\n"
        "        seen.append((tf.executing_eagerly(), tf.compat.v1.get_default_graph()))\n"
        "threads = [Mine(), threading.Thread(target=Mine.run, args=(None,))]\n"
        "[t.start() for t in threads], [t.join() for t in threads]\n"
        "assert seen == [(False, tf.compat.v1.get_default_graph())] * 2, seen\n"
        "tf.compat.v1.enable_eager_execution()\n"
        "t = Mine(); t.start(); t.join()\n"
        "assert seen[-1][0] is True\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_dropped_session_gives_everything_back():
    def live():
        return tf.memory.stats().live

    gc.disable()
    try:
        before = live()
        with tf.Graph().as_default():
            v = v1.get_variable("v", initializer=tf.zeros([1000, 1000]))
            sess = v1.Session()
            sess.run(v.initializer)
            sess.run(v * 2.0)
            assert live() - before >= 4_000_000
            del sess
            assert live() - before < 10_000
            sess = v1.Session()
            sess.run(v.initializer)
            sess.close()
            assert live() - before < 10_000
    finally:
        gc.enable()
