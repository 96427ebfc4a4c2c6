"""A pytest plugin: of what is collected, the tests that a file names; a line a test, as it ends.

SAMPLE_NAMES names the file and SAMPLE_RESULTS that of the results. With SAMPLE_EVERY=N instead of
names it is one in N of all tests, always the same ones. SAMPLE_TIDEMARK=1 puts Tidemark in
TensorFlow's place before anything is imported.
"""

from __future__ import annotations

import os
import signal
import sys
import zlib
from pathlib import Path

SECONDS_A_TEST = 60.0  # of the processor

if os.environ.get("SAMPLE_TIDEMARK"):
    import tidemark

    tidemark.install_as_tensorflow()


class TestTimeoutError(BaseException):
    """Not an Exception, so that no test takes it for the error that it expects."""


def expire(number, frame):
    raise TestTimeoutError(f"took more than {SECONDS_A_TEST:.0f} s of processor time")


def pytest_configure(config):
    from absl import flags  # what some packages' tests ask for flags of

    flags.FLAGS(sys.argv[:1])
    signal.signal(signal.SIGPROF, expire)


def pytest_collection_modifyitems(config, items):
    # A method of tf.test.TestCase, which pytest takes for a test.
    items[:] = [item for item in items if item.name != "test_session"]
    if "SAMPLE_EVERY" in os.environ:
        every = int(os.environ["SAMPLE_EVERY"])
        items[:] = [i for i in items if zlib.crc32(i.nodeid.encode()) % every == 0]
        return
    names = set(Path(os.environ["SAMPLE_NAMES"]).read_text(encoding="utf-8").splitlines())
    items[:] = [item for item in items if item.nodeid in names]


def pytest_runtest_logstart(nodeid, location):
    signal.setitimer(signal.ITIMER_PROF, SECONDS_A_TEST)


def pytest_runtest_logreport(report):
    if report.when == "call" or report.outcome != "passed":
        with open(os.environ["SAMPLE_RESULTS"], "a", encoding="utf-8") as file:
            file.write(f"{report.outcome}\t{report.nodeid}\n")


def pytest_runtest_logfinish(nodeid, location):
    signal.setitimer(signal.ITIMER_PROF, 0)
