"""Programs about graphs and sessions give the results and errors that TensorFlow 2.21 gave."""

import importlib.util
import json
from pathlib import Path

import pytest
import session_programs_composites  # noqa: F401
import session_programs_meta  # noqa: F401
import session_programs_more  # noqa: F401
import session_programs_packages  # noqa: F401
import session_programs_parts  # noqa: F401
import session_programs_world  # noqa: F401
from session_programs import PROGRAMS

pytestmark = pytest.mark.unwatched

HERE = Path(__file__).resolve().parent
RECORDED = json.loads((HERE / "data" / "tf_sessions.json").read_text())

_spec = importlib.util.spec_from_file_location(
    "record_functions", HERE.parents[1] / "tools" / "record_functions.py"
)
record_functions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record_functions)


@pytest.mark.parametrize("name", PROGRAMS)
def test_as_tensorflow(name):
    assert record_functions.plain(PROGRAMS[name]()) == RECORDED[name]


def test_every_recording_has_a_program():
    assert sorted(RECORDED) == sorted(PROGRAMS)
