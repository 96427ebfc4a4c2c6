"""tf.test: its assertions hold and fail where TensorFlow's do."""

import collections
import unittest

import numpy as np
import pytest

import tidemark as tf

Pair = collections.namedtuple("Pair", ["a", "b"])


class Case(tf.test.TestCase):
    def runTest(self):
        pass


@pytest.fixture
def case():
    made = Case()
    made.setUp()
    yield made
    made.tearDown()


def fails(function, *args, **kwargs):
    with pytest.raises(AssertionError):
        function(*args, **kwargs)


def test_near(case):
    case.assertAllClose([1.0, 2.0], tf.constant([1.0, 2.0]))
    case.assertAllClose({"x": [1.0, [2.0]]}, {"x": [1.0, [2.0]]})
    case.assertAllClose(Pair(tf.ones([2]), 1.0), Pair(np.ones(2), 1.0))
    case.assertAllClose([tf.ones([2]), tf.ones([3])], [np.ones(2), np.ones(3)])
    case.assertAllClose(np.nan, np.nan)
    case.assertAllClose(1.0, 1.0 + 9e-7)
    fails(case.assertAllClose, 1.0, 1.001)
    case.assertAllClose(1.0, 1.001, rtol=1e-2)
    fails(case.assertAllClose, [1.0, 2.0], [1.0])
    fails(case.assertAllClose, {"x": 1.0}, {"y": 1.0})
    fails(case.assertAllClose, [tf.ones([2]), tf.ones([3])], [np.ones(2), np.zeros(3)])
    case.assertNotAllClose(1.0, 2.0)
    fails(case.assertNotAllClose, 1.0, 1.0)
    case.assertAllCloseAccordingToType(tf.constant(1.0, tf.float16), 1.0009)
    fails(case.assertAllCloseAccordingToType, tf.constant(1.0), tf.constant(1.0009))


def test_equal(case):
    case.assertAllEqual([b"a", b"b"], tf.constant(["a", "b"]))
    case.assertAllEqual([[1, 2], [3, 4]], tf.constant([[1, 2], [3, 4]]))
    case.assertAllEqual(tf.ragged.constant([[1], [2, 3]]), [[1], [2, 3]])
    case.assertAllEqual(tf.sparse.from_dense([[0, 1]]), tf.sparse.from_dense([[0, 1]]))
    fails(case.assertAllEqual, tf.sparse.from_dense([[0, 1]]), tf.sparse.from_dense([[1, 0]]))
    fails(case.assertAllEqual, tf.ragged.constant([[1], [2, 3]]), [[1], [2]])
    fails(case.assertAllEqual, [1, 2], [1, 3])
    fails(case.assertAllEqual, [1, 2], [[1, 2]])
    case.assertNotAllEqual([1, 2], [1, 3])
    fails(case.assertNotAllEqual, [1, 2], [1, 2])


def test_ranges(case):
    x = tf.constant([1, 2, 3])
    case.assertAllGreater(x, 0)
    case.assertAllGreaterEqual(x, 1)
    case.assertAllLess(x, 4)
    case.assertAllLessEqual(x, 3)
    case.assertAllInRange(x, 1, 3)
    case.assertAllInSet(x, [1, 2, 3, 4])
    for check in (case.assertAllGreater, case.assertAllLess):
        fails(check, x, 2)
    fails(case.assertAllGreaterEqual, x, 2)
    fails(case.assertAllLessEqual, x, 2)
    fails(case.assertAllInRange, x, 1, 3, open_upper_bound=True)
    fails(case.assertAllInRange, x, 1, 3, open_lower_bound=True)
    fails(case.assertAllInSet, x, [1, 2])


def test_shapes_and_numbers(case):
    case.assertShapeEqual(np.ones((2, 3)), tf.ones([2, 3]))
    fails(case.assertShapeEqual, np.ones((2, 3)), tf.ones([3]))
    case.assertDTypeEqual(tf.ones([1]), "float32")
    fails(case.assertDTypeEqual, tf.ones([1]), tf.int32)
    case.assertNear(1.0, 1.1, 0.2)
    fails(case.assertNear, 1.0, 1.3, 0.2)
    case.assertArrayNear([1.0], [1.1], 0.2)
    fails(case.assertArrayNear, [1.0], [1.3], 0.2)
    case.assertNDArrayNear(np.ones(2), np.ones(2), 1e-6)
    fails(case.assertNDArrayNear, np.ones(2), np.zeros(2), 1e-6)
    case.assertStartsWith("tide", "ti")
    fails(case.assertStartsWith, "tide", "id")


def test_errors(case):
    with case.assertRaisesOpError("must"):
        tf.linalg.inv(tf.ones([2, 3]))
    with case.assertRaisesWithPredicateMatch(ValueError, lambda e: "wrong" in str(e)):
        raise ValueError("wrong")
    with pytest.raises(AssertionError), case.assertRaisesWithPredicateMatch(ValueError, "other"):
        raise ValueError("wrong")
    with pytest.raises(AssertionError), case.assertRaisesWithPredicateMatch(ValueError, "wrong"):
        pass


def test_values_and_sessions(case):
    assert case.evaluate({"a": tf.constant(3)})["a"] == 3
    graph = tf.Graph()
    with graph.as_default(), case.session(graph=graph) as session:
        y = tf.constant(2.0) * 3
        assert session.run(y) == 6 and case.evaluate(y) == 6


def test_folders_go(case):
    import os

    folder = case.get_temp_dir()
    assert os.path.isdir(folder) and case.get_temp_dir() == folder
    case.tearDown()
    assert os.path.isdir(folder)  # what was left for the end may need it
    case.doCleanups()
    assert not os.path.exists(folder)


def test_seeds_repeat():
    drawn = []
    for _ in range(2):
        made = Case()
        made.setUp()
        drawn.append((tf.random.uniform([3]).numpy().tolist(), np.random.rand()))
    assert drawn[0] == drawn[1]


def test_runs_under_unittest():
    class Good(tf.test.TestCase):
        def test_sum(self):
            self.assertAllEqual(tf.constant([1]) + 1, [2])

        @tf.test.disable_with_predicate(lambda: True, "not here")
        def test_skipped(self):
            raise AssertionError

    result = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(Good).run(result)
    skipped = {reason for _, reason in result.skipped}
    assert result.wasSuccessful() and skipped == {"not here", "Not a test."}


def test_compute_gradient():
    def f(a, b):
        return tf.matmul(a, b)

    a, b = tf.ones([2, 3], tf.float64), tf.constant(np.arange(6.0).reshape(3, 2))
    theoretical, numeric = tf.test.compute_gradient(f, [a, b])
    assert [t.shape for t in theoretical] == [(4, 6), (4, 6)]
    for t, n in zip(theoretical, numeric, strict=True):
        np.testing.assert_allclose(t, n, atol=1e-9)
    z = tf.constant([1 + 2j, 3 - 1j])
    theoretical, numeric = tf.test.compute_gradient(lambda z: z * z, [z])
    assert theoretical[0].shape == (4, 4)
    np.testing.assert_allclose(np.abs(theoretical[0]), np.abs(numeric[0]), atol=1e-6)
    with pytest.raises(ValueError, match="must be a list or tuple"):
        tf.test.compute_gradient(f, a)
    with pytest.raises(TypeError, match="int32"):
        tf.test.compute_gradient(f, [1])


def test_of_this_machine():
    assert not tf.test.is_gpu_available() and not tf.test.is_built_with_cuda()
    assert tf.test.gpu_device_name() == ""
    assert not tf.test.is_cpu_target_available("none")


def test_errors_of_checked_threads_are_the_tests():
    class Threads(tf.test.TestCase):
        def ends_well(self):
            seen = []
            thread = self.checkedThread(seen.append, args=(3,))
            thread.start()
            thread.join()
            self.assertEqual(seen, [3])
            self.assertFalse(thread.is_alive())

        def raises(self):
            thread = self.checkedThread(lambda: self.assertEqual(1, 2))
            thread.start()
            thread.join()

    result = unittest.TestResult()
    Threads("ends_well").run(result)
    assert result.wasSuccessful()
    Threads("raises").run(result)
    assert "Error in checkedThread: 1 != 2" in result.failures[0][1]
