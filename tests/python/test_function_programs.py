"""Programs about tf.function give the results and errors that TensorFlow 2.21 gave."""

import importlib.util
import json
from pathlib import Path

import function_programs_binding  # noqa: F401
import function_programs_checked  # noqa: F401
import function_programs_composites  # noqa: F401
import function_programs_control  # noqa: F401
import function_programs_extension  # noqa: F401
import function_programs_files  # noqa: F401
import function_programs_more  # noqa: F401
import function_programs_names  # noqa: F401
import function_programs_open  # noqa: F401
import function_programs_packages  # noqa: F401
import function_programs_rules  # noqa: F401
import function_programs_values  # noqa: F401
import function_programs_world  # noqa: F401
import pytest
import this_device
from function_programs import PROGRAMS

pytestmark = pytest.mark.unwatched

HERE = Path(__file__).resolve().parent
RECORDED = json.loads((HERE / "data" / "tf_functions.json").read_text())

_spec = importlib.util.spec_from_file_location(
    "record_functions", HERE.parents[1] / "tools" / "record_functions.py"
)
record_functions = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(record_functions)

# What differs on purpose: a tensor whose first size is known can be iterated without AutoGraph;
# exclusive cases are checked in graphs, too; a concrete function does not run on sizes it was not
# traced for; branches whose structures differ raise one kind of error.
BETTER = {
    "asking_values_while_tracing": [
        "OperatorNotAllowedInGraphError", "TypeError", "TypeError", "AttributeError", True,
        "TypeError", "NotImplementedError", None,
    ],
    "cases_that_exclude": [1, "InvalidArgumentError"],
    "concrete_from_values": [7.0, "InvalidArgumentError"],
    "concrete_function_calls": [
        3, 6, "TypeError", "InvalidArgumentError", "InvalidArgumentError", "TypeError",
    ],
    "cond_branches_that_do_not_match": ["TypeError"] * 6,
    "without_autograph": ["OperatorNotAllowedInGraphError", None],
}  # fmt: skip


@pytest.mark.parametrize("name", list(PROGRAMS))
def test_as_tensorflow(name):
    if name == "operations_of_other_devices" and this_device.IS_GPU:
        pytest.skip("was recorded where there is no GPU: there they are refused")
    expected = BETTER.get(name, RECORDED[name])
    assert record_functions.plain(PROGRAMS[name]()) == expected
