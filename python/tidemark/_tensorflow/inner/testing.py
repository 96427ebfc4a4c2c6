"""``tensorflow.python.framework.test_util``: decorators of tests that packages bring along."""

from __future__ import annotations

from tidemark.test import TestCase

TensorFlowTestCase = TestCase


def _as_it_is(function=None, *args, **kwargs):
    """A decorator without effect, with arguments or without."""
    return function if callable(function) else _as_it_is


# What they switch off does not exist here.
disable_cudnn_autotune = disable_xla = disable_mlir_bridge = disable_tfrt = _as_it_is
run_all_without_tensor_float_32 = run_without_tensor_float_32 = no_xla_auto_jit = _as_it_is


def is_gpu_available(*args, **kwargs):
    return False


def is_xla_enabled():
    return False
