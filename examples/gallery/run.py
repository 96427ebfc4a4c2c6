"""Runs programs for TensorFlow on Tidemark and measures them: time, peak, growth.

    python examples/gallery/run.py                 # the programs of this folder
    python examples/gallery/run.py program.py ...  # these

Peak is resident memory over what importing costs; growth is over the last three quarters of the
run. Both are read from /proc while the program runs.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
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


def _sampled(command, timeout, interval=0.02):
    """(process, output, seconds, samples of resident memory)."""
    with open(os.devnull) as nothing:
        process = subprocess.Popen(
            command, stdin=nothing, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    started, samples, lines = time.monotonic(), [], []
    import threading

    reader = threading.Thread(target=lambda: lines.extend(process.stdout), daemon=True)
    reader.start()
    while process.poll() is None:
        samples.append(_resident(process.pid))
        if time.monotonic() - started > timeout:
            process.kill()
            process.wait()
            break
        time.sleep(interval)
    seconds = time.monotonic() - started
    reader.join()
    process.stdout.close()
    return process, "".join(lines), seconds, [s for s in samples if s]


def cost_of_import():
    """Resident memory of a process that has imported what every program imports."""
    code = (
        "import sys, tidemark, numpy; tidemark.install_as_tensorflow(); tidemark.constant([1.0]);"
        "tidemark.Session; print(open('/proc/self/statm').read().split()[1])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return int(done.stdout) * PAGE


def level(samples):
    """A low level of the samples: what stays between the peaks of single rounds."""
    ordered = sorted(samples)
    return ordered[len(ordered) // 10]


def measure(program, base, arguments=(), timeout=600):
    """Runs a program and says what it took."""
    command = [sys.executable, "-m", "tidemark", str(program), *arguments]
    process, output, seconds, samples = _sampled(command, timeout)
    peak = max(samples, default=base) - base
    # The first quarter is warming up, the very last sample may be the interpreter's end.
    steady = samples[len(samples) // 4 : -1]
    growth = 0
    if len(steady) >= 8:
        quarter = len(steady) // 4
        growth = level(steady[-quarter:]) - level(steady[:quarter])
    return Measured(Path(program).name, process.returncode, seconds, peak, growth, output)


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


def main(programs):
    chosen = [Path(p) for p in programs] or [
        p for p in sorted(HERE.glob("*.py")) if p.name != "run.py"
    ]
    base, results = cost_of_import(), []
    for number, program in enumerate(chosen):
        _bar(number, len(chosen), program.name)
        results.append(measure(program, base))
    _bar(len(chosen), len(chosen), "")
    print(table(results))
    for result in results:
        if result.status != 0:
            print(f"\n{result.name}:\n{result.output[-2000:]}")
    return 0 if all(r.status == 0 and r.verdict == "flat" for r in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
