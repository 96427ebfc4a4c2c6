"""How property tests choose examples: the same ones every time, unless `./dev fuzz` explores.

Also notes which ops the tests compare with a reference: see value_checks.py.
"""

import pytest
import value_checks
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("repeatable")

# Tests of what a call costs see the watch as a handler of calls, so they run without it.
UNWATCHED = ("bind", "memory", "bench", "failed", "foreign", "threads", "dev", "checks", "function",
             "autograph")  # fmt: skip


def pytest_sessionstart(session):
    value_checks.install()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if any(word in item.module.__name__ for word in UNWATCHED):
        yield
        return
    value_checks.begin()
    outcome = yield
    value_checks.end(outcome.excinfo is None)
