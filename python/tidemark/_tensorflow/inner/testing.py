"""``tensorflow.python.framework.test_util``: decorators of tests that packages bring along."""

from __future__ import annotations

import contextlib
import functools
import unittest

import tidemark
from tidemark.test import TestCase

TensorFlowTestCase = TestCase


def _as_it_is(function=None, *args, **kwargs):
    """A decorator without effect, with arguments or without."""
    return function if callable(function) else _as_it_is


# What they switch off does not exist here, and what they switch on is always so.
disable_cudnn_autotune = disable_xla = disable_mlir_bridge = disable_tfrt = _as_it_is
run_all_without_tensor_float_32 = run_without_tensor_float_32 = no_xla_auto_jit = _as_it_is
with_control_flow_v2 = enable_control_flow_v2 = enable_output_all_intermediates = _as_it_is
with_eager_op_as_function = run_v2_only = _as_it_is
# What they count are objects of TensorFlow's own.
assert_no_new_pyobjects_executing_eagerly = assert_no_garbage_created = _as_it_is
assert_no_new_tensors = _as_it_is


def is_gpu_available(*args, **kwargs):
    return False


def is_xla_enabled():
    return False


is_mlir_bridge_enabled = IsBuiltWithNvcc = is_xla_enabled


def _of_tests(decorate):
    """A decorator of a test as one of a test, or of all tests of a class, with arguments or
    without."""

    def decorator(test=None, *args, **kwargs):
        if isinstance(test, type):
            return for_all_test_methods(lambda: decorate)(test)
        return decorate(test) if callable(test) else decorator

    return decorator


def for_all_test_methods(decorator, *args, **kwargs):
    """A decorator of classes that decorates each of their tests."""

    def decorate(cls):
        for name, value in list(vars(cls).items()):
            if callable(value) and name.startswith("test") and name != "test_session":
                setattr(cls, name, decorator(*args, **kwargs)(value))
        return cls

    return decorate


def _skipped(reason):
    def decorate(test):
        @functools.wraps(test)
        def skip(self, *args, **kwargs):
            raise unittest.SkipTest(reason)

        return skip

    return _of_tests(decorate)


def run_v1_only(reason=None, func=None):
    """The test is of behaviour that TensorFlow 2 does not have."""
    skipping = _skipped(f"it needs TensorFlow 1: {reason}")
    return skipping if func is None else skipping(func)


run_gpu_only = run_cuda_only = _skipped("it needs a GPU")


@_of_tests
def run_deprecated_v1(test):
    """The test builds a graph of sessions."""

    @functools.wraps(test)
    def in_graph(self, *args, **kwargs):
        with tidemark.Graph().as_default():
            return test(self, *args, **kwargs)

    return in_graph


deprecated_graph_mode_only = run_deprecated_v1


@_of_tests
def run_in_graph_and_eager_modes(test):
    """The test builds a graph of sessions, and is run again where ops run when they are called."""

    @functools.wraps(test)
    def both(self, *args, **kwargs):
        in_graph = tidemark.Graph().as_default()
        with contextlib.suppress(unittest.SkipTest), in_graph, self.test_session():
            test(self, *args, **kwargs)
        self.tearDown()
        self.setUp()
        test(self, *args, **kwargs)

    return both


run_all_in_graph_and_eager_modes = run_in_graph_and_eager_modes


@_of_tests
def also_run_as_tf_function(test):
    """The test is run again inside a function."""

    @functools.wraps(test)
    def both(self, *args, **kwargs):
        test(self, *args, **kwargs)
        if tidemark.executing_eagerly():
            tidemark.function(lambda: test(self, *args, **kwargs) and None, autograph=False)()

    return both
