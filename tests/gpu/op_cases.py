"""Every op's drawn calls on the GPU against the CPU; run by tests/gpu/run.

    PYTHONPATH=build-gpu/python python tests/gpu/op_cases.py --out cases.json --jobs 8

An op without a kernel for the GPU runs on the host; what it gives must then be the CPU's bits, and
it is listed. ``--sanitizer memcheck`` runs the same under compute-sanitizer.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
import traceback
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
GPU = "gpu:0"
# Relative to the largest magnitude of the result: docs/devices.md.
TOLERANCE = {
    "float64": 1e-12, "float32": 4e-6, "float16": 4e-3, "bfloat16": 3.2e-2,
    "complex64": 4e-6, "complex128": 1e-12,
}  # fmt: skip
ROUNDING = {
    "float64": 2.0**-52, "float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7,
    "complex64": 2.0**-23, "complex128": 2.0**-52,
}  # fmt: skip
CANNOT_DIFFER = 0.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--jobs", type=int, default=8, help="processes that share the GPU")
    parser.add_argument("--examples", type=int, default=4, help="drawn calls of an op and dtype")
    parser.add_argument("--seconds", type=float, help="begin no other op after so long")
    parser.add_argument("--part", help="K/N: only this part, in this process")
    parser.add_argument("--sanitizer", help="memcheck, racecheck or initcheck")
    parser.add_argument("ops", nargs="*", help="these alone")
    return parser.parse_args()


def apart(wanted, given, near_zero):
    """The largest difference over what is allowed: at most 1 is right. near_zero: roundings of 1
    that results may be off where terms cancel, as the op's case has it for the CPU."""
    import numpy as np

    if (wanted.shape, wanted.dtype) != (given.shape, given.dtype):
        raise AssertionError(f"{given.dtype}{given.shape}, not {wanted.dtype}{wanted.shape}")
    allowed = TOLERANCE.get(str(wanted.dtype), CANNOT_DIFFER)
    if not allowed or wanted.dtype == object:
        return 0.0 if wanted.tolist() == given.tolist() else float("inf")
    kind = np.complex128 if wanted.dtype.kind == "c" else np.float64
    a, b = wanted.astype(kind).ravel(), given.astype(kind).ravel()
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    if same.all():
        return 0.0
    finite = np.abs(a[np.isfinite(a)])
    scale = np.maximum(np.abs(a), finite.max(initial=0.0))
    rounding = near_zero * ROUNDING[str(wanted.dtype)]
    off = np.maximum(np.abs(a - b) - rounding, 0.0)
    difference = np.where(same, 0.0, off / np.maximum(scale, 1e-30))
    return float(np.nan_to_num(difference, nan=np.inf).max()) / allowed


def call_on_gpu(op, example):
    """The outputs as arrays, and whether they were computed there."""
    import numpy as np

    import tidemark as tf
    from tidemark import _tidemark

    tf.random.set_seed(7)
    inputs = []
    for x in example.inputs:
        t = tf.constant(x) if isinstance(x, np.ndarray) else x
        if isinstance(t, tf.Tensor) and t.dtype != tf.string:
            t = _tidemark.copied_to(t, GPU)
        inputs.append(t)
    with tf.device("/GPU:0"):
        results = _tidemark.call(op, inputs, example.attrs)
    results = results if isinstance(results, list) else [results]
    there = any(r.device.endswith("GPU:0") for r in results)
    return [np.array(r.numpy(), object if r.dtype == tf.string else None) for r in results], there


def comparable(op, outputs):
    """Of factors, of which others make the same matrix: that matrix, and what is unique."""
    import numpy as np

    def adjoint(x):
        return x.conj().swapaxes(-1, -2)

    if op == "qr":
        return [np.matmul(*outputs)]
    if op == "eigh" and outputs[1].ndim > 1:
        e, v = outputs
        return [e, np.matmul(v * e[..., None, :].astype(v.dtype), adjoint(v))]
    if op == "svd" and outputs[1].ndim > 1:
        s, u, v = outputs
        few = s.shape[-1]
        return [s, np.matmul(u[..., :few] * s[..., None, :].astype(u.dtype), adjoint(v[..., :few]))]
    return outputs


def examine(op, examples):
    """Draws calls of an op in each dtype; returns what was found."""
    import numpy as np
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import strategies as st
    from op_cases import CASES, Draw, dtypes_of
    from test_op_properties import OPS, bits, run

    found = {"op": op, "calls": 0, "on_gpu": 0, "worst": 0.0, "wrong": []}

    def explore(dtype):
        @settings(
            deadline=None, suppress_health_check=list(HealthCheck), database=None,
            max_examples=examples, phases=[Phase.generate], derandomize=True,
        )  # fmt: skip
        @given(st.data())
        def one(data):
            example = CASES[op](Draw(data, op, dtype))
            wanted = run(op, example)
            first, there = call_on_gpu(op, example)
            again, _ = call_on_gpu(op, example)
            found["calls"] += 1
            found["on_gpu"] += there
            for b, c in zip(first, again, strict=True):
                assert bits(b) == bits(c), "other bits the second time"
            for a, b in zip(comparable(op, wanted), comparable(op, first), strict=True):
                difference = apart(a, b, example.atol)
                found["worst"] = max(found["worst"], difference)
                assert difference <= 1, f"{difference:.3g} times the tolerance of {a.dtype}"

        one()

    with np.errstate(all="ignore"):
        for dtype in dtypes_of(OPS[op]):
            try:
                explore(dtype)
            except Exception:  # whatever it is, the other dtypes are tried
                found["wrong"].append(f"{dtype}: {traceback.format_exc()[-1500:]}")
    return found


def examine_part(args):
    sys.path.insert(0, str(HERE.parent / "python"))
    from test_op_properties import ALL

    part, parts = map(int, args.part.split("/"))
    ops = args.ops or ALL
    results, began = [], time.monotonic()
    for op in ops[part::parts]:
        if args.seconds and time.monotonic() - began > args.seconds:
            break
        results.append(examine(op, args.examples))
        args.out.write_text(json.dumps(results))


def run_parts(args):
    """Starts a process a part; a part that dies tells which op it died in."""
    with tempfile.TemporaryDirectory() as folder:

        def start(part):
            out = Path(folder) / f"{part}.json"
            command = [sys.executable, __file__, "--out", out, "--part", f"{part}/{args.jobs}"]
            command += ["--examples", args.examples]
            command += [*(["--seconds", args.seconds] if args.seconds else []), *args.ops]
            if args.sanitizer:
                tool = ["compute-sanitizer", "--tool", args.sanitizer, "--error-exitcode", "86"]
                command = [*tool, "--print-limit", "20", *command]
            done = subprocess.run(
                list(map(str, command)), capture_output=True, text=True, errors="replace",
                check=False,
            )  # fmt: skip
            results = json.loads(out.read_text()) if out.exists() else []
            text = "" if done.returncode == 0 else (done.stdout + done.stderr)[-3000:]
            return results, done.returncode, text

        with ThreadPoolExecutor(args.jobs) as pool:
            return list(pool.map(start, range(args.jobs)))


def main():
    args = arguments()
    if args.part:
        examine_part(args)
        return 0
    parts = run_parts(args)
    ops = sorted((op for results, _, _ in parts for op in results), key=lambda one: one["op"])
    summary = {
        "ops": len(ops),
        "calls": sum(one["calls"] for one in ops),
        "on_gpu": sum(one["on_gpu"] for one in ops),
        "wrong": {one["op"]: one["wrong"] for one in ops if one["wrong"]},
        "on_the_host": [one["op"] for one in ops if one["calls"] and not one["on_gpu"]],
        "worst": sorted(((one["worst"], one["op"]) for one in ops), reverse=True)[:10],
        "died": [
            {"status": status, "after": results[-1]["op"] if results else "", "output": text}
            for results, status, text in parts
            if status
        ],
    }
    args.out.write_text(json.dumps(summary, indent=1) + "\n")
    print(
        f"{summary['ops']} ops, {summary['calls']} calls, {summary['on_gpu']} of them on the GPU; "
        f"{len(summary['wrong'])} ops wrong, {len(summary['died'])} processes died"
    )
    return 1 if summary["wrong"] or summary["died"] or not ops else 0


if __name__ == "__main__":
    sys.exit(main())
