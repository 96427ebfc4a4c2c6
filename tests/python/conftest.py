"""How property tests choose examples: the same ones every time, unless `./dev fuzz` explores.

Also notes which ops the tests compare with a reference: see value_checks.py.
"""

import pytest
import value_checks
from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile("repeatable")


def pytest_sessionstart(session):
    value_checks.install()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_call(item):
    if item.get_closest_marker("unwatched"):
        yield
        return
    value_checks.begin()
    outcome = yield
    value_checks.end(outcome.excinfo is None)


def _whole_run(session):
    """Whether every test file was asked for and none was left out by a filter."""
    options = session.config.option
    filtered = options.keyword or options.markexpr != "not fuzz" or options.deselect
    asked = {str(a).rstrip("/") for a in session.config.args}
    return not filtered and any(a.endswith("tests/python") for a in asked)


def pytest_sessionfinish(session, exitstatus):
    if not _whole_run(session):
        return
    left = value_checks.unchecked()
    if left:
        print(f"\nops without a value test: {' '.join(left)}")
        print("compare their results with a reference; tests/python/value_checks.py says how")
        session.exitstatus = exitstatus or pytest.ExitCode.TESTS_FAILED
