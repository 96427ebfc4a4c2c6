#!/usr/bin/env python3
"""Records what ``tf.raw_ops`` gives, and its signatures; run by hand, with TensorFlow's Python.

    python-with-tensorflow tools/record_raw_ops.py

It writes tests/python/data/tf_raw_ops.json: the results of tests/python/raw_op_calls.py, and the
signature of each operation.
"""

from __future__ import annotations

import inspect
import json
import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent / "tests/python"


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
    print(f"{len(recorded['results'])} calls, {len(names)} signatures")


if __name__ == "__main__":
    main()
