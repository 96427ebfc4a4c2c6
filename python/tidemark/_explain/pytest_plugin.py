"""Tests that say how much memory they may take:

    @pytest.mark.tidemark(limit="100MB", growth=0)
    def test_training(): ...

``limit``: the most that may be live at once, beyond what was live before. ``growth``: the bytes
that may be added in each step of the test; where no steps are seen, the bytes that may stay.
"""

from __future__ import annotations

import gc
import os
import tempfile

import pytest

# Every run of pytest loads this module; the package is imported by tests that are marked.


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        'tidemark(limit="100MB", growth=0): the most memory a test may take, and how many bytes a '
        "step it may grow",
    )


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem):
    marker = pyfuncitem.get_closest_marker("tidemark")
    if marker is None:
        return (yield)
    if marker.args or set(marker.kwargs) - {"limit", "growth"}:
        pytest.fail('the marker is written tidemark(limit="100MB", growth=0)', pytrace=False)
    with _Measured() as measured:
        result = yield
    problem = measured.problem(marker.kwargs.get("limit"), marker.kwargs.get("growth"))
    if problem:
        pytest.fail(problem, pytrace=False)
    return result


class _Measured:
    def __enter__(self):
        # Pytest loads this plugin in every project.
        from tidemark import _tidemark

        gc.collect()
        handle, self._path = tempfile.mkstemp(prefix="tidemark-test-")
        os.close(handle)
        self._owns = not _tidemark.is_recording()
        _tidemark.reset_peak()
        self._before = _tidemark.stats()["live"]
        if self._owns:
            _tidemark.recording_start(self._path)
        return self

    def __exit__(self, *error):
        # Pytest loads this plugin in every project.
        from tidemark import _tidemark

        if self._owns:
            _tidemark.recording_stop()
        self._peak = _tidemark.stats()["peak"] - self._before
        if error[0] is None:
            self._analysis = _tidemark.analyse_recording(self._path) if self._owns else None
        os.unlink(self._path)
        return False

    def problem(self, limit, growth):
        """What is wrong, in words; None."""
        # Pytest loads this plugin in every project.
        from tidemark import memory
        from tidemark._explain.growth import judge
        from tidemark._explain.source import bytes_text

        if limit is not None and self._peak > memory.parse_bytes(limit):
            return (
                f"the test took {bytes_text(self._peak)}, more than its limit of "
                f"{bytes_text(memory.parse_bytes(limit))}; at the peak:\n{self._at_peak()}"
            )
        if growth is None or self._analysis is None:
            return None
        allowed = memory.parse_bytes(growth)
        steps = self._analysis["steps"]
        grown = judge(steps["samples"], steps["live"])
        if steps["count"] and grown.bytes_per_step > allowed:
            return (
                f"memory grows by {bytes_text(grown.bytes_per_step)} in each of "
                f"{steps['count']} steps ({steps['how']} at {steps['place']}), "
                f"{bytes_text(allowed)} are allowed:\n{self._growing()}"
            )
        gc.collect()
        stays = memory.stats()["live"] - self._before
        if not steps["count"] and stays > allowed:
            return f"{bytes_text(stays)} stay after the test, {bytes_text(allowed)} are allowed"
        return None

    def _at_peak(self):
        # Pytest loads this plugin in every project.
        from tidemark._explain.source import bytes_text

        groups = self._analysis["groups"] if self._analysis else []
        largest = sorted(groups, key=lambda g: -g["bytes_at_peak"])[:5]
        return "\n".join(
            f"  {bytes_text(g['bytes_at_peak']):>10}  {g['op']} at {g['place']}" for g in largest
        )

    def _growing(self):
        # Pytest loads this plugin in every project.
        from tidemark._explain.growth import growing_groups
        from tidemark._explain.source import bytes_text

        found, _ = growing_groups(self._analysis)
        return "\n".join(
            f"  {bytes_text(grown.bytes_per_step):>10} a step  {op} at {place}"
            for (place, op, _), grown in sorted(found, key=lambda f: -f[1].bytes_per_step)[:5]
        )
