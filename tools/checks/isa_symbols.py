"""Fails when kernels compiled for one instruction set could leak into code for older CPUs.

An inline function or template instance is a weak symbol, and the linker keeps one copy for the
whole library. Compiled with -march=x86-64-v4 that copy would run on every CPU. So each weak
function of such an object must be in a namespace, or on a type, named by the level.
"""

import argparse
import re
import subprocess
import sys


def leaking_symbols(nm_output: str, level: str) -> list[str]:
    """Weak functions in `nm -C --defined-only` output whose name does not hold the level."""
    inside_level = re.compile(rf"\b{re.escape(level)}::")
    leaks = []
    for line in nm_output.splitlines():
        fields = re.match(r"[0-9a-fA-F]+ (\S) (.+)", line)
        if fields and fields[1] == "W" and not inside_level.search(fields[2]):
            leaks.append(fields[2])
    return leaks


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nm", default="nm")
    parser.add_argument("--level", required=True)
    parser.add_argument("objects", nargs="+")
    options = parser.parse_args()
    failed = False
    for path in options.objects:
        command = [options.nm, "-C", "--defined-only", path]
        output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        for symbol in leaking_symbols(output, options.level):
            print(f"{path}: weak function outside namespace {options.level}: {symbol}")
            failed = True
    if failed:
        print("Make each of these always_inline, or move it into the level's namespace.")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
