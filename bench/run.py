#!/usr/bin/env python3
"""Runs the benchmarks and compares them with their bars.

    ./dev bench                       # all of them
    python bench/run.py add import    # those whose name begins so
    python bench/run.py --list

The exit status is 1 when a bar is missed or has no figure.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import report
import runner


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "names", nargs="*", help="benchmarks to run, by the beginning of their names"
    )
    parser.add_argument("--list", action="store_true", help="say what there is and stop")
    parser.add_argument(
        "--quick", action="store_true", help="one round, shorter runs: tries the harness out"
    )
    parser.add_argument(
        "--rounds", type=int, help="rounds of each benchmark (default: its own number)"
    )
    parser.add_argument("--cpp", help="the bench_cpp program (default: the newest one built)")
    parser.add_argument(
        "--results", type=Path, default=runner.BENCH / "results", help="folder for the JSON"
    )
    return parser.parse_args()


def progress(started: float, position: str):
    """One line, rewritten in place on a terminal."""
    terminal = sys.stderr.isatty()

    def note(text: str) -> None:
        line = f"[{time.monotonic() - started:4.0f} s, {position}] {text}"
        print(
            f"\r\033[K{line}" if terminal else line,
            end="" if terminal else "\n",
            file=sys.stderr,
            flush=True,
        )

    return note


def main() -> int:
    options = arguments()
    cases = runner.find_cases(options.names)
    if options.list:
        for name, case in cases.items():
            print(f"{name:18} {case.about}")
        return 0
    started = time.monotonic()
    verdicts, raw = [], {}
    for number, (name, case) in enumerate(cases.items(), 1):
        note = progress(started, f"{number}/{len(cases)}")
        run = runner.Runner(options.quick, options.rounds, options.cpp, note)

        def missed(measured, name=name, case=case):
            return any(v.state == report.MISSED for v in report.judge(name, case, measured))

        raw[name] = run.measure(name, case, missed)
        verdicts += report.judge(name, case, raw[name])
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr)
    print(report.table(verdicts))
    path = report.save(options.results, verdicts, raw)
    count = {
        state: sum(v.state == state for v in verdicts)
        for state in (report.OK, report.MISSED, report.NO_FIGURE)
    }
    summary = ", ".join(f"{number} {state}" for state, number in count.items() if number)
    print(
        f"{summary or 'nothing measured'} in {time.monotonic() - started:.0f} s; written to {path}"
    )
    return 1 if count[report.MISSED] or count[report.NO_FIGURE] else 0


if __name__ == "__main__":
    sys.exit(main())
