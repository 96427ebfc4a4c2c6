"""Runs one subject of one case and prints its measurements as a line of JSON.

    python bench/worker.py <case> <subject> [--quick]

Runs in any Python 3.10 or newer, also a peer's: standard library only until the subject imports.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path

from case import Case, InPython, Options
from timing import use_two_cores


def load_case(path: Path) -> Case:
    spec = importlib.util.spec_from_file_location(f"case_{path.stem}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASE


def main(case_name: str, subject_name: str, *flags: str) -> None:
    case = load_case(Path(__file__).parent / "cases" / f"{case_name}.py")
    subject = next(s for s in case.subjects if s.name == subject_name and isinstance(s, InPython))
    use_two_cores()
    values = subject.measure(Options(quick="--quick" in flags))
    print(json.dumps({name: float(value) for name, value in values.items()}))


if __name__ == "__main__":
    main(*sys.argv[1:])
