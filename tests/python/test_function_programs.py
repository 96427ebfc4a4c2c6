"""Programs about tf.function give the results and errors that TensorFlow 2.21 gave."""

import importlib.util
import json
from pathlib import Path

import function_programs_control  # noqa: F401
import function_programs_more  # noqa: F401
import function_programs_rules  # noqa: F401
import pytest
from function_programs import PROGRAMS

HERE = Path(__file__).resolve().parent
RECORDED = json.loads((HERE / "data" / "tf_functions.json").read_text())

_spec = importlib.util.spec_from_file_location(
    "record_functions", HERE.parents[1] / "tools" / "record_functions.py"
)
record_functions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record_functions)

# What differs on purpose.
BETTER = {}


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_as_tensorflow(name):
    expected = BETTER.get(name, RECORDED[name])
    assert record_functions.plain(PROGRAMS[name]()) == expected
