#!/usr/bin/env python3
"""Records what ``tf.raw_ops`` gives and refuses, and its signatures; run by hand, with TensorFlow's
Python.

    python-with-tensorflow tools/record_raw_ops.py

It writes tests/python/data/tf_raw_ops.json: the results of tests/python/raw_op_calls.py, and the
signature of each operation; and python/tidemark/_tensorflow/raw/elsewhere.tsv: the operations that
TensorFlow does not run eagerly on a CPU.
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TESTS = ROOT / "tests/python"
ELSEWHERE = ROOT / "python/tidemark/_tensorflow/raw/elsewhere.tsv"


def elsewhere(names):
    """A line for each operation that is gone, refers to variables, or has no kernel on a CPU."""
    from tensorflow.python.framework import kernels, op_def_registry, versions

    for name in sorted(names):
        made = op_def_registry.get(name)
        references = [arg.name for arg in (*made.input_arg, *made.output_arg) if arg.is_ref]
        found = kernels.get_registered_kernels_for_op(name).kernel
        gone = made.deprecation.version
        if gone and gone <= versions.GRAPH_DEF_VERSION and not references:
            yield f"{name}\tremoved\t{gone} {made.deprecation.explanation}"
        elif references:
            yield f"{name}\tref\t{references[-1]}"
        elif not any(kernel.device_type in ("CPU", "DEFAULT") for kernel in found):
            yield f"{name}\tkernel\t"


def main():
    sys.path.insert(0, str(TESTS))
    import numpy as np
    import raw_op_calls
    import tensorflow as tf

    names = [name for name in dir(tf.raw_ops) if name[0].isupper()]
    recorded = {
        "results": {call: raw_op_calls.run(tf, np, call) for call in raw_op_calls.CALLS},
        "signatures": {n: str(inspect.signature(getattr(tf.raw_ops, n))) for n in names},
    }
    text = json.dumps(recorded, indent=0, sort_keys=True)
    (TESTS / "data" / "tf_raw_ops.json").write_text(text + "\n")
    about = [line for line in ELSEWHERE.read_text().splitlines() if line.startswith("#")]
    ELSEWHERE.write_text("\n".join([*about, *elsewhere(names)]) + "\n")
    print(f"{len(recorded['results'])} calls, {len(names)} signatures")


if __name__ == "__main__":
    main()
