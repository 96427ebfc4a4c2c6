"""Results of every op on drawn inputs, to be compared between instruction-set levels.

``python level_results.py FILE`` computes them at the level of this process (TIDEMARK_ISA) and
writes ``{(op, dtype): [(largest magnitude of inputs and outputs, outputs), …]}``. The same calls
are drawn every time.

``python level_results.py --compare OWN OTHER LEVEL ALLOWED`` compares two such files, the second
made at LEVEL; ALLOWED is ``{op: [the level from which on bits are equal, units]}``.
"""

import json
import pickle
import sys

import numpy as np
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from op_cases import CASES, Draw, dtypes_of
from test_op_properties import ALL, OPS, bits, run

EPSILON = {"float16": 2**-10, "bfloat16": 2**-7, "float32": 2**-23, "float64": 2**-52,
           "complex64": 2**-23, "complex128": 2**-52}  # fmt: skip


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


def parts(array):
    return array.view(array.real.dtype) if array.dtype.kind == "c" else array


def units_apart(a, b, dtype, scale):
    """How far apart at most, in roundings of the largest magnitude; infinite: not comparable."""
    if a.shape != b.shape or a.dtype != b.dtype:
        return np.inf
    if a.dtype == object or a.dtype.kind in "iub":
        return 0 if a.tolist() == b.tolist() else np.inf
    a, b = (parts(np.ascontiguousarray(x)).astype(np.float64) for x in (a, b))
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if not np.all(np.isfinite(a[~same]) & np.isfinite(b[~same])):
        return np.inf
    return float(np.max(np.abs(a - b)[~same], initial=0)) / (EPSILON[dtype] * (scale or 1))


def differences(own, other, level, allowed):
    """A line for each call whose results differ more than is allowed."""
    assert own.keys() == other.keys()
    for (op, dtype), calls in own.items():
        since, units = allowed.get(op, ("v2", 0))
        for (scale, a), (_, b) in zip(calls, other[op, dtype], strict=True):
            if [bits(x) for x in a] == [bits(y) for y in b]:
                continue
            apart = max(units_apart(x, y, dtype, scale) for x, y in zip(a, b, strict=True))
            if since != "never" and level >= since:
                yield f"{op} of {dtype}: other bits, {apart:.1f} units apart"
            elif apart > units:
                yield f"{op} of {dtype}: {apart:.1f} units apart, listed {units}"


def compare(own, other, level, allowed):
    results = []
    for path in (own, other):
        with open(path, "rb") as file:
            results.append(pickle.load(file))
    with np.errstate(all="ignore"):
        wrong = list(differences(*results, level, json.loads(allowed)))
    sys.exit("\n".join(wrong) if wrong else 0)


def main(path):
    with np.errstate(all="ignore"), open(path, "wb") as file:
        results = {
            (op, str(dtype)): results_of(op, dtype)
            for op in ALL
            for dtype in dtypes_of(OPS[op])
            if str(dtype) in EPSILON
        }
        pickle.dump(results, file)


if __name__ == "__main__":
    if sys.argv[1] == "--compare":
        compare(*sys.argv[2:])
    else:
        main(sys.argv[1])
