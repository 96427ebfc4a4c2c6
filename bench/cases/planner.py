"""Eleven hard instances of static allocation: does the planner pack them, and how fast?"""

from pathlib import Path

from case import Case, InPython, Options, Row

DATA = Path(__file__).resolve().parent.parent / "data" / "planner"
CAPACITY = 1_048_576
NAMES = "ABCDEFGHIJK"
EASY = "BCIK"  # packed in a moment: enough to try the harness out


def tidemark(options: Options):
    from tidemark import _tidemark

    values = {}
    for name in options.pick(NAMES, EASY):
        text = (DATA / f"{name}.csv").read_text()
        plan = _tidemark.pack_buffers(text, seconds=60, enough=CAPACITY)
        values[f"{name}_bytes"] = plan["peak"]
        values[f"{name}_s"] = plan["seconds"]
    return values


def rows():
    for name in NAMES:
        yield Row(f"{name}: peak", f"tidemark.{name}_bytes", at_most=CAPACITY, unit="B")
        yield Row("  time", f"tidemark.{name}_s", at_most=60, unit="s")


CASE = Case(
    about="packing the instances A to K into 1,048,576 bytes, on one core",
    subjects=[InPython("tidemark", tidemark)],
    rows=list(rows()),
    rounds=1,
)
