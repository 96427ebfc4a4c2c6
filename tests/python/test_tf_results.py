"""The same expressions give the results, dtypes, shapes and errors that TensorFlow 2.21 gave."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import value_checks

import tidemark as tf

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import record_tensorflow  # noqa: E402

DATA = Path(__file__).parent / "data"
RECORDED = [
    pair
    for name in ("tf_results.json", "tf_composites.json", "tf_text.json")
    for pair in json.loads((DATA / name).read_text())
]


# Errors of another type than TensorFlow's, and why.
DIFFERENT = {
    "tf.boolean_mask([1, 2, 3], [True, False])": "InvalidArgumentError",  # checked by the op
    'tf.cast("a", tf.int32)': "InvalidArgumentError",  # as every op on a dtype it does not take
}


def numbers(values):
    return [float(v) if isinstance(v, str) else v for v in values]


@pytest.mark.parametrize(("expression", "expected"), RECORDED, ids=lambda v: str(v)[:60])
def test_as_tensorflow(expression, expected):
    ours = record_tensorflow.answer(expression, tf)
    if isinstance(expected, str):
        assert ours == DIFFERENT.get(expression, expected)
        return
    assert not isinstance(ours, str), f"raises {ours}"
    assert [part[:2] for part in ours] == [part[:2] for part in expected]
    for (dtype, _, got), (_, _, wanted) in zip(ours, expected, strict=True):
        if dtype in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128"):
            rtol = 1e-12 if dtype in ("float64", "complex128") else 2e-6
            np.testing.assert_allclose(numbers(got), numbers(wanted), rtol=rtol, atol=rtol)
        else:
            assert got == wanted
    value_checks.compared()
