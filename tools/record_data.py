"""Records what TensorFlow's pipelines give: run it with a Python that has TensorFlow.

python tools/record_data.py        # writes tests/python/data/tf_data.json
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "python"))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import data_pipelines  # noqa: E402


def main():
    import tensorflow as tf

    pairs = [[one, data_pipelines.answer(one, tf)] for one in data_pipelines.ALL]
    lines = ",\n".join(json.dumps(pair) for pair in pairs)
    (ROOT / "tests/python/data/tf_data.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
