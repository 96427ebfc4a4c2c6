"""Sessions opened, nodes made and threads started again and again leave the process as it was."""

import threading

import numpy as np
from flat import assert_flat

import tidemark as tf

v1 = tf.compat.v1
MIB = 1 << 20


def test_sessions_opened_and_closed():
    with tf.Graph().as_default():
        v = v1.get_variable("v", initializer=np.ones(1000, np.float32))
        y = tf.reduce_sum(v * 2.0)

        def round_():
            with v1.Session() as sess:
                sess.run(v.initializer)
                sess.run(y)

        assert_flat(round_, 10_000, allowed=MIB)


def test_iterators_functions_and_seeds_in_sessions_opened_and_closed():
    with tf.Graph().as_default() as graph:
        v = v1.get_variable("v", initializer=np.ones(1000, np.float32))
        element = v1.data.make_one_shot_iterator(tf.data.Dataset.range(3)).get_next()

        @tf.function
        def add(x):
            v.assign_add(x)
            return tf.reduce_sum(v)

        added = add(tf.random.uniform([1000], seed=3))

        def round_():
            with v1.Session(graph=graph) as sess:
                sess.run(v.initializer)
                sess.run([element, added])

        assert_flat(round_, 2_000, allowed=MIB)


def test_a_node_a_run():
    with tf.Graph().as_default(), v1.Session() as sess:
        a = tf.constant(np.ones(1000, np.float32))
        assert_flat(lambda: sess.run(a[0]), 10_000, allowed=MIB)


def test_many_threads():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [8])
        y = tf.reduce_sum(x * 2.0)
        sess = v1.Session()
    value = np.ones(8, np.float32)

    def work():
        for _ in range(1000):
            sess.run(y, {x: value})

    def round_():
        threads = [threading.Thread(target=work) for _ in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    assert_flat(round_, 8, allowed=MIB, warm_up=2)
    sess.close()
