"""Environments for programs that tests start."""

import os

# For models larger than the limit that the hostile run of the tests sets, and for programs that ask
# for a part of the peak, of which plans for the lowest one leave nothing.
_LIMITS = ("TIDEMARK_MEMORY_LIMIT", "TIDEMARK_PLAN_BUDGET")
UNLIMITED = {name: value for name, value in os.environ.items() if name not in _LIMITS}
