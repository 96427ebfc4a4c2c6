"""Environments for programs that tests start."""

import os

import pytest

# For models larger than the limit that the hostile run of the tests sets, and for programs that ask
# for a part of the peak, of which plans for the lowest one leave nothing.
_LIMITS = ("TIDEMARK_MEMORY_LIMIT", "TIDEMARK_PLAN_BUDGET")
UNLIMITED = {name: value for name, value in os.environ.items() if name not in _LIMITS}

needs_plans = pytest.mark.skipif(
    os.environ.get("TIDEMARK_PLAN") == "0", reason="without plans functions run step by step"
)
