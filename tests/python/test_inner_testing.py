"""The decorators of tests that packages take from TensorFlow's inner modules."""

import unittest

from tidemark._tensorflow.inner import testing

import tidemark as tf


def outcome(case):
    found = unittest.TestResult()
    unittest.defaultTestLoader.loadTestsFromTestCase(case).run(found)
    # Every case has test_session, too, which is no test and is skipped.
    return found.testsRun - 1, len(found.skipped) - 1, len(found.errors) + len(found.failures)


def test_tests_run_where_they_say():
    seen = []

    class Case(tf.test.TestCase):
        @testing.run_in_graph_and_eager_modes
        def test_both(self):
            seen.append(("both", tf.executing_eagerly(), int(self.evaluate(tf.constant(3)))))

        @testing.run_in_graph_and_eager_modes()
        def test_called(self):
            seen.append(("called", tf.executing_eagerly()))

        @testing.run_deprecated_v1
        def test_graph(self):
            seen.append(("graph", tf.executing_eagerly()))

        @testing.also_run_as_tf_function
        def test_function(self):
            seen.append(("function", tf.executing_eagerly()))

        @testing.disable_xla("no reason")
        def test_unchanged(self):
            seen.append(("unchanged", tf.executing_eagerly()))

        @testing.run_v1_only("gone")
        def test_old(self):
            seen.append("old")

        @testing.run_gpu_only
        def test_gpu(self):
            seen.append("gpu")

    assert outcome(Case) == (7, 2, 0)
    assert sorted(seen) == [
        ("both", False, 3), ("both", True, 3), ("called", False), ("called", True),
        ("function", False), ("function", True), ("graph", False), ("unchanged", True),
    ]  # fmt: skip


def test_classes_are_decorated_test_by_test():
    seen = []

    @testing.run_all_in_graph_and_eager_modes
    class Case(tf.test.TestCase):
        def test_one(self):
            seen.append(tf.executing_eagerly())

        def helper(self):
            raise AssertionError("it is no test")

    @testing.for_all_test_methods(testing.run_v1_only, "gone")
    class Skipped(tf.test.TestCase):
        def test_one(self):
            raise AssertionError("it is skipped")

    assert outcome(Case)[2] == 0 and seen == [False, True]
    assert outcome(Skipped)[1:] == (1, 0)
