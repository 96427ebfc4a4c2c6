"""Running the files, comparing with what passes on TensorFlow, and saying what was found."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
AREAS = HERE / "areas.tsv"
PASSING = HERE / "passing.json.gz"
PACKAGES = HERE.parent.parent / "build" / "tensorflow-tests"
SECONDS_A_FILE = 1800
SILENT_SECONDS = 100  # a test that says nothing for so long hangs
GIBIBYTES_A_FILE = 6
DEATHS_A_FILE = 20


def areas() -> dict[str, str]:
    """The area of each file that is run, in the order of the table."""
    lines = AREAS.read_text(encoding="utf-8").splitlines()
    rows = [line.split("\t") for line in lines if line and not line.startswith("#")]
    return {file: area for area, file in rows}


def passing() -> dict[str, list[str]]:
    """The tests that pass on TensorFlow 2.21 through `internals`: file → names."""
    if not PASSING.exists():
        return {}
    with gzip.open(PASSING, "rt", encoding="utf-8") as file:
        return json.load(file)


def save_passing(everything):
    """Adds what passed to the list of what passes on TensorFlow."""
    names = passing()
    for file, found in everything.items():
        passed = (test for test, result in found.results.items() if result == "passed")
        names[file] = sorted(passed)
    text = json.dumps(dict(sorted(names.items())), separators=(",", ":"))
    # No time of day inside, so that the same names are the same bytes.
    PASSING.write_bytes(gzip.compress(text.encode(), mtime=0))


def chosen(parts, checkout) -> list[str]:
    """The files that belong to the areas or paths asked for; all listed ones if none is."""
    known = areas()
    if not parts:
        return list(known)
    files = []
    for part in parts:
        inside = [file for file, area in known.items() if part in (area, file)]
        if not inside and (Path(checkout) / part).is_file():
            inside = [part]
        if not inside:
            names = ", ".join(dict.fromkeys(known.values()))
            raise SystemExit(f"{part} is no area ({names}) and no file of the checkout")
        files += inside
    return files


@dataclass
class Found:
    """One file's results."""

    file: str
    seconds: float = 0.0
    results: dict = field(default_factory=dict)
    errors: dict = field(default_factory=dict)
    deaths: list = field(default_factory=list)  # tests that ended or hung their process


def run_file(command, checkout, file, wanted=()) -> Found:
    """Runs a file, of its tests those that are wanted, if some are; after a process that died,
    another runs what it had not come to."""
    found = Found(file)
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        lines, skip = Path(folder) / "results.jsonl", Path(folder) / "skip"
        only = Path(folder) / "only"
        only.write_text("\n".join(wanted))
        lines.touch()
        while len(found.deaths) < DEATHS_A_FILE:
            skip.write_text("\n".join(found.results))
            whole = [*command, str(checkout), file, str(lines), "--skip", str(skip)]
            whole += ["--only", str(only)] if wanted else []
            died = watch(whole, folder, lines)
            open_test = read(lines, found)
            if not died:
                break
            if open_test is None:
                break  # before the first test or after the last
            found.results[open_test] = "died"
            found.errors[open_test] = died
            found.deaths.append(open_test)
    found.seconds = time.monotonic() - start
    return found


def watch(command, folder, lines) -> str:
    """Runs the command within its limits; what ended it, if it did not end by itself."""
    environ = dict(os.environ, PYTHONDONTWRITEBYTECODE="1", TEST_TMPDIR=folder, TMPDIR=folder)
    environ.setdefault("TIDEMARK_NUM_THREADS", "1")
    packages = [str(PACKAGES)] if "--tidemark" in command else []
    given = [environ["PYTHONPATH"]] if environ.get("PYTHONPATH") else []
    environ["PYTHONPATH"] = os.pathsep.join((str(HERE), *given, *packages))
    log = Path(folder) / "log"
    start = time.monotonic()
    with open(log, "ab") as out:
        process = subprocess.Popen(command, cwd=folder, env=environ, stdout=out, stderr=out)
    while True:
        try:
            status = process.wait(timeout=0.5)
            return "" if status in (0, 1) else f"ended with status {status}"
        except subprocess.TimeoutExpired:
            now = time.monotonic()
        silent = min(now - start, time.time() - lines.stat().st_mtime)
        reason = (
            f"took more than {SECONDS_A_FILE} s"
            if now - start > SECONDS_A_FILE
            else f"said nothing for {SILENT_SECONDS} s"
            if silent > SILENT_SECONDS
            else f"took more than {GIBIBYTES_A_FILE} GiB"
            if resident(process.pid) > GIBIBYTES_A_FILE << 30
            else ""
        )
        if reason:
            process.kill()
            process.wait()
            return reason


def resident(pid) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, IndexError):
        return 0


def read(lines, found):
    """Takes over the results; the test that began and did not end, if there is one."""
    started = None
    for line in lines.read_text(encoding="utf-8").splitlines():
        one = json.loads(line)
        if "result" not in one:
            started = one["test"]
            continue
        started = None
        found.results[one["test"]] = one["result"]
        if one["why"]:
            found.errors[one["test"]] = one["why"]
    return started if started not in found.results else None


def install_packages(python):
    """What the tests import beside TensorFlow, in a folder of its own."""
    requirements = HERE / "requirements.txt"
    stamp = PACKAGES / ".made-from"
    if not (stamp.exists() and stamp.read_text() == requirements.read_text()):
        print(f"Installing what the tests import into {PACKAGES}", flush=True)
        install = ("-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps")
        target = ("--upgrade", "--target", str(PACKAGES), "-r", str(requirements))
        subprocess.run([str(python), *install, *target], check=True)
        stamp.write_text(requirements.read_text())


def run(command, arguments) -> int:
    files = chosen(arguments.parts, arguments.checkout)
    expected = passing()
    everything = {}
    with ThreadPoolExecutor(arguments.jobs) as pool:
        # A test that fails on TensorFlow this way says nothing of Tidemark, and some wait forever.
        wanted = {} if arguments.record else expected
        jobs = [
            pool.submit(run_file, command, arguments.checkout, file, wanted.get(file, ()))
            for file in files
        ]
        for number, job in enumerate(as_completed(jobs), 1):
            found = job.result()
            everything[found.file] = found
            report(found, expected.get(found.file, []), arguments, f"{number:3}/{len(files)}")
            if arguments.results:
                save(arguments.results, everything)
            if arguments.record:
                save_passing({found.file: found})
    return 0 if arguments.record else summary(everything, expected)


def report(found, wanted, arguments, place):
    """Prints one file's line and, if asked, why tests fail that pass on TensorFlow."""
    kinds = list(found.results.values())
    bad = [test for test in wanted if found.results.get(test) != "passed"]
    print(
        f"[{place}] {found.file.removeprefix('tensorflow/python/')}: "
        f"{kinds.count('passed')} passed, {kinds.count('failed')} failed, "
        f"{kinds.count('died')} died, {kinds.count('skipped')} skipped, "
        f"{kinds.count('private')} need what is private; "
        f"{len(wanted) - len(bad)} of {len(wanted)} that pass on TensorFlow "
        f"({found.seconds:.0f} s)",
        flush=True,
    )
    if "" in found.errors:
        print(f"    the file cannot be loaded: {found.errors['']}")
    for test in found.deaths:
        print(f"    {test} {found.errors[test]}")
    if arguments.errors:
        for test in bad:
            why = found.errors.get(test, found.results.get(test, "did not run"))
            print(f"    {test}: {' '.join(why.split())[:300]}")


def summary(everything, expected) -> int:
    """A line an area: how many of the tests that pass on TensorFlow pass here."""
    known = areas()
    table = {}
    for file, found in everything.items():
        counts = table.setdefault(known.get(file, "other"), [0, 0, 0, 0])
        wanted = expected.get(file, [])
        kinds = [found.results.get(test) for test in wanted]
        private = kinds.count("private")
        counts[0] += kinds.count("passed")
        counts[1] += len(wanted) - private
        counts[2] += private
        counts[3] += len(found.deaths)
    order = {area: place for place, area in enumerate(dict.fromkeys(known.values()))}
    rows = sorted(table.items(), key=lambda row: order.get(row[0], len(order)))
    rows.append(("all", [sum(column) for column in zip(*table.values(), strict=True)]))
    print()
    for area, (here, there, private, died) in rows:
        end = f"  {died} died" if died else ""
        print(
            f"{area:20} {here:5} of {there:5}  {100 * here / max(there, 1):6.1f} %  "
            f"and {private:3} that need something private{end}"
        )
    unknown = sum(file not in expected for file in everything)
    if unknown:
        print(
            f"{unknown} files are not counted: what passes on TensorFlow is not recorded (--record)"
        )
    sys.stdout.flush()
    return 1 if rows[-1][1][3] else 0


def save(path, everything):
    text = {
        file: {"seconds": round(one.seconds, 1), "results": one.results, "errors": one.errors}
        for file, one in sorted(everything.items())
    }
    path.write_text(json.dumps(text, indent=0), encoding="utf-8")
