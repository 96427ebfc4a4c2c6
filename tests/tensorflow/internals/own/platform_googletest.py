"""``tensorflow.python.platform.googletest``."""

import unittest
from unittest import mock  # noqa: F401

import tensorflow as tf
from absl.testing.absltest import *  # noqa: F403
from absl.testing.absltest import TestCase  # noqa: F401

main = tf.test.main
StatefulSessionAvailable = lambda: False  # noqa: E731
GetTempDir = tf.compat.v1.test.get_temp_dir
SkipTest = unittest.SkipTest
