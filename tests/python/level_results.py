"""Results of every op on drawn inputs, to be compared between instruction-set levels.

``python level_results.py FILE`` computes them at the level of this process (TIDEMARK_ISA) and
writes ``{(op, dtype): [(largest magnitude of inputs and outputs, outputs), …]}``. The same calls
are drawn every time.
"""

import pickle
import sys

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from op_cases import CASES, Draw, dtypes_of
from test_op_properties import ALL, OPS, run

FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def largest(arrays):
    """The largest finite magnitude in arrays of numbers."""
    most = 0.0
    for array in arrays:
        if isinstance(array, np.ndarray) and (array.dtype.kind in "fc" or array.dtype.kind == "V"):
            wide = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
            most = max(most, float(np.max(wide[np.isfinite(wide)], initial=0.0)))
    return most


def results_of(op, dtype):
    made = []

    def draw(large, count):
        @settings(
            derandomize=True, database=None, deadline=None, max_examples=count,
            suppress_health_check=list(HealthCheck), phases=[Phase.generate],
        )  # fmt: skip
        @given(st.data())
        def one(data):
            example = CASES[op](Draw(data, op, dtype, large=large))
            outputs = run(op, example)
            made.append((largest([*example.inputs, *outputs]), outputs))

        one()

    draw(False, 3)
    if str(dtype) == "float32":
        draw(True, 1)
    return made


def main(path):
    with np.errstate(all="ignore"), open(path, "wb") as file:
        results = {
            (op, str(dtype)): results_of(op, dtype)
            for op in ALL
            for dtype in dtypes_of(OPS[op])
            if str(dtype) in FLOATS
        }
        pickle.dump(results, file)


if __name__ == "__main__":
    main(sys.argv[1])
