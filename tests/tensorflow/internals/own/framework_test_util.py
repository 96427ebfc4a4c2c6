"""``tensorflow.python.framework.test_util``: the decorators of TensorFlow's tests, of public names.

Written anew from what they are documented to do; what only concerns accelerators, other builds or
the garbage of TensorFlow's own objects leaves the test as it is.
"""

import contextlib
import functools
import inspect
import itertools
import unittest

import numpy as np
import tensorflow as tf
from internals.python.eager.context import graph_mode

TensorFlowTestCase = tf.test.TestCase

is_gpu_available = tf.test.is_gpu_available
gpu_device_name = tf.test.gpu_device_name
IsBuiltWithROCm = tf.test.is_built_with_rocm
IsBuiltWithXLA = tf.test.is_built_with_xla
IsGoogleCudaEnabled = tf.test.is_built_with_cuda


def is_xla_enabled():
    return False


is_mlir_bridge_enabled = is_asan_enabled = is_msan_enabled = is_xla_enabled
is_tsan_enabled = is_ubsan_enabled = IsMklEnabled = IsBuiltWithNvcc = is_xla_enabled
GpuSupportsHalfMatMulAndConv = memory_profiler_is_available = is_xla_enabled


def _unchanged(test=None, *_, **__):
    """A decorator that leaves the test alone, used with or without arguments."""
    if callable(test):
        return test
    return lambda inner: inner


_LEFT_ALONE = """
    add_graph_building_optimization_tests assert_no_garbage_created assert_no_new_tensors
    assert_no_new_pyobjects_executing_eagerly disable_asan disable_cudnn_autotune
    disable_eager_op_as_function disable_mlir_bridge disable_msan disable_tfrt disable_tsan
    disable_ubsan disable_xla enable_c_shapes enable_control_flow_v2
    enable_eager_op_as_function enable_graph_building_optimization
    enable_nested_function_shape_inference enable_output_all_intermediates
    enable_quantized_dtypes_training enable_tf_xla_constant_folding no_xla_auto_jit
    run_all_without_tensor_float_32 run_without_tensor_float_32 set_xla_env_flag with_c_shapes
    with_control_flow_v2 with_eager_op_as_function xla_allow_fallback
    with_forward_compatibility_horizons
"""
for _name in _LEFT_ALONE.split():
    globals()[_name] = _unchanged


def _methods(cls, prefix="test"):
    for name, value in list(vars(cls).items()):
        if callable(value) and name.startswith(prefix) and name != "test_session":
            yield name, value


def _each_method(cls, decorator):
    for name, value in _methods(cls):
        setattr(cls, name, decorator(value))
    return cls


def for_all_test_methods(decorator, *args, **kwargs):
    return lambda cls: _each_method(cls, decorator(*args, **kwargs))


def _applied(decorator, func):
    """The decorator to use where it was written with arguments, else the decorated test."""
    return decorator if func is None else decorator(func)


# --- graphs and eagerness -------------------------------------------------------------------------


def _in_graph(f):
    @functools.wraps(f)
    def decorated(*args, **kwargs):
        with graph_mode():
            return f(*args, **kwargs)

    return decorated


def deprecated_graph_mode_only(func):
    if not inspect.isclass(func):
        return _in_graph(func)
    for name in ("setUp", "tearDown"):
        if name in vars(func):
            setattr(func, name, _in_graph(vars(func)[name]))
    return _each_method(func, _in_graph)


run_deprecated_v1 = run_all_in_deprecated_graph_mode_only = deprecated_graph_mode_only


def run_in_graph_and_eager_modes(
    func=None, config=None, use_gpu=True, assert_no_eager_garbage=False
):
    def decorator(f):
        @functools.wraps(f)
        def decorated(self, *args, **kwargs):
            try:
                with (
                    graph_mode(),
                    self.subTest("graph_mode"),
                    self.test_session(use_gpu=use_gpu, config=config),
                ):
                    f(self, *args, **kwargs)
            except unittest.SkipTest:
                pass
            self.tearDown()
            self._tempdir = None
            with self.subTest("eager_mode"):
                self.setUp()
                f(self, *args, **kwargs)

        return decorated

    return _applied(decorator, func)


def run_all_in_graph_and_eager_modes(cls):
    for name, value in _methods(cls):
        if not name.startswith("testSkipEager") and not name.startswith("test_skip_eager"):
            setattr(cls, name, run_in_graph_and_eager_modes(value))
    return cls


def run_in_v1_v2(func=None, **_):
    return _applied(run_in_graph_and_eager_modes, func)


def run_class_in_v1_v2(cls):
    return _each_method(cls, run_in_graph_and_eager_modes)


def build_as_function_and_v1_graph(func=None):
    def decorator(f):
        @functools.wraps(f)
        def decorated(self, run_mode, *args, **kwargs):
            if run_mode == "v1_graph":
                with tf.Graph().as_default():
                    f(self, *args, **kwargs)
            else:
                tf.function(lambda: f(self, *args, **kwargs) and None, autograph=False)()

        from absl.testing import parameterized

        return parameterized.named_parameters(("_v1_graph", "v1_graph"), ("_function", "function"))(
            decorated
        )

    return _applied(decorator, func)


def run_in_async_and_sync_mode(f):
    return f


def also_run_as_tf_function(f):
    @functools.wraps(f)
    def decorated(*args, **kwargs):
        f(*args, **kwargs)
        if tf.executing_eagerly():
            tf.function(lambda: f(*args, **kwargs) and None, autograph=False)()

    return decorated


def py_func_if_in_function(f):
    @functools.wraps(f)
    def decorated(*args, **kwargs):
        if not tf.inside_function():
            return f(*args, **kwargs)
        tensors = [a for a in (*args, *kwargs.values()) if tf.is_tensor(a)]

        def inner(*values):
            given = iter(values)
            swap = lambda a: next(given) if tf.is_tensor(a) else a  # noqa: E731
            f(*map(swap, args), **{key: swap(value) for key, value in kwargs.items()})

        return tf.py_function(inner, tensors, [])

    return decorated


@contextlib.contextmanager
def run_functions_eagerly(run_eagerly):
    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(run_eagerly)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)


# --- tests that are not for this build ------------------------------------------------------------


def _skipping(reason):
    def decorator(func=None, **_):
        def skip(f):
            if inspect.isclass(f):
                return _each_method(f, skip)

            @functools.wraps(f)
            def decorated(self, *args, **kwargs):
                self.skipTest(reason)

            return decorated

        return _applied(skip, func)

    return decorator


run_gpu_only = run_cuda_only = run_gpu_or_tpu = _skipping("it needs a GPU")


def run_v1_only(reason=None, func=None):
    return _applied(_skipping(reason or "it needs TensorFlow 1"), func if callable(func) else None)


def run_v2_only(func=None, reason=None):
    return _applied(lambda f: f, func if callable(func) else None)


def disable_control_flow_v2(_):
    return _skipping("it needs control flow of TensorFlow 1")


def skip_if(condition):
    def decorator(f):
        @functools.wraps(f)
        def decorated(*args, **kwargs):
            if not (condition() if callable(condition) else condition):
                f(*args, **kwargs)

        return decorated

    return decorator


@contextlib.contextmanager
def skip_if_error(test_obj, error_type, messages=None):
    messages = [messages] if isinstance(messages, str) else messages or []
    try:
        yield
    except error_type as error:
        if not messages or any(message in str(error) for message in messages):
            test_obj.skipTest(f"skipped after {error!r}")
        raise


# --- devices --------------------------------------------------------------------------------------


@contextlib.contextmanager
def device(use_gpu):
    with tf.device("/device:GPU:0" if use_gpu and is_gpu_available() else "/device:CPU:0"):
        yield


def use_gpu():
    return device(use_gpu=True)


def force_gpu():
    return tf.device("/device:GPU:0")


def force_cpu():
    return tf.device("/device:CPU:0")


@contextlib.contextmanager
def deterministic_ops():
    tf.config.experimental.enable_op_determinism()
    try:
        yield
    finally:
        tf.config.experimental.disable_op_determinism()


def sync_devices():
    tf.test.experimental.sync_devices()


def matmul_without_tf32(a, b, *args, **kwargs):
    return tf.matmul(a, b, *args, **kwargs)


def _reordered(order4, order5):
    def move(x):
        order = {4: order4, 5: order5}.get(len(x) if isinstance(x, list) else len(x.shape))
        if isinstance(x, list):
            return [x[axis] for axis in order]
        return tf.transpose(x, order)

    return move


NHWCToNCHW = _reordered([0, 3, 1, 2], [0, 4, 1, 2, 3])
NCHWToNHWC = _reordered([0, 2, 3, 1], [0, 2, 3, 4, 1])


# --- the rest -------------------------------------------------------------------------------------


def generate_combinations_with_testcase_name(**kwargs):
    keys = sorted(kwargs)
    rows = itertools.product(*(kwargs[key] for key in keys))
    combinations = [dict(zip(keys, row, strict=True)) for row in rows]
    for one in combinations:
        words = [f"_{key}_{''.join(filter(str.isalnum, str(one[key])))}" for key in keys]
        one["testcase_name"] = f"_test{''.join(words)}"
    return combinations


class _GradientsAsTape:
    """``tf.gradients`` with the methods of a tape."""

    def watch(self, x):
        pass

    def gradient(self, y, x, grad_ys=None):
        found = tf.gradients(y, x, grad_ys)
        return found if isinstance(x, (list, tuple)) else found[0]


class AbstractGradientTape:
    def __init__(self, use_tape, persistent=False):
        tape = tf.GradientTape(persistent=persistent) if use_tape else None
        self._tape = tape or contextlib.nullcontext(_GradientsAsTape())

    def __enter__(self):
        return self._tape.__enter__()

    def __exit__(self, *error):
        self._tape.__exit__(*error)


def assert_equal_graph_def(actual, expected, **_):
    np.testing.assert_equal(str(actual), str(expected))
