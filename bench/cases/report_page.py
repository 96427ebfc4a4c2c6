"""A recording of ten million events as a page: seconds and memory."""

import os
import sys
import tempfile
import time
from pathlib import Path

from case import Case, InPython, Options, Row


def tidemark(options: Options):
    sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "python"))
    import recordings

    with tempfile.TemporaryDirectory() as folder:
        path, page = f"{folder}/run.tidemark", f"{folder}/report.html"
        recordings.write(path, options.pick(1_000_000, 10_000))
        command = [sys.executable, "-m", "tidemark", "report", path, "-o", page]
        began = time.monotonic()
        _, status, used = os.wait4(os.spawnv(os.P_NOWAIT, sys.executable, command), 0)
        if status:
            raise RuntimeError("tidemark report failed")
        return {"seconds": time.monotonic() - began, "memory_mib": used.ru_maxrss / 1024}


CASE = Case(
    about="tidemark report of ten million events",
    subjects=[InPython("tidemark", tidemark)],
    rows=[
        Row("report of 10 M events", "tidemark.seconds", at_most=20.0, unit="s"),
        Row("report of 10 M events", "tidemark.memory_mib", at_most=300.0, unit="MiB"),
    ],
    rounds=1,
)
