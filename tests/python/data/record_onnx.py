"""Records small cases of ONNX's own node tests in onnx_cases.json: run with onnx installed.

    python tests/python/data/record_onnx.py NAMES

NAMES is a file with the names of cases that pass, one a line; of each op the two smallest are kept.
"""

import base64
import json
import sys
import warnings
from pathlib import Path

import numpy as np

LARGEST = 9000  # bytes of a case
A_KIND = 2  # cases of an op


def array(value):
    import onnx

    if value is None:
        return None
    if isinstance(value, list):
        return [array(item) for item in value]
    if isinstance(value, onnx.TensorProto):
        value = onnx.numpy_helper.to_array(value)
    value = np.asarray(value)
    if value.dtype.kind in "OUS":
        return {"strings": [str(text) for text in value.ravel()], "shape": value.shape}
    # Signed types of fewer bits than a byte: what is above the sign is not part of the element.
    held = value.astype(np.int8) if value.dtype.name in ("int2", "int4") else value
    data = base64.b64encode(np.ascontiguousarray(held).tobytes()).decode()
    return {"dtype": value.dtype.name, "shape": value.shape, "data": data}


def main():
    from onnx.backend.test.loader import load_model_tests

    warnings.simplefilter("ignore")
    passing = set(Path(sys.argv[1]).read_text().split())
    by_op = {}
    for case in load_model_tests(kind="node"):
        if case.name not in passing or "_expanded" in case.name:
            continue
        inputs, outputs = case.data_sets[0]
        record = {
            "name": case.name,
            "model": base64.b64encode(case.model.SerializeToString()).decode(),
            "inputs": [array(value) for value in inputs],
            "outputs": [array(value) for value in outputs],
            "rtol": case.rtol,
            "atol": case.atol,
        }
        size = len(json.dumps(record))
        if size <= LARGEST:
            op = case.model.graph.node[0].op_type
            by_op.setdefault(op, []).append((size, case.name, record))
    lines = []
    for op in sorted(by_op):
        for _, _, record in sorted(by_op[op], key=lambda one: one[:2])[:A_KIND]:
            lines.append(json.dumps(record))
    path = Path(__file__).parent / "onnx_cases.json"
    path.write_text("[\n" + ",\n".join(lines) + "\n]\n")
    print(f"{len(lines)} cases of {len(by_op)} ops, {path.stat().st_size} bytes")


if __name__ == "__main__":
    main()
