"""Running the files, comparing with the reference, and saying what was found."""

from __future__ import annotations

import fnmatch
import gzip
import json
import os
import subprocess
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
REFERENCE = HERE / "reference.json.gz"
ALLOWED = HERE / "allowed.tsv"
FAST = HERE / "fast.txt"
SECONDS_A_FILE = 1200


def reference() -> dict:
    """TensorFlow 2.21's results: file → test → "passed", "failed", "error" or "skipped"."""
    with gzip.open(REFERENCE, "rt", encoding="utf-8") as file:
        return json.load(file)


def allowed() -> list[tuple[str, str]]:
    """What may fail though TensorFlow passes: patterns of ``file::Class::test`` with reasons."""
    lines = ALLOWED.read_text(encoding="utf-8").splitlines()
    return [tuple(line.split("\t")) for line in lines if line and not line.startswith("#")]


def chosen(files, parts, fast):
    """The files of the reference that were asked for."""
    if fast:
        parts = FAST.read_text().split()
    parts = [part.removeprefix("src/").rstrip("/") for part in parts]
    inside = [f for f in files if not parts or any(_is_in(f, part) for part in parts)]
    # A file of which TensorFlow passes nothing tells nothing; it runs when it is named alone.
    if len(inside) > 1:
        inside = [f for f in inside if "passed" in files[f].values()]
    if not inside:
        raise SystemExit(f"no test file of Keras is at {', '.join(parts)}")
    return inside


def _is_in(file, part):
    file = file.removeprefix("src/")
    return file == part or file.startswith(part + "/") or fnmatch.fnmatch(file, part)


@dataclass
class Found:
    """One file's results."""

    file: str
    seconds: float = 0.0
    results: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    died: str = ""


def run_file(python, package, file) -> Found:
    found = Found(file)
    with tempfile.TemporaryDirectory() as folder:
        lines = Path(folder) / "results.jsonl"
        environ = dict(os.environ, KERAS_BACKEND="tensorflow", PYTHONDONTWRITEBYTECODE="1")
        environ.setdefault("TIDEMARK_NUM_THREADS", "1")  # files run side by side instead
        environ.update(TIDEMARK_KERAS_RESULTS=str(lines), KERAS_HOME=folder)
        plugins = ("-p", "tidemark_for_keras", "-p", "no:cacheprovider")
        command = [str(python), "-m", "pytest", "-q", *plugins, str(package / file)]
        command += ["--rootdir", str(package), "-c", "/dev/null", "--tb=short"]
        start = time.monotonic()
        try:
            done = subprocess.run(
                command, cwd=folder, env=environ, capture_output=True, timeout=SECONDS_A_FILE
            )
            if done.returncode not in (0, 1, 5):
                text = (done.stdout + done.stderr).decode(errors="replace")
                found.died = f"exit status {done.returncode}: {text[-1500:]}"
        except subprocess.TimeoutExpired:
            found.died = f"took more than {SECONDS_A_FILE} s"
        found.seconds = time.monotonic() - start
        for line in lines.read_text().splitlines() if lines.exists() else ():
            one = json.loads(line)
            found.results[one["test"]] = one["result"]
            if "why" in one:
                found.errors[one["test"]] = one["why"]
    return found


def run(python, arguments) -> int:
    expected = reference()
    files = chosen(expected, arguments.parts, arguments.fast)
    package = subprocess.run(
        [str(python), "-c", "import importlib.util as u; print(u.find_spec('keras').origin)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.strip()
    package = Path(package).parent
    excuses = allowed()
    everything, worse = {}, []
    with ThreadPoolExecutor(arguments.jobs) as pool:
        jobs = [pool.submit(run_file, python, package, file) for file in files]
        for number, job in enumerate(as_completed(jobs), 1):
            found = job.result()
            everything[found.file] = found
            worse += report(found, expected[found.file], excuses, arguments, number, len(files))
            if arguments.results:
                save(arguments.results, everything)
    summary(everything, expected)
    if worse:
        print(f"\n{len(worse)} tests pass on TensorFlow, fail here and have no reason listed:")
        print("".join(f"  {name}\n" for name in sorted(worse)), end="")
    return 1 if worse else 0


def report(found, expected, excuses, arguments, number, count) -> list[str]:
    """Prints one file's line; gives the failures nobody has explained."""
    wanted = {test for test, result in expected.items() if result == "passed"}
    bad = sorted(test for test in wanted if found.results.get(test) != "passed")
    unexplained = [
        test for test in bad
        if excuse(f"{found.file}::{test}", excuses) is None and not is_skipped_for_gpus(found, test)
    ]  # fmt: skip
    kinds = list(found.results.values())
    failed = kinds.count("failed") + kinds.count("error")
    mark = "ok  " if not bad else "okay" if not unexplained else "BAD "
    print(
        f"[{number:3}/{count}] {mark} {found.file}: "
        f"{kinds.count('passed')} passed, {failed} failed, "
        f"{kinds.count('skipped')} skipped; {len(wanted) - len(bad)} of the {len(wanted)} that "
        f"TensorFlow passes ({found.seconds:.0f} s)",
        flush=True,
    )
    if found.died:
        print(f"    {found.died}")
    if arguments.errors:
        for test in unexplained:
            why = found.errors.get(test, found.results.get(test, "did not run"))
            print(f"    {test}: {why.splitlines()[0][:300]}")
    return [f"{found.file}::{test}" for test in unexplained]


def is_skipped_for_gpus(found, test):
    """Whether Keras leaves the test out where there is a GPU; the reference is a CPU's."""
    on_gpu = os.environ.get("TIDEMARK_DEVICE", "").startswith("gpu")
    return on_gpu and found.results.get(test) == "skipped"


def excuse(name, excuses):
    """The reason why the test may fail, or None."""
    return next((reason for pattern, reason in excuses if fnmatch.fnmatchcase(name, pattern)), None)


def summary(everything, expected):
    """A line a folder: how many of the tests that TensorFlow passes pass here."""
    folders = {}
    for file, found in everything.items():
        parts = file.split("/")
        counts = folders.setdefault(parts[1] if len(parts) > 2 else ".", [0, 0])
        for test, result in expected[file].items():
            if result == "passed":
                counts[1] += 1
                counts[0] += found.results.get(test) == "passed"
    print()
    for folder, (here, there) in sorted(folders.items()):
        print(f"{folder:16} {here:5} of {there:5}  {100 * here / max(there, 1):6.2f} %")
    here = sum(counts[0] for counts in folders.values())
    there = sum(counts[1] for counts in folders.values())
    print(f"{'all':16} {here:5} of {there:5}  {100 * here / max(there, 1):6.2f} %", flush=True)
    skipped = sum(
        result == "passed" and is_skipped_for_gpus(found, test)
        for found in everything.values()
        for test, result in expected[found.file].items()
    )
    if skipped:
        print(f"Keras itself skips {skipped} of them where there is a GPU", flush=True)


def save(path, everything):
    text = {
        file: {"seconds": round(one.seconds, 1), "results": one.results, "errors": one.errors}
        for file, one in sorted(everything.items())
    }
    path.write_text(json.dumps(text, indent=0), encoding="utf-8")
