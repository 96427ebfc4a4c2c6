"""``tf.test.TestCase``: a unittest case that compares tensors."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import random
import re
import shutil
import sys
import tempfile
import threading

import numpy as np

from tidemark import dtypes, errors
from tidemark._proto.message import Message
from tidemark._proto.text import from_text
from tidemark._tidemark import Tensor, set_dtype_promotion
from tidemark.random._functions import set_seed
from tidemark.test._sessions import SessionCase, later_in_functions, reset_default_graph
from tidemark.test._sessions import array as array_of
from tidemark.version import GRAPH_DEF_VERSION, GRAPH_DEF_VERSION_MIN_CONSUMER

try:  # TensorFlow's test cases are Abseil's, with its assertions
    from absl.testing.absltest import TestCase as _Base
except ImportError:
    from unittest import TestCase as _Base

_SEED = 87654321


def _wide(array):
    """Half types compare as float32."""
    array = np.asarray(array)
    return (
        array.astype(np.float32) if array.dtype.kind == "V" or array.dtype.itemsize == 2 else array
    )


@functools.cache
def get_temp_dir():
    """A folder for the files of this process's tests, which goes with the process."""
    folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def _works_in(folder):
    """Whether the process has made the folder, or one inside it, its working directory."""
    try:
        here = os.getcwd()
    except FileNotFoundError:
        return False
    whole = os.path.realpath(folder)
    return os.path.commonpath([os.path.realpath(here), whole]) == whole


@contextlib.contextmanager
def _dtypes_as_in_tensorflow():
    """A context where mixed dtypes are the errors that they are in TensorFlow, if programs find
    this package under its name and did not ask for NumPy's behaviour."""
    is_tensorflow = sys.modules.get("tensorflow") is sys.modules["tidemark"]
    if not is_tensorflow or hasattr(Tensor, "T"):
        yield
        return
    before = set_dtype_promotion(False)
    try:
        yield
    finally:
        if not hasattr(Tensor, "T"):
            set_dtype_promotion(before)


class _CapturedWrites:
    """What went into a file in place of a stream so far."""

    def __init__(self, file):
        self._file, self._text = file, None

    def contents(self):
        if not self._file.closed:
            self._text = os.pread(self._file.fileno(), os.fstat(self._file.fileno()).st_size, 0)
        return self._text.decode()


class TestCase(SessionCase, _Base):
    """A case with assertions about tensors and structures of them."""

    _folder = None  # made when it is asked for

    def run(self, result=None):
        """Runs the test; it may test for errors of dtypes that are mixed."""
        with _dtypes_as_in_tensorflow():
            return super().run(result)

    def setUp(self):
        super().setUp()
        random.seed(_SEED)
        np.random.seed(_SEED)
        reset_default_graph()
        set_seed(_SEED)

    def tearDown(self):
        self._close_cached_session()
        super().tearDown()

    def doCleanups(self):
        """What tests asked to be done may need the folder, which goes last."""
        done = super().doCleanups()
        folder, self._folder = self._folder, None
        if folder is not None and _works_in(folder):
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
        elif folder is not None:
            shutil.rmtree(folder, ignore_errors=True)
        return done

    # --- what a test needs ----------------------------------------------------------------------
    def get_temp_dir(self):
        """A folder of this test's own, which goes with it; with the process if it moved there."""
        if self._folder is None:
            self._folder = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))
        return self._folder

    @contextlib.contextmanager
    def captureWritesToStream(self, stream):
        """A context in which all that is written to a stream of the process, by C++ code, too, goes
        into a file; what the context gives tells its ``contents()``."""
        stream.flush()
        place = stream.fileno()
        with tempfile.TemporaryFile(dir=self.get_temp_dir()) as file:
            before = os.dup(place)
            os.dup2(file.fileno(), place)
            captured = _CapturedWrites(file)
            try:
                yield captured
            finally:
                stream.flush()
                os.dup2(before, place)
                os.close(before)
                captured.contents()  # it can still be asked when the file is gone

    # --- arrays ---------------------------------------------------------------------------------
    def _GetNdArray(self, a):
        return np.asarray(array_of(a))

    def _structures(self, a, b, compare, path=""):
        """Compares what stands at the same place of two structures."""
        if hasattr(a, "_asdict"):
            a = a._asdict()
        if hasattr(b, "_asdict"):
            b = b._asdict()
        if isinstance(a, dict) or isinstance(b, dict):
            self.assertIsInstance(a, dict, f"{path or 'a'} is no dictionary")
            self.assertIsInstance(b, dict, f"{path or 'b'} is no dictionary")
            self.assertEqual(sorted(a), sorted(b), f"different keys at {path or 'the top'}")
            for key in a:
                self._structures(a[key], b[key], compare, f"{path}[{key!r}]")
            return
        tensors = (list, tuple)
        if isinstance(a, tensors) and isinstance(b, tensors) and self._is_deep(a, b):
            self.assertEqual(len(a), len(b), f"different lengths at {path or 'the top'}")
            for i, (x, y) in enumerate(zip(a, b, strict=True)):
                self._structures(x, y, compare, f"{path}[{i}]")
            return
        x, y = array_of(a), array_of(b)
        if isinstance(x, (tuple, list)) or isinstance(y, (tuple, list)):
            if isinstance(x, tuple) and isinstance(y, tuple):
                return self._structures(list(x), list(y), compare, path)
            self.assertEqual(_plain(x), _plain(y))
            return
        compare(x, y, path)

    @staticmethod
    def _is_deep(a, b):
        """Lists whose parts do not make one array."""
        try:
            np.asarray([array_of(x) for x in a], dtype=None)
            np.asarray([array_of(x) for x in b], dtype=None)
        except ValueError:
            return True
        return any(isinstance(x, (dict, list, tuple)) or hasattr(x, "shape") for x in (*a, *b))

    def _text(self, message, path):
        return f"{message or ''}{f' at {path}' if path else ''}"

    def _same_shape(self, a, b, message, path):
        self.assertEqual(
            a.shape, b.shape,
            f"Shape mismatch: expected {a.shape}, got {b.shape}. {self._text(message, path)}",
        )  # fmt: skip

    @later_in_functions
    def assertAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Arrays, tensors or structures of them are near: |a - b| <= atol + rtol |b|."""

        def compare(x, y, path):
            x, y = _wide(x), _wide(y)
            self._same_shape(x, y, msg, path)
            half = 2 in (
                np.asarray(array_of(x)).dtype.itemsize,
                np.asarray(array_of(y)).dtype.itemsize,
            )
            limit = max(rtol, 1e-2) if half else rtol
            np.testing.assert_allclose(x, y, limit, atol, err_msg=self._text(msg, path))

        self._structures(a, b, compare)

    @later_in_functions
    def assertAllCloseAccordingToType(
        self, a, b, rtol=1e-6, atol=1e-6, float_rtol=1e-6, float_atol=1e-6, half_rtol=1e-3,
        half_atol=1e-3, bfloat16_rtol=1e-2, bfloat16_atol=1e-2, msg=None,
    ):  # fmt: skip
        """Near, by limits for the narrower dtype of the two."""

        def compare(x, y, path):
            self._same_shape(x, y, msg, path)
            names = {x.dtype.name, y.dtype.name}
            limits = (rtol, atol)
            for wanted, r, t in (
                (("float32", "complex64"), float_rtol, float_atol),
                (("float16",), half_rtol, half_atol),
                (("bfloat16",), bfloat16_rtol, bfloat16_atol),
            ):
                if names & set(wanted):
                    limits = (max(limits[0], r), max(limits[1], t))
            np.testing.assert_allclose(_wide(x), _wide(y), *limits, err_msg=self._text(msg, path))

        self._structures(a, b, compare)

    def assertNotAllClose(self, a, b, rtol=1e-6, atol=1e-6, msg=None):
        """Some element differs."""
        try:
            self.assertAllClose(a, b, rtol=rtol, atol=atol)
        except AssertionError:
            return
        raise AssertionError(f"The two values are close at all elements. {msg or ''}")

    @later_in_functions
    def assertAllEqual(self, a, b, msg=None):
        """Arrays, tensors or structures of them are equal; NaN equals NaN."""

        def compare(x, y, path):
            self._same_shape(x, y, msg, path)
            np.testing.assert_array_equal(_text_or(x), _text_or(y), err_msg=self._text(msg, path))

        self._structures(a, b, compare)

    def assertNotAllEqual(self, a, b, msg=None):
        """Some element differs."""
        try:
            self.assertAllEqual(a, b)
        except AssertionError:
            return
        raise AssertionError(f"The two values are equal at all elements. {msg or ''}")

    def _assert_each(self, a, holds, what):
        array = self._GetNdArray(a)
        good = np.asarray(holds(array))
        if not good.all():
            at = tuple(int(i) for i in np.argwhere(~good)[0])
            raise AssertionError(f"{(~good).sum()} elements are not {what}; the first, at {at}, is "
                                 f"{array[at]}")  # fmt: skip

    def assertAllGreater(self, a, comparison_target):
        """Every element is greater."""
        self._assert_each(a, lambda x: x > comparison_target, f"greater than {comparison_target}")

    def assertAllGreaterEqual(self, a, comparison_target):
        """Every element is as great or greater."""
        self._assert_each(a, lambda x: x >= comparison_target, f"at least {comparison_target}")

    def assertAllLess(self, a, comparison_target):
        """Every element is less."""
        self._assert_each(a, lambda x: x < comparison_target, f"less than {comparison_target}")

    def assertAllLessEqual(self, a, comparison_target):
        """Every element is as great or less."""
        self._assert_each(a, lambda x: x <= comparison_target, f"at most {comparison_target}")

    def assertAllInRange(
        self, target, lower_bound, upper_bound, open_lower_bound=False, open_upper_bound=False
    ):
        """Every element lies between the bounds."""
        array = self._GetNdArray(target)
        if not (np.issubdtype(array.dtype, np.floating) or np.issubdtype(array.dtype, np.integer)):
            raise AssertionError(f"The value of {target} does not have an ordered numeric type")
        low = (lambda x: x > lower_bound) if open_lower_bound else (lambda x: x >= lower_bound)
        high = (lambda x: x < upper_bound) if open_upper_bound else (lambda x: x <= upper_bound)
        self._assert_each(
            array, lambda x: low(x) & high(x), f"in the range from {lower_bound} to {upper_bound}"
        )

    def assertAllInSet(self, target, expected_set):
        """Every element is in the set."""
        array = self._GetNdArray(target)
        diff = set(array.reshape(-1).tolist()) - set(expected_set)
        if diff:
            raise AssertionError(f"{len(diff)} elements are not in the set {expected_set}: "
                                 f"{sorted(diff)}")  # fmt: skip

    def assertShapeEqual(self, input_a, input_b, msg=None):
        """Two arrays or tensors have one shape."""
        self.assertEqual(tuple(_shape_of(input_a)), tuple(_shape_of(input_b)), self._text(msg, ""))

    def assertDTypeEqual(self, target, expected_dtype):
        """The elements are of the dtype."""
        given = dtypes.as_dtype(
            target.dtype if hasattr(target, "dtype") else np.asarray(target).dtype
        )
        self.assertEqual(given, dtypes.as_dtype(expected_dtype))

    def assertNear(self, f1, f2, err, msg=None):
        """Two numbers differ by at most err."""
        self.assertTrue(
            f1 == f2 or abs(f1 - f2) <= err, f"{f1!r} != {f2!r} +/- {err!r} {msg or ''}"
        )

    def assertArrayNear(self, farray1, farray2, err, msg=None):
        """Two lists of numbers differ by at most err at each place."""
        self.assertEqual(len(farray1), len(farray2), msg)
        for f1, f2 in zip(farray1, farray2, strict=True):
            self.assertNear(float(f1), float(f2), err, msg)

    def assertNDArrayNear(self, ndarray1, ndarray2, err, msg=None):
        """The norm of the difference of two arrays is at most err."""
        norm = np.linalg.norm(np.asarray(ndarray1) - np.asarray(ndarray2))
        self.assertLessEqual(norm, err, msg)

    # --- errors and texts -----------------------------------------------------------------------
    @contextlib.contextmanager
    def assertRaisesWithPredicateMatch(self, exception_type, expected_err_re_or_predicate):
        """The block raises an error whose text matches, or for which the predicate holds."""
        predicate = expected_err_re_or_predicate
        try:
            yield
        except exception_type as error:
            if callable(predicate):
                good = predicate(error)
            else:
                good = re.search(
                    predicate, error.message if hasattr(error, "message") else str(error)
                )
            if not good:
                raise AssertionError(f"Exception of type {type(error)}: {error}") from error
        else:
            raise AssertionError(f"{exception_type.__name__} not raised")

    def assertRaisesOpError(self, expected_err_re_or_predicate):
        """The block raises an error of an op."""
        return self.assertRaisesWithPredicateMatch(errors.OpError, expected_err_re_or_predicate)

    def assertProtoEquals(
        self, expected_message_maybe_ascii, message, msg=None, relative_tolerance=None
    ):
        """Fails unless a message says what another one, or a text, does."""
        wanted = expected_message_maybe_ascii
        if isinstance(wanted, (str, bytes)):
            wanted = _parsed_message(wanted, type(message))
        elif type(wanted) is not type(message):
            self.fail(f"Can't compare protos of type {type(wanted)} and {type(message)}.")
        if wanted != message:
            self.assertMultiLineEqual(str(wanted), str(message), msg)

    def assertProtoEqualsVersion(
        self, expected, actual, producer=GRAPH_DEF_VERSION,
        min_consumer=GRAPH_DEF_VERSION_MIN_CONSUMER, msg=None,
    ):  # fmt: skip
        """Fails unless a GraphDef of these versions says what the text does."""
        versions = f"versions {{ producer: {producer} min_consumer: {min_consumer} }};"
        self.assertProtoEquals(f"{versions}\n{expected}", actual, msg=msg)

    def checkedThread(self, target, args=None, kwargs=None):
        """A thread that a test starts and joins; what it raised fails the test then."""
        return _CheckedThread(self, target, args or (), kwargs or {})

    def assertStartsWith(self, actual, expected_start, msg=None):
        """A text begins with another."""
        if not actual.startswith(expected_start):
            self.fail(f"{actual!r} does not start with {expected_start!r}. {msg or ''}")


class _CheckedThread:
    """A thread whose error is its test's."""

    def __init__(self, case, target, args, kwargs):
        self._case, self._call, self._error = case, (target, args, kwargs), None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        target, args, kwargs = self._call
        try:
            target(*args, **kwargs)
        except Exception as error:
            self._error = error

    def start(self):
        self._thread.start()

    def is_alive(self):
        return self._thread.is_alive()

    def join(self):
        """Waits for its end; fails the test if it raised."""
        self._thread.join()
        if self._error is not None:
            self._case.fail(f"Error in checkedThread: {self._error}")

    def check_termination(self, timeout=None):
        """Fails the test unless it has ended already, or ends soon."""
        self._thread.join(timeout or 0)
        if self.is_alive():
            self._case.fail("checkedThread is still running")
        self.join()


def _plain(value):
    return value.tolist() if isinstance(value, np.ndarray) else value


def _shape_of(value):
    shape = value.shape if hasattr(value, "shape") else np.asarray(value).shape
    return shape.as_list() if hasattr(shape, "as_list") else shape


def _text_or(array):
    """Strings as bytes, so that both kinds compare."""
    array = np.asarray(array)
    if array.dtype.kind == "U":
        return np.char.encode(array, "utf-8").astype(object)
    return array.astype(object) if array.dtype.kind == "S" else array


def _parsed_message(text, kind):
    """A message of this class, read from its text."""
    message = kind()
    if isinstance(message, Message):
        from_text(text, message)
    else:
        from google.protobuf import text_format  # the messages are protobuf's

        text_format.Parse(text, message)
    return message
