"""How long a C++ user waits for the compiler, on one core."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

from case import Case, InPython, Options, Row
from peers import PROJECT

EXAMPLES = PROJECT / "examples"


def program_of_everything():
    """Every public header, and the code of a program that trains."""
    headers = sorted(path.name for path in (PROJECT / "include" / "tidemark").glob("*.h"))
    includes = "".join(f"#include <tidemark/{name}>\n" for name in [*headers, "ops.h"])
    return includes + (EXAMPLES / "classifier.cpp").read_text()


def compiling(options: Options):
    from user_programs import COMPILER, INCLUDES

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-1:])
    programs = {
        "everything": program_of_everything(),
        "classifier": (EXAMPLES / "classifier.cpp").read_text(),
        "first": (EXAMPLES / "first.cpp").read_text(),
        "iostream": "#include <iostream>\nint main() { std::cout << 1; }\n",
    }
    out = {}
    with tempfile.TemporaryDirectory() as folder:
        for name, text in programs.items():
            source = Path(folder) / f"{name}.cpp"
            source.write_text(text)
            for level in ("-O2", "-O0"):
                command = [
                    COMPILER,
                    "-std=c++20",
                    level,
                    *INCLUDES,
                    "-c",
                    source,
                    "-o",
                    "/dev/null",
                ]
                best = float("inf")
                for _ in range(options.pick(5, 1)):
                    start = time.perf_counter_ns()
                    subprocess.run(command, check=True)
                    best = min(best, time.perf_counter_ns() - start)
                out[f"{name}{level}_ns"] = best
    return out


CASE = Case(
    about="compiling C++ programs against the public headers on one core: c++ -std=c++20 -O2 -c",
    subjects=[InPython("C++", compiling, environment="tidemark")],
    rows=[
        Row("compiling with every header", "C++.everything-O2_ns", at_most=4e9, unit="ns"),
        Row("  … with -O0", "C++.everything-O0_ns", at_most=4e9, unit="ns"),
        Row("compiling first.cpp", "C++.first-O2_ns", at_most=1.5e9, unit="ns"),
        Row("  … with -O0", "C++.first-O0_ns", at_most=1.5e9, unit="ns"),
        Row("  … <iostream> alone", "C++.iostream-O2_ns", unit="ns"),
        Row("compiling classifier.cpp", "C++.classifier-O2_ns", unit="ns"),
    ],
    rounds=2,
)
