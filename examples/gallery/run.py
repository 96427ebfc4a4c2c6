"""Runs programs for TensorFlow on Tidemark and measures them: time, peak, growth.

    python examples/gallery/run.py                 # the programs of this folder
    python examples/gallery/run.py program.py ...  # these

Peak is resident memory over what importing costs; growth is over the last three quarters of the
rounds of the program's loop, looked at between two of them (a round may fill hundreds of megabytes
and give them back), less what the program says it keeps a round. Both are read from /proc. With
TIDEMARK_DEVICE=gpu the programs compute there; what is live on the device must not grow either.
"""

from __future__ import annotations

import dataclasses
import json
import os
import re
import select
import statistics
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
    rounds: int = 1
    device_growth: int = 0

    @property
    def verdict(self):
        if self.status != 0:
            return f"exit {self.status}"
        if self.rounds < 4:
            return "done"  # too few rounds to tell
        return "flat" if max(self.growth, self.device_growth) <= MIB else "grows"


def _resident(pid):
    try:
        with open(f"/proc/{pid}/statm") as numbers:
            return int(numbers.read().split()[1]) * PAGE
    except (OSError, IndexError):
        return 0


# Runs a program; says on a pipe when it begins, importing done, and when it has ended, then how
# often its outermost loops went round and what was resident, and live on the device, before rounds.
_START = """
import ast, json, os, sys, threading, time, tidemark, numpy
from tidemark.cli import run
from tidemark import _tidemark
rounds, samples, looked, threads = {}, [], [0.0], set()
device = _tidemark.placement()
def live_on_device():
    if device == "cpu:0" or device not in _tidemark.open_devices():
        return 0
    _tidemark.wait_for_devices()
    return tidemark.memory.stats(device).live
def before_round(loop):
    rounds[loop] = rounds.get(loop, 0) + 1
    if threading.get_ident() not in threads:
        # A thread brings its stack and its heap: what was before it is warming up.
        threads.add(threading.get_ident())
        samples.clear()
    if time.monotonic() - looked[0] > 0.001 or rounds[loop] <= 16:
        looked[0] = time.monotonic()
        with open("/proc/self/statm") as numbers:
            resident = int(numbers.read().split()[1])
        samples.append((loop, rounds[loop], resident, live_on_device()))
def watched(source, path, mode):
    tree = ast.parse(source, path)
    traced = [f for f in ast.walk(tree) if getattr(f, "decorator_list", None)]
    inside = {id(node) for f in traced for node in ast.walk(f)}
    for loop in list(ast.walk(tree)):
        if isinstance(loop, (ast.For, ast.While)) and id(loop) not in inside:
            call = ast.parse(f"__before_round__({loop.lineno})").body[0]
            loop.body.insert(0, call)
            for node in ast.walk(call):
                ast.copy_location(node, loop)
    return compile(tree, path, mode)
run.compile, run.__builtins__["__before_round__"] = watched, before_round
tidemark.install_as_tensorflow(); tidemark.constant([1.0]); tidemark.Session
if "tf.keras" in open(sys.argv[2]).read(): tidemark.keras.layers
pipe = int(sys.argv.pop(1)); os.write(pipe, b".")
try:
    status = run.execute(None, sys.argv[1:])
finally:
    most = max(rounds, key=rounds.get, default=0)
    own = [seen[1:] for seen in samples if seen[0] == most]
    kept = own[:: len(own) // 1000 + 1]
    os.write(pipe, b"." + json.dumps([rounds.get(most, 1), kept]).encode() + b"\\n")
sys.exit(status)
"""


def _sampled(program, arguments, timeout, interval=0.005):
    """(exit status, output, seconds, samples of resident memory, what it says of its rounds) from
    where the program begins."""
    ours, theirs = os.pipe()
    command = [sys.executable, "-c", _START, str(theirs), str(program), *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "ARTICLE_PROGRAMS"}
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
        with os.fdopen(ours, "rb") as pipe:
            said = pipe.read()
        process.wait()
        output.seek(0)
        text = output.read().decode(errors="replace")
    rounds, between = json.loads(said[1:]) if said.endswith(b"\n") else (1, [])
    return process.returncode, text, seconds, [s for s in samples if s], rounds, between


def level(samples):
    """A low level of the samples: what stays between the peaks of single rounds."""
    ordered = sorted(samples)
    return ordered[len(ordered) // 10]


def kept_a_round(program):
    """Bytes that the program itself keeps in each round, as a comment in it says."""
    found = re.search(r"[Kk]eeps (\d+) bytes a round", Path(program).read_text())
    return int(found.group(1)) if found else 0


def measure(program, arguments=(), timeout=600):
    """Runs a program and says what it took."""
    status, output, seconds, samples, rounds, between = _sampled(program, arguments, timeout)
    peak = max(samples) - samples[0] if samples else 0
    # The first quarter of the rounds is warming up: of a short program half of the time.
    steady = samples[len(samples) // (4 if seconds > 0.5 else 2) :]
    growth = 0
    if len(steady) >= 8:
        quarter = len(steady) // 4
        growth = level(steady[-quarter:]) - level(steady[:quarter])
    late = [seen for seen in between if seen[0] > rounds / 4]
    on_device = 0
    if len(late) >= 4:
        some = (len(late) + 3) // 4
        first, last = late[:some], late[-some:]
        apart = [statistics.median(one) for one in zip(*last, strict=True)]
        apart = [a - statistics.median(one) for a, one in zip(apart, zip(*first, strict=True),
                                                              strict=True)]  # fmt: skip
        kept = apart[0] * kept_a_round(program)
        growth = int(apart[1] * PAGE - kept)
        on_device = int(apart[2] - kept)
    name = Path(program).name
    return Measured(name, status, seconds, peak, growth, output, rounds, on_device)


def _bar(done, count, name):
    if sys.stderr.isatty():
        filled = 24 * done // count
        text = f"\r[{'#' * filled}{'.' * (24 - filled)}] {done}/{count} {name:<28}"
        print(text, end="" if done < count else "\r\033[K", file=sys.stderr, flush=True)


def table(results):
    """The results as lines of text."""
    width = max(len(r.name) for r in results)
    lines = [f"{'program':<{width}} {'rounds':>9} {'time':>9} {'peak':>10} {'growth':>10}  verdict"]
    for r in results:
        peak, growth = f"{r.peak / MIB:.1f} MiB", f"{r.growth / MIB:.1f} MiB"
        line = f"{r.name:<{width}} {r.rounds:>9,} {r.seconds:>7.2f} s {peak:>10} {growth:>10}"
        lines.append(f"{line}  {r.verdict}")
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
    return 0 if all(r.status == 0 and r.verdict != "grows" for r in results) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
