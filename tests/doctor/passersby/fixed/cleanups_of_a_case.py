"""An evaluation harness on top of unittest that never comes to its cleanups."""

import unittest

import tensorflow as tf


class Case(unittest.TestCase):
    def runTest(self):
        pass


def free(results):
    results.clear()


case = Case()
for step in range(120):
    results = {"logits": tf.tanh(tf.random.normal([64, 64]))}
    case.addCleanup(free, results)
    case.assertLess(float(tf.reduce_max(results["logits"])), 1.5)
    case.doCleanups()
