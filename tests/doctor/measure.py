#!/usr/bin/env python3
"""Measures the doctor against the planted defects and their healthy twins.

    .venv/bin/python tests/doctor/measure.py findings
    .venv/bin/python tests/doctor/measure.py findings --record
    .venv/bin/python tests/doctor/measure.py findings --on tensorflow --python PYTHON
    .venv/bin/python tests/doctor/measure.py fixes
    .venv/bin/python tests/doctor/measure.py slowdown --on torch --python PYTHON
    .venv/bin/python tests/doctor/measure.py steps

Prints a table with a line a program, and the shares; `--record` writes the page's table anew.
`findings --on torch` (or jax) also runs the programs for TensorFlow whose ops have a word there,
translated.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import itertools
import json
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import translate
from judge import judge

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "doctor.md"
FOLDERS = [
    "chains", "unseen", "strangers", "newcomers", "latecomers", "outsiders", "passersby",
    "arrivals", "visitors", "travellers", "neighbours", "wayfarers",
]  # fmt: skip
WHAT = ("rule", "line", "chain", "root", "made", "bytes")


def planted(folders):
    """The programs of folders, or those named newcomers/namespace."""
    found = []
    for folder in folders:
        folder, _, name = folder.partition("/")
        found += sorted((HERE / folder / "seeded").glob(f"{name or '*'}.py"))
    return found


def twin(path):
    return path.parents[1] / "fixed" / path.name


def doctor(path, options, timeout=300):
    """The answer of the doctor; an error's text where there is none."""
    done = subprocess.run(
        [sys.executable, "-m", "tidemark", "doctor", "--json", *options, str(path)],
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    if not done.stdout.startswith("{"):
        return (done.stderr.strip().splitlines() or ["no answer"])[-1]
    return json.loads(done.stdout)


def look_at(path, text, twins_text, options):
    """(what is wrong with the answer, what was said of the twin), of a program and its twin."""
    with tempfile.TemporaryDirectory(prefix="tidemark-measure-") as folder:
        answers = []
        for name, source in (("seeded", text), ("fixed", twins_text)):
            file = Path(folder) / name / path.name
            file.parent.mkdir()
            file.write_text(source)
            answers.append(doctor(file, options))
    seeded, fixed = answers
    wrong = {"rule": seeded} if isinstance(seeded, str) else judge(text, seeded["findings"])
    if isinstance(fixed, str):
        return wrong, fixed
    return wrong, ", ".join(f"{f['rule']} at :{f['line']}" for f in fixed["findings"])


def programs(arguments):
    """[(path, its text, its twin's text)] of what runs on the library that was asked for."""
    found, left_out = [], []
    for path in planted(arguments.folders):
        texts = [path.read_text(), twin(path).read_text()]
        if arguments.on in ("torch", "jax"):
            texts = [translate.to(arguments.on, text) for text in texts]
        if None in texts:
            left_out.append(path.stem)
        else:
            found.append((path, *texts))
    if arguments.on in ("torch", "jax"):
        found += [(path, path.read_text(), twin(path).read_text())
                  for path in planted([f"for_{arguments.on}"])]  # fmt: skip
    if left_out:
        print(f"Without words there ({len(left_out)}): {', '.join(left_out)}\n")
    return found


def options_of(arguments):
    return ["--on", arguments.on, "--python", arguments.python] if arguments.on else []


def findings(arguments):
    """A table of what was found, and the shares."""
    todo, options = programs(arguments), options_of(arguments)
    print("| program | " + " | ".join(WHAT) + " | twin |\n|" + " --- |" * (len(WHAT) + 2))
    told, cells_of = [], {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        answers = pool.map(lambda one: look_at(*one, options), todo)
        for (path, *_), (wrong, said) in zip(todo, answers, strict=True):
            told.append((wrong, said))
            none = "rule" in wrong
            cells = [wrong.get(what, "–" if none else "yes").replace("|", "/") for what in WHAT]
            name = f"{path.parts[-3]}/{path.stem}"
            print(f"| {name} | {' | '.join(cells)} | {said or 'silent'} |", flush=True)
            cells_of[name] = "not found" if none else ", ".join(wrong) or "✓"
    right = sum(not wrong for wrong, _ in told)
    lines = sum("rule" not in wrong and "line" not in wrong for wrong, _ in told)
    silent = sum(not said for _, said in told)
    shares = {"all right": right, "found, right line": lines, "twin silent": silent}
    for what, count in shares.items():
        print(f"\n{what}: {count} of {len(told)}, {100 * count / len(told):.1f} %")
    if arguments.record:
        PAGE.write_text(recorded(PAGE.read_text(), arguments.on, cells_of))


def recorded(text, on, cells_of):
    """The page with what was found now in its table by program: programs that it does not know yet
    come after those of their folder."""
    lines = text.split("\n")
    head = next(at for at, line in enumerate(lines) if line.startswith("| program | Tidemark |"))
    end = next(at for at in range(head, len(lines)) if not lines[at].startswith("|"))
    columns = [cell.strip().lower() for cell in lines[head].split("|")[1:-1]]
    column = columns.index({None: "tidemark", "torch": "pytorch"}.get(on, on))
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[head + 2 : end]]
    for name, cell in cells_of.items():
        row = next((row for row in rows if row[0] == name), None)
        if row is None:
            row = [name] + [""] * (len(columns) - 1)
            folder = [at for at, one in enumerate(rows) if one[0].startswith(name.split("/")[0])]
            rows.insert(max(folder, default=len(rows) - 1) + 1, row)
        row[column] = cell
    return "\n".join(
        [*lines[: head + 2], *(f"| {' | '.join(row)} |" for row in rows), *lines[end:]]
    )


def fixes(arguments):
    """A table of what the changes brought."""

    def tried(path):
        done = subprocess.run(
            [sys.executable, "-m", "tidemark", "doctor", "--fix", str(path)],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        part = done.stdout.partition("--- changes, tried on a copy")[2]
        verdict = r"^\d+\. \[([\w-]+)\] [^:]+:\d+: ((?:.|\n)*?)(?=\n\S|\n\n|\Z)"
        found = re.findall(verdict, part, re.M)
        return [(rule, " ".join(verdict.split())) for rule, verdict in found]

    paths = planted([*(() if arguments.only else ("",)), *arguments.folders])
    print("| program | rule | what the change brought |\n| --- | --- | --- |")
    by_rule, helped, with_diff = {}, 0, 0
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for path, verdicts in zip(paths, pool.map(tried, paths), strict=True):
            for rule, verdict in verdicts or [("", "no change")]:
                name = f"{path.parts[-3]}/{path.stem}"
                print(f"| {name} | {rule} | {verdict} |", flush=True)
            tries = [(rule, verdict) for rule, verdict in verdicts if "no change" not in verdict]
            for rule, _ in verdicts:
                by_rule.setdefault(rule, False)
            for rule, _ in tries:
                by_rule[rule] = True
            with_diff += bool(tries)
            helped += any("gone" in v and ("same output" in v or "varies" in v) for _, v in tries)
    print(f"\nrules with a diff: {sum(by_rule.values())} of {len(by_rule)} that were told; "
          f"without: {', '.join(sorted(r for r, has in by_rule.items() if not has))}")  # fmt: skip
    print(f"\nprograms with a diff: {with_diff} of {len(paths)}; growth gone and output equal in "
          f"{helped} of them, {100 * helped / max(1, with_diff):.1f} %")  # fmt: skip


def timed(run):
    """(seconds, of processors: a busy machine changes these little) that a call took."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run()
    took, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    return took, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def slowdown(arguments):
    """How much longer the healthy programs take when they are looked at."""
    options, ratios = options_of(arguments), []
    print("| program | alone, s | looked at, s | ratio | of processors |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for path, _, text in programs(arguments):
        with tempfile.TemporaryDirectory(prefix="tidemark-measure-") as folder:
            file = Path(folder) / path.name
            file.write_text(text)
            command = [arguments.python, *([] if arguments.on else ["-m", "tidemark", "run"])]
            alone, looked = [], []
            for _ in range(arguments.rounds):
                alone.append(timed(lambda f=file, c=command: subprocess.run(
                    [*c, str(f)], capture_output=True, check=True)))  # fmt: skip
                looked.append(timed(lambda f=file: doctor(f, options)))
        alone, looked = ([min(times) for times in zip(*all_, strict=True)]
                         for all_ in (alone, looked))  # fmt: skip
        ratios.append([more / less for more, less in zip(looked, alone, strict=True)])
        print(f"| {path.parts[-3]}/{path.stem} | {alone[0]:.2f} | {looked[0]:.2f} "
              f"| {ratios[-1][0]:.2f} | {ratios[-1][1]:.2f} |", flush=True)  # fmt: skip
    middle, most = ([pick(one) for one in zip(*ratios, strict=True)]
                    for pick in (statistics.median, max))  # fmt: skip
    print(f"\nmedian {middle[0]:.2f}, of processors {middle[1]:.2f}; "
          f"most {most[0]:.2f}, {most[1]:.2f}")  # fmt: skip


def steps(arguments):
    """How much longer a step takes between looks: both in turn, the best of the rounds."""
    print("| step | alone, us | looked at, us | ratio |\n| --- | ---: | ---: | ---: |")
    for kind in ("eager", "function"):
        best = {"run": [], "doctor": []}
        for _, (command, took) in itertools.product(range(arguments.rounds), best.items()):
            done = subprocess.run(
                [sys.executable, "-m", "tidemark", command, str(HERE / "steps.py"), kind],
                capture_output=True, text=True, check=True,
            )  # fmt: skip
            took.append(float(done.stderr.split()[-1]))
        alone, looked = min(best["run"]), min(best["doctor"])
        print(f"| {kind} | {alone:.1f} | {looked:.1f} | {looked / alone:.3f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["findings", "fixes", "slowdown", "steps"])
    parser.add_argument("--on", choices=["tensorflow", "torch", "jax"])
    parser.add_argument("--python", default=sys.executable, help="of --on")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--record", action="store_true", help="findings: write them into the page")
    parser.add_argument("--only", action="store_true", help="fixes: no programs but the folders'")
    parser.add_argument("folders", nargs="*", default=FOLDERS)
    arguments = parser.parse_intermixed_args()
    {"findings": findings, "fixes": fixes, "slowdown": slowdown, "steps": steps}[arguments.what](
        arguments
    )


if __name__ == "__main__":
    main()
