"""A recording of ten million events as a page: seconds and memory, and how soon it opens."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from case import Case, InPython, Options, Row


def _opened_ms(page, folder):
    """From the beginning of the navigation to the page laid out, as the page itself measures it in
    Chromium; the browser's own start is not the page's."""
    browser = shutil.which("chromium")
    if browser is None:
        raise RuntimeError("chromium is missing; ./dev installs it")
    command = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
               f"--user-data-dir={folder}", Path(page).as_uri()]  # fmt: skip
    dom = subprocess.run(command, capture_output=True, text=True, timeout=120).stdout
    return float(re.search(r'data-opened="([0-9.]+)"', dom)[1])


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
        took = time.monotonic() - began
        opened = min(_opened_ms(page, f"{folder}/user{i}") for i in range(options.pick(3, 1)))
        return {
            "seconds": took, "memory_mib": used.ru_maxrss / 1024, "opened_ms": opened,
            "page_mib": os.path.getsize(page) / 2**20,
        }  # fmt: skip


CASE = Case(
    about="tidemark report of ten million events",
    subjects=[InPython("tidemark", tidemark)],
    rows=[
        Row("report of 10 M events", "tidemark.seconds", at_most=20.0, unit="s"),
        Row("report of 10 M events", "tidemark.memory_mib", at_most=300.0, unit="MiB"),
        Row("its page opens", "tidemark.opened_ms", at_most=2000.0, unit="ms"),
        Row("its page", "tidemark.page_mib", unit="MiB"),
    ],
    rounds=1,
)
