"""Pipelines give the elements, types, numbers and errors that TensorFlow's gave."""

import json
from pathlib import Path

import data_pipelines
import pytest

import tidemark as tf

RECORDED = json.loads((Path(__file__).parent / "data" / "tf_data.json").read_text())

# Errors of another type than TensorFlow's, and why.
DIFFERENT = {
    # TensorFlow loses the type of the assertion on the way.
    "D.range(1, 9).map(lambda n: tf.fill([n], n)).bucket_by_sequence_length("
    "lambda x: tf.shape(x)[0], [3, 6], [2, 2, 2], pad_to_bucket_boundary=True)":
        "InvalidArgumentError",
    "D.range(3).map(lambda x: x + 'a')": "InvalidArgumentError",  # as outside of datasets
    "D.range(3).flat_map(lambda x: x)": "TypeError",  # it stumbles over a missing attribute
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_seed_of_other_tests():
    """The number that stands for a program's seed where none is set, as in the recording."""
    tf.random.set_seed(87654321)


@pytest.mark.parametrize(("expression", "expected"), RECORDED, ids=lambda v: str(v)[:70])
def test_as_tensorflow(expression, expected):
    ours = data_pipelines.answer(expression, tf)
    if "error" in expected:
        assert ours == {"error": DIFFERENT.get(expression, expected["error"])}
    else:
        assert json.loads(json.dumps(ours)) == expected
