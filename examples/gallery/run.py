"""Runs programs for TensorFlow on Tidemark and measures them: time, peak, growth.

    python examples/gallery/run.py                 # the programs of this folder
    python examples/gallery/run.py program.py ...  # these

Peak is resident memory over what importing costs; growth is over the last three quarters of the
run. Both are read from /proc while the program runs.
"""

from __future__ import annotations

import dataclasses
import os
import select
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGE_SIZE")


@dataclasses.dataclass
class Measured:
    """What one run of a program showed. Sizes in bytes."""

    name: str
    status: int
    seconds: float
    peak: int
    growth: int
    output: str

    @property
    def verdict(self):
        if self.status != 0:
            return f"exit {self.status}"
        return "flat" if self.growth <= MIB else "grows"


def _resident(pid):
    try:
        with open(f"/proc/{pid}/statm") as numbers:
            return int(numbers.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


# Runs a program; says on a pipe when it begins, importing done, and when it has ended.
_START = """
import os, sys, tidemark, numpy
from tidemark.cli.run import execute
tidemark.install_as_tensorflow(); tidemark.constant([1.0]); tidemark.Session
if "tf.keras" in open(sys.argv[2]).read(): tidemark.keras.layers
pipe = int(sys.argv.pop(1)); os.write(pipe, b".")
try:
    status = execute(None, sys.argv[1:])
finally:
    os.write(pipe, b".")
sys.exit(status)
"""


def _sampled(program, arguments, timeout, interval=0.005):
    """(exit status, output, seconds, samples of resident memory) from where the program begins."""
    ours, theirs = os.pipe()
    command = [sys.executable, "-c", _START, str(theirs), str(program), *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "TIDEMARK_SEEDS"}
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
            pass_fds=[theirs], env=environment,
        )  # fmt: skip
        os.close(theirs)
        os.read(ours, 1)  # also returns when the process ends
        started, samples = time.monotonic(), []
        # The interpreter's own end, which frees everything, is not looked at.
        while not select.select([ours], [], [], interval)[0]:
            samples.append(_resident(process.pid))
            if time.monotonic() - started > timeout:
                process.kill()
        seconds = time.monotonic() - started
        process.wait()
        os.close(ours)
        output.seek(0)
        text = output.read().decode(errors="replace")
    return process.returncode, text, seconds, [s for s in samples if s]


def level(samples):
    """A low level of the samples: what stays between the peaks of single rounds."""
    ordered = sorted(samples)
    return ordered[len(ordered) // 10]


def measure(program, arguments=(), timeout=600):
    """Runs a program and says what it took."""
    status, output, seconds, samples = _sampled(program, arguments, timeout)
    peak = max(samples) - samples[0] if samples else 0
    # The first quarter of the rounds is warming up: of a short program half of the time.
    steady = samples[len(samples) // (4 if seconds > 0.5 else 2) :]
    growth = 0
    if len(steady) >= 8:
        quarter = len(steady) // 4
        growth = level(steady[-quarter:]) - level(steady[:quarter])
    return Measured(Path(program).name, status, seconds, peak, growth, output)


def _bar(done, count, name):
    if sys.stderr.isatty():
        filled = 24 * done // count
        text = f"\r[{'#' * filled}{'.' * (24 - filled)}] {done}/{count} {name:<28}"
        print(text, end="" if done < count else "\r\033[K", file=sys.stderr, flush=True)


def table(results):
    """The results as lines of text."""
    width = max(len(r.name) for r in results)
    lines = [f"{'program':<{width}} {'time':>9} {'peak':>10} {'growth':>10}  verdict"]
    for r in results:
        peak, growth = f"{r.peak / MIB:.1f} MiB", f"{r.growth / MIB:.1f} MiB"
        line = f"{r.name:<{width}} {r.seconds:>7.2f} s {peak:>10} {growth:>10}  {r.verdict}"
        lines.append(line)
    return "\n".join(lines)


def measure_all(programs=()):
    """Runs these programs, or the folder's, one after the other."""
    chosen = list(programs) or [p for p in sorted(HERE.glob("*.py")) if p.name != "run.py"]
    results = []
    for number, program in enumerate(chosen):
        _bar(number, len(chosen), program.name)
        results.append(measure(program))
    _bar(len(chosen), len(chosen), "")
    return results


def main(programs):
    results = measure_all([Path(p) for p in programs])
    print(table(results))
    for result in results:
        if result.status != 0:
            print(f"\n{result.name}:\n{result.output[-2000:]}")
    return 0 if all(r.status == 0 and r.verdict == "flat" for r in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
