"""A C++ program that trains as one file, without oneDNN: how large it is, and how soon it runs."""

import subprocess
import time

from case import Case, InPython, Options, Row


def one_file(options: Options):
    from user_programs import BUILD

    def best(command):
        least = float("inf")
        for _ in range(options.pick(200, 20)):
            start = time.perf_counter_ns()
            subprocess.run(command, check=True)
            least = min(least, time.perf_counter_ns() - start)
        return least

    # With an argument it ends where it would begin to train: bench/start/start.cpp.
    program = BUILD / "bench_start"
    return {
        "megabytes": program.stat().st_size / 1e6,
        "start_ns": best([program, "stop"]),
        "true_ns": best(["/bin/true"]),
    }


CASE = Case(
    about="a program that trains, linked statically without oneDNN: its size, from start to end",
    subjects=[InPython("one file", one_file, environment="tidemark")],
    rows=[
        Row("a trainer as one file", "one file.megabytes", at_most=15, unit="MB"),
        Row("… starts and ends in", "one file.start_ns", at_most=5e6, unit="ns"),
        Row("  … /bin/true", "one file.true_ns", unit="ns"),
    ],
)
