"""Runs one test file of a checkout in this process; a JSON line a test, when it starts and ends.

    one_file.py CHECKOUT FILE RESULTS [--tidemark] [--skip NAMES] [--only NAMES]

NAMES is a file of tests: not to run, because an earlier process that died has done them already;
or to run alone.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import random
import re
import signal
import sys
import threading
import traceback
import types
import unittest
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
SECONDS_A_TEST = 20.0  # of the processor: a busy machine changes no result


class TestTimeoutError(BaseException):
    """Not an Exception, so that no test takes it for the error that it expects."""


def expire(number, frame):
    raise TestTimeoutError(f"took more than {SECONDS_A_TEST:.0f} s of processor time")


class PrivateInThreadError(Exception):
    """Ends a test that would wait for a thread that needed something private."""


def end_test_for_thread(args):
    """What ends a thread that fails: its test, too, where it is for want of something private."""
    threading.__excepthook__(args)
    if needs_something_private(args.exc_value):
        os.kill(os.getpid(), signal.SIGUSR1)


def give_up(number, frame):
    raise PrivateInThreadError("a thread of the test needed something private")


class Results(unittest.TestResult):
    """Writes what is found to a file at once."""

    def __init__(self, path):
        super().__init__()
        self.path = path
        self.found = self.why = None

    def write(self, **line):
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def startTest(self, test):
        super().startTest(test)
        self.found, self.why = "passed", ""
        self.write(test=name_of(test))
        signal.setitimer(signal.ITIMER_PROF, SECONDS_A_TEST)

    def stopTest(self, test):
        signal.setitimer(signal.ITIMER_PROF, 0)
        super().stopTest(test)
        self.write(test=name_of(test), result=self.found, why=self.why)

    def _fail(self, error):
        kind, value, trace = error
        self.found = "private" if needs_something_private(value) else "failed"
        steps = traceback.extract_tb(trace)
        where = " < ".join(f"{Path(s.filename).name}:{s.lineno}" for s in reversed(steps[-4:]))
        self.why = f"{kind.__name__}: {str(value)[:600]} [{where}]"

    def addError(self, test, error):
        self._fail(error)

    addFailure = addError

    def addSubTest(self, test, subtest, error):
        if error is not None and not issubclass(error[0], unittest.SkipTest):
            self._fail(error)

    def addSkip(self, test, reason):
        if self.found == "passed":
            self.found = "skipped"

    def addExpectedFailure(self, test, error):
        self.found = "passed"

    def addUnexpectedSuccess(self, test):
        self.found = "failed"


def needs_something_private(error) -> bool:
    """Whether a test failed for want of what TensorFlow does not make public: a name of an inner
    module, an attribute with an underscore, an operation that only its own tests have."""
    if type(error).__name__ in ("NeedsPrivateNameError", "PrivateInThreadError"):
        return True
    if isinstance(error, AttributeError):
        name = getattr(error, "name", None) or ""
        return name.startswith("_") and not name.endswith("__")
    unregistered = re.match(r"Op type not registered '(\w+)'", str(error))
    if unregistered and isinstance(error, RuntimeError):
        import tensorflow as tf

        return unregistered[1] not in dir(tf.raw_ops)
    return False


def name_of(test) -> str:
    """``Class.method``; what it says of itself where the failure is of a whole class."""
    method = getattr(test, "_testMethodName", None)
    return f"{type(test).__name__}.{method}" if method else test.id()


def tests_in(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from tests_in(test)
        else:
            yield test


def load(checkout, file):
    """The test file as a module, its imports answered by `internals`."""
    from internals import exports, finder

    finder.install(exports.Exports(checkout))
    name = "internals." + file.removesuffix(".py").replace("/", ".").removeprefix("tensorflow.")
    module = types.ModuleType(name)
    module.__file__ = str(Path(checkout) / file)
    sys.modules[name] = module
    importlib.import_module(name.rpartition(".")[0])
    finder.run_source(module.__file__, module)
    if "enable_numpy_methods_on_tensor()" in Path(module.__file__).read_text(encoding="utf-8"):
        import tensorflow as tf  # what the file does before it runs its tests, by its public name

        tf.experimental.numpy.experimental_enable_numpy_behavior()
    return module


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("checkout")
    parser.add_argument("file")
    parser.add_argument("results")
    parser.add_argument("--tidemark", action="store_true")
    parser.add_argument("--skip", type=Path)
    parser.add_argument("--only", type=Path)
    given = parser.parse_args()
    sys.argv[1:] = []
    logging.disable(logging.WARNING)
    random.seed(0)
    if given.tidemark:
        import tidemark

        tidemark.install_as_tensorflow()
        tidemark.experimental.set_dtype_promotion(False)  # they test for TensorFlow's errors
    from absl import flags

    flags.FLAGS(sys.argv[:1])
    results = Results(given.results)
    try:
        module = load(given.checkout, given.file)
    except BaseException as error:
        results._fail((type(error), error, error.__traceback__))
        results.write(test="", result="failed", why=results.why)
        return 1
    done = set(given.skip.read_text().split("\n")) if given.skip else ()
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    chosen = [test for test in tests_in(suite) if name_of(test) not in done]
    chosen = [test for test in chosen if not name_of(test).endswith(".test_session")]
    if given.only:
        wanted = set(given.only.read_text().split("\n"))
        chosen = [test for test in chosen if name_of(test) in wanted]
    signal.signal(signal.SIGPROF, expire)
    signal.signal(signal.SIGUSR1, give_up)
    threading.excepthook = end_test_for_thread
    unittest.TestSuite(chosen).run(results)
    return 0


if __name__ == "__main__":
    # What is left at the end (threads, a session) is no business of the tests.
    status = main()
    sys.stdout.flush()
    os._exit(status)
