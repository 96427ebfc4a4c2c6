"""``tf.test``: cases that compare tensors, gradients against differences, what this machine has."""

from __future__ import annotations

import functools
import platform
import unittest

from tidemark._export import namespace as _namespace
from tidemark._export import refusing as _refusing
from tidemark.config._devices import is_built_with_cuda, logical_gpu_count
from tidemark.test import experimental
from tidemark.test._case import TestCase
from tidemark.test._gradients import compute_gradient

globals().update(_namespace("tf.test"))

__all__ = [
    "TestCase",
    "compute_gradient",
    "disable_with_predicate",
    "experimental",
    "gpu_device_name",
    "is_built_with_cuda",
    "is_built_with_gpu_support",
    "is_built_with_rocm",
    "is_built_with_xla",
    "is_cpu_target_available",
    "is_gpu_available",
    "main",
    "with_eager_op_as_function",
]


def __getattr__(name):
    if name == "get_temp_dir":  # of TensorFlow 1
        from tidemark.test._case import get_temp_dir  # loaded on first use

        return get_temp_dir
    return _refusing("tf.test")(name)


def assert_equal_graph_def(expected, actual):
    """Raises AssertionError where two messages of graphs differ."""
    wanted, found = ({node.name: node for node in graph.node} for graph in (expected, actual))
    for name in {**wanted, **found}:
        if wanted.get(name) != found.get(name):
            raise AssertionError(
                f"Node {name} differs: {wanted.get(name)} was expected, {found.get(name)} is there"
            )


def benchmark_config():
    """The configuration of sessions in which times are taken."""
    from tidemark._v1.config import ConfigProto  # only sessions need it

    return ConfigProto()


def main(argv=None):
    """Runs all cases of the script that calls it."""
    return unittest.main(argv=argv)


def gpu_device_name():
    """The name of the first GPU; "" where there is none."""
    return "/device:GPU:0" if logical_gpu_count() else ""


def is_gpu_available(cuda_only=False, min_cuda_compute_capability=None):
    """Whether there is a GPU to run on."""
    return logical_gpu_count() > 0


def is_built_with_gpu_support():
    """Whether this is built for GPUs."""
    return is_built_with_cuda()


def is_built_with_rocm():
    """Whether this is built for ROCm."""
    return False


def is_built_with_xla():
    """Whether this is built with XLA."""
    return False


def is_cpu_target_available(target):
    """Whether code for a processor ("x86", "aarch64", …) runs here."""
    here = {"amd64": "x86", "x86_64": "x86", "arm64": "aarch64"}
    machine = platform.machine().lower()
    return target in (machine, here.get(machine, machine))


def disable_with_predicate(pred, skip_message):
    """Skips a test where the predicate holds."""

    def decorate(function):
        @functools.wraps(function)
        def run(self, *args, **kwargs):
            if pred():
                self.skipTest(skip_message)
            else:
                function(self, *args, **kwargs)

        return run

    return decorate


def with_eager_op_as_function(cls=None, only_as_function=False):
    """The class as it is: every op is one function here already."""
    return (lambda real: real) if cls is None else cls
