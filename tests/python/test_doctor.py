"""The doctor finds every seeded defect, on the right line, with the right holder, and is silent on
corrected and healthy programs."""

import concurrent.futures
import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import doctor_pairs
import pytest

ROOT = Path(__file__).parents[2]
DOCTOR = ROOT / "tests" / "doctor"
SEEDED = sorted(p.stem for p in (DOCTOR / "seeded").glob("*.py"))
PAIRS = sorted(p.stem for p in (DOCTOR / "pairs").glob("*.py"))
# All examples but those that start others, are parts of one, or take gigabytes.
HEALTHY = [
    *sorted((ROOT / "examples").glob("*.py")),
    *(
        path
        for path in sorted((ROOT / "examples" / "gallery").glob("*.py"))
        if path.stem not in ("run", "two_large_tensors", "large_constants")
    ),
    *sorted((ROOT / "examples" / "keras").glob("*.py")),
]

pytestmark = pytest.mark.slow


def doctor(path, *options):
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "doctor", "--json", *options, str(path)],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert done.stdout.startswith("{"), done.stderr[-2000:]
    return json.loads(done.stdout), done.returncode


@functools.cache
def answers():
    """All programs, two at a time."""
    paths = [DOCTOR / "seeded" / f"{n}.py" for n in SEEDED]
    paths += [DOCTOR / "fixed" / f"{n}.py" for n in SEEDED]
    paths += [DOCTOR / "pairs" / f"{n}.py" for n in PAIRS] + HEALTHY
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return dict(zip(paths, pool.map(lambda p: doctor(p)[0], paths), strict=True))


def line_to_change(text, rule):
    """Where what grows is added to, if that is another line than the one that makes the bytes."""
    lines = [n for n, line in enumerate(text.splitlines(), 1)
             if re.search(rf"# CHANGE(?:: {rule})?$", line)]  # fmt: skip
    return lines[0] if lines else None


def wanted(path):
    """[(rule, line, holder, bytes or None)] as the program's comments say."""
    text = path.read_text()
    found, seen = [], {}
    only = re.search(r"^# rule: (.*)$", text, re.M)
    for number, line in enumerate(text.splitlines(), 1):
        mark = re.search(r"# HERE(?:: (.*))?$", line)
        if not mark:
            continue
        rule = mark[1] or only[1]
        nth = seen[rule] = seen.get(rule, -1) + 1
        holders = re.findall(rf"^# holder(?: {rule})?: (.*)$", text, re.M)
        sizes = re.findall(rf"^# bytes(?: {rule})?: (.*)$", text, re.M)
        size = int(sizes[min(nth, len(sizes) - 1)]) if sizes else None
        found.append((rule, number, holders[min(nth, len(holders) - 1)], size))
    return found


def lines_of(finding):
    """All the lines that a finding names: to change, of the chain, and where bytes were made."""
    made = [int(re.search(r":(\d+)", place)[1]) for place in finding["made_at"]]
    return [finding["line"], *made, *(link["line"] for link in finding["chain"])]


def check(path, answer):
    for rule, line, holder, size in wanted(path):
        change = line_to_change(path.read_text(), rule) or line
        same = [f for f in answer["findings"] if f["rule"] == rule and f["line"] == change]
        same = [f for f in same if line in lines_of(f)]
        assert same, (
            f"{rule} not found at line {change} with line {line}, but "
            f"{[(f['rule'], f['line'], f['holder']) for f in answer['findings']]}"
        )
        finding = same[0]
        assert finding["file"] == str(path)
        assert holder in finding["holder"]
        assert finding["fix"].count("\n") == 1
        if size is not None:
            assert finding["bytes_per_step"] == pytest.approx(size, rel=0.05)
            assert finding["verdict"] == "growing"


@pytest.mark.parametrize("name", SEEDED)
def test_a_seeded_defect_is_found(name):
    path = DOCTOR / "seeded" / f"{name}.py"
    check(path, answers()[path])


@pytest.mark.parametrize("name", PAIRS)
def test_two_defects_are_both_found(name):
    path = DOCTOR / "pairs" / f"{name}.py"
    check(path, answers()[path])


@pytest.mark.parametrize("pair", doctor_pairs.pairs([1, 4]), ids="+".join)
def test_any_two_defects_are_both_found(pair, tmp_path):
    path = tmp_path / "two.py"
    path.write_text(doctor_pairs.joined(*pair))
    check(path, doctor(path)[0])


@pytest.mark.parametrize("name", SEEDED)
def test_the_corrected_program_is_left_in_peace(name):
    assert answers()[DOCTOR / "fixed" / f"{name}.py"]["findings"] == []


@pytest.mark.parametrize("path", HEALTHY, ids=lambda p: p.stem)
def test_healthy_programs_are_left_in_peace(path):
    answer = answers()[path]
    assert answer["findings"] == []
    assert answer["verdict"] != "growing"


def test_growth_can_fail_a_build():
    assert doctor(DOCTOR / "seeded" / "list_of_results.py", "--fail-on", "growth")[1] == 1
    assert doctor(DOCTOR / "fixed" / "list_of_results.py", "--fail-on", "growth")[1] == 0


def test_the_text_fits_a_terminal(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "doctor", str(DOCTOR / "seeded" / "tracebacks.py")],
        capture_output=True, text=True, timeout=240,
    )  # fmt: skip
    assert "traceback of the ValueError" in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 88
